import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { createUser } from "./queries.ts";

export function NewUser({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState("member");
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: createUser,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["users"] });
      onClose();
    },
  });
  return (
    <Dialog title="New user" onClose={onClose}>
      <Form
        verb="Make"
        isReady={name.trim() !== ""}
        isPending={making.isPending}
        error={making.error}
        onSubmit={() => making.mutate({ name: name.trim(), role })}
        onCancel={onClose}
      >
        <Field label="Name" hint="A user can do nothing until it has a key: make one after this.">
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
          label="Role"
          hint="A member sees what is its own and what is shared; an admin all of the tenant."
        >
          {(control) => (
            <select {...control} value={role} onChange={(event) => setRole(event.target.value)}>
              <option value="member">Member</option>
              <option value="admin">Admin</option>
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
