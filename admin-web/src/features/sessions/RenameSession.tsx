import { useState } from "react";
import type { Session } from "../../api/types.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { useChangeSession } from "./useChangeSession.ts";

type Props = { session: Session; onClose: () => void };

export function RenameSession({ session, onClose }: Props) {
  const [title, setTitle] = useState(session.title);
  const renaming = useChangeSession(session.id, onClose);
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <Form
        verb="Rename"
        isReady={title.trim() !== ""}
        isPending={renaming.isPending}
        error={renaming.error}
        onSubmit={() => renaming.mutate({ title: title.trim() })}
        onCancel={onClose}
      >
        <Field label="Title">
          {(control) => (
            <input
              {...control}
              autoFocus
              maxLength={200}
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
