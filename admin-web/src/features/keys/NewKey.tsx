import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { User } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { createKey, peopleQuery, type Wanted } from "./queries.ts";
import { endOf, LIFETIMES } from "./standing.ts";
import style from "./NewKey.module.css";

type Props = { isAdmin: boolean; onClose: () => void };

/** Makes a key, and shows its secret this one time. */
export function NewKey({ isAdmin, onClose }: Props) {
  const people = useQuery(peopleQuery(isAdmin)).data ?? [];
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: createKey,
    onSuccess: () => client.invalidateQueries({ queryKey: ["keys"] }),
    gcTime: 0, // the secret is not kept behind the dialog
  });
  if (making.data)
    return (
      <Dialog title={`The key ${making.data.name}`}>
        <Secret secret={making.data.key} onClose={onClose} />
      </Dialog>
    );
  return (
    <Dialog title="New key" onClose={onClose}>
      <Fields
        people={people}
        isPending={making.isPending}
        error={making.error}
        onSubmit={(wanted) => making.mutate(wanted)}
        onCancel={onClose}
      />
    </Dialog>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <div className={style.secret}>
      <Notice tone="warn" title="Copy it now.">
        It is shown this once, and nowhere again.
      </Notice>
      <output className={style.key} aria-label="The key">
        {secret}
      </output>
      <div className={style.buttons}>
        <CopyButton text={secret} what="the key" />
        <Button look="primary" onClick={onClose}>
          I have it
        </Button>
      </div>
    </div>
  );
}

type FieldsProps = {
  people: readonly User[];
  isPending: boolean;
  error: Error | null;
  onSubmit: (wanted: Wanted) => void;
  onCancel: () => void;
};

function Fields({ people, isPending, error, onSubmit, onCancel }: FieldsProps) {
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [days, setDays] = useState("");
  const submit = () => {
    const end = endOf(days, Date.now());
    onSubmit({
      name: name.trim(),
      ...(user ? { user_id: user } : {}),
      ...(end ? { expires_at: end } : {}),
    });
  };
  return (
    <Form
      verb="Make"
      isReady={name.trim() !== ""}
      isPending={isPending}
      error={error}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <Field label="Name" hint="What it is for.">
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
      {people.length > 0 && (
        <Field label="Acts as">
          {(control) => (
            <select {...control} value={user} onChange={(event) => setUser(event.target.value)}>
              <option value="">You</option>
              {people.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name} ({each.role})
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="Expires">
        {(control) => (
          <select {...control} value={days} onChange={(event) => setDays(event.target.value)}>
            {Object.entries(LIFETIMES).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Form>
  );
}
