import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Versioned } from "../../api/client.ts";
import { hasCode } from "../../api/problem.ts";
import type { Agent } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { changesOf, type Draft, draftOf, isPossible, rebased } from "./draft.ts";
import { changeAgent, readAgent } from "./queries.ts";

type Props = { agent: Versioned<Agent>; onClose: () => void };

/** The basic fields of an agent. Only what was changed is sent, for the version that was read. */
export function EditAgent({ agent, onClose }: Props) {
  // As it was when the dialog was opened, whatever is read anew behind it.
  const [before, setBefore] = useState(agent);
  const [draft, setDraft] = useState(() => draftOf(agent.value));
  const client = useQueryClient();
  const changes = changesOf(draftOf(before.value), draft);
  const saving = useMutation({
    mutationFn: () => changeAgent(agent.value.id, changes, before.etag),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["agents"] });
      onClose();
    },
  });
  const isOutdated = hasCode(saving.error, "precondition_failed");
  const takeNewer = async () => {
    const newer = await readAgent(agent.value.id);
    setDraft(rebased(draftOf(before.value), draft, draftOf(newer.value)));
    setBefore(newer);
    saving.reset();
  };
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  return (
    <Dialog title="Edit the agent" shape="sheet" onClose={onClose}>
      <Form
        verb="Save"
        isReady={isPossible(draft) && Object.keys(changes).length > 0}
        isPending={saving.isPending}
        error={isOutdated ? null : saving.error}
        onSubmit={() => saving.mutate()}
        onCancel={onClose}
      >
        <Fields draft={draft} onChange={set} />
        {isOutdated && (
          <Notice
            tone="bad"
            title="Somebody else has changed the agent meanwhile."
            actions={<Button onClick={() => void takeNewer()}>Go on from the newer one</Button>}
          >
            What you have written stays in the fields; the others become theirs.
          </Notice>
        )}
      </Form>
    </Dialog>
  );
}

type FieldsProps = { draft: Draft; onChange: (change: Partial<Draft>) => void };

function Fields({ draft, onChange }: FieldsProps) {
  return (
    <>
      <Field label="Name">
        {(control) => (
          <input
            {...control}
            maxLength={200}
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label="Model">
        {(control) => (
          <input
            {...control}
            maxLength={200}
            spellCheck={false}
            value={draft.model}
            onChange={(event) => onChange({ model: event.target.value })}
          />
        )}
      </Field>
      <Field label="Most output tokens of an answer">
        {(control) => (
          <input
            {...control}
            inputMode="numeric"
            value={draft.maxTokens}
            onChange={(event) => onChange({ maxTokens: event.target.value.trim() })}
          />
        )}
      </Field>
      {draft.prompt.map((text, index) => (
        <Field
          key={index}
          label={draft.prompt.length > 1 ? `System prompt, text ${index + 1}` : "System prompt"}
        >
          {(control) => (
            <textarea
              {...control}
              rows={12}
              dir="auto"
              value={text}
              onChange={(event) =>
                onChange({
                  prompt: draft.prompt.map((each, at) =>
                    at === index ? event.target.value : each,
                  ),
                })
              }
            />
          )}
        </Field>
      ))}
      <label>
        <input
          type="checkbox"
          checked={draft.shared}
          onChange={(event) => onChange({ shared: event.target.checked })}
        />{" "}
        Everybody in the tenant may use it
      </label>
    </>
  );
}
