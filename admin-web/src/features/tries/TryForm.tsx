import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { Unreachable } from "../../api/problem.ts";
import { keepDraft, readDraft } from "../../lib/drafts.ts";
import { whole } from "../../lib/numbers.ts";
import { newOnce } from "../../lib/once.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { refusalOf } from "./model.ts";
import { startTry, triesQuery, tryQuery } from "./queries.ts";
import style from "./TryPanel.module.css";

export type Wish = {
  readonly exclude: readonly string[];
  readonly replace: Readonly<Record<string, string>>;
  readonly beyond: readonly string[];
};

type Props = { sessionId: string; wish: Wish; onStarted: (id: string) => void };

/** What is going to be tried, with what is saved or instead of it. */
export function TryForm({ sessionId, wish, onStarted }: Props) {
  const client = useQueryClient();
  const draft = `try:${sessionId}`;
  const [message, setMessage] = useState(() => readDraft(draft));
  const [once, setOnce] = useState(newOnce);
  const start = useMutation({
    mutationFn: () => {
      const { exclude, replace } = wish;
      const body = { exclude: [...exclude], replace, ...(message.trim() ? { message } : {}) };
      return startTry(sessionId, body, once);
    },
    onSuccess: (begun) => {
      // The field keeps the text for another try; closed now, the form opens empty.
      keepDraft(draft, "");
      client.setQueryData(tryQuery(begun.id).queryKey, begun);
      void client.invalidateQueries({ queryKey: triesQuery(sessionId).queryKey });
      onStarted(begun.id);
    },
    onSettled: (_begun, error) => {
      // Without an answer nobody knows whether it began: asked again, it begins once.
      if (!(error instanceof Unreachable)) setOnce(newOnce());
    },
  });
  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    start.mutate();
  };
  const refusal = start.error && refusalOf(start.error);

  return (
    <form className={style.form} onSubmit={submit}>
      <p>{saidOf(wish)} Nothing is added to the session.</p>
      {wish.beyond.length > 0 && (
        <Notice tone="warn">
          {wish.beyond.join(", ")}: the saved override acts on a try as well. Save first to try
          without it.
        </Notice>
      )}
      <Field label="Message" hint="Optional: a user's message behind the history, for this once.">
        {(control) => (
          <textarea
            {...control}
            rows={2}
            dir="auto"
            value={message}
            onChange={(event) => {
              setMessage(event.target.value);
              keepDraft(draft, event.target.value);
            }}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
            }}
          />
        )}
      </Field>
      <div>
        <Button type="submit" look="primary" disabled={start.isPending}>
          {start.isPending ? "Sending …" : "Try this request"}
        </Button>
      </div>
      {refusal && (
        <Notice tone="bad" title={refusal.title}>
          {refusal.detail}
        </Notice>
      )}
    </form>
  );
}

function saidOf({ exclude, replace }: Wish): string {
  const replaced = Object.keys(replace).length;
  if (exclude.length === 0 && replaced === 0) return "One call with what is saved.";
  const said = [
    exclude.length > 0 && `${whole(exclude.length)} more left out`,
    replaced > 0 && `${whole(replaced)} replaced`,
  ].filter(Boolean);
  return `One call with what is saved, and ${said.join(", ")}.`;
}
