import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { newestRunQuery, startRun } from "./queries.ts";

/** Writes a message that a worker answers. What was written stays until it has been accepted. */
export function Composer({ sessionId, isBusy }: { sessionId: string; isBusy: boolean }) {
  const [message, setMessage] = useState("");
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => startRun(sessionId, message),
    onSuccess: (run) => {
      setMessage("");
      client.setQueryData(newestRunQuery(sessionId).queryKey, run);
      void client.invalidateQueries({ queryKey: ["sessions", sessionId] });
    },
  });
  const isReady = message.trim() !== "" && !isBusy;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (isReady && !starting.isPending) starting.mutate();
  };
  return (
    <Form
      verb="Send"
      isReady={isReady}
      isPending={starting.isPending}
      error={starting.error}
      onSubmit={() => starting.mutate()}
    >
      <Field
        label="Message"
        hint={isBusy ? "A session has one run at a time." : "Ctrl+Enter sends."}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            dir="auto"
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={onKeyDown}
          />
        )}
      </Field>
    </Form>
  );
}
