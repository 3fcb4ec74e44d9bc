import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { createAgent } from "./queries.ts";

export function NewAgent({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [prompt, setPrompt] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const making = useMutation({
    mutationFn: createAgent,
    onSuccess: (agent) => {
      void client.invalidateQueries({ queryKey: ["agents"] });
      void navigate(`/agents/${agent.id}`);
    },
  });
  return (
    <Dialog title="New agent" onClose={onClose}>
      <Form
        verb="Make"
        isReady={name.trim() !== ""}
        isPending={making.isPending}
        error={making.error}
        onSubmit={() =>
          making.mutate({ name: name.trim(), ...(prompt ? { system_prompt: prompt } : {}) })
        }
        onCancel={onClose}
      >
        <Field label="Name">
          {(control) => (
            <input
              {...control}
              autoFocus
              maxLength={200}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field
          label="System prompt"
          hint="It gets the server's default model; both can be changed."
        >
          {(control) => (
            <textarea
              {...control}
              rows={6}
              dir="auto"
              value={prompt}
              onChange={(event) => setPrompt(event.target.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
