import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { User } from "../../api/types.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Confirm } from "../../ui/Confirm.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { changeUser, usersQuery } from "./queries.ts";

const HEAD = ["Name", "Role", "Made", "State", "Change"];

type Change = { user: User; wanted: { role?: string; disabled?: boolean } };

/** The people of the tenant: what they may do, and whether they are let in. */
export function UserList({ ownId }: { ownId: string }) {
  const found = useInfiniteQuery(usersQuery());
  const client = useQueryClient();
  const [asked, setAsked] = useState<User | null>(null);
  const changing = useMutation({
    mutationFn: ({ user, wanted }: Change) => changeUser(user.id, wanted),
    onSuccess: () => {
      setAsked(null);
      return client.invalidateQueries({ queryKey: ["users"] });
    },
  });
  return (
    <>
      {changing.error && !asked && <Notice tone="bad">{changing.error.message}</Notice>}
      <Paged what="users" found={found} empty={<EmptyState title="No users" />}>
        {(users) => (
          <Table caption="Users" head={HEAD}>
            {users.map((each) => (
              <Row
                key={each.id}
                user={each}
                isOwn={each.id === ownId}
                isPending={changing.isPending}
                onChange={(wanted) => changing.mutate({ user: each, wanted })}
                onShutOut={() => setAsked(each)}
              />
            ))}
          </Table>
        )}
      </Paged>
      {asked && (
        <Confirm
          title={`Shut ${asked.name} out?`}
          verb="Shut out"
          isPending={changing.isPending}
          error={changing.error}
          onConfirm={() => changing.mutate({ user: asked, wanted: { disabled: true } })}
          onClose={() => setAsked(null)}
        >
          All keys of {asked.name} are refused from then on, until you let them in again.
        </Confirm>
      )}
    </>
  );
}

type RowProps = {
  user: User;
  isOwn: boolean;
  isPending: boolean;
  onChange: (wanted: Change["wanted"]) => void;
  onShutOut: () => void;
};

function Row({ user, isOwn, isPending, onChange, onShutOut }: RowProps) {
  return (
    <tr>
      <th scope="row">
        {user.name} {isOwn && <Badge tone="info">you</Badge>}
      </th>
      <td>
        <select
          aria-label={`Role of ${user.name}`}
          value={user.role}
          disabled={isOwn || isPending}
          onChange={(event) => onChange({ role: event.target.value })}
        >
          <option value="member">member</option>
          <option value="admin">admin</option>
        </select>
      </td>
      <td>{when(user.created_at)}</td>
      <td>
        {user.disabled_at ? (
          <Badge tone="bad">shut out {when(user.disabled_at)}</Badge>
        ) : (
          <Badge tone="good">let in</Badge>
        )}
      </td>
      <td>
        {user.disabled_at ? (
          <Button small disabled={isPending} onClick={() => onChange({ disabled: false })}>
            Let in
          </Button>
        ) : (
          !isOwn && (
            <Button small look="danger" aria-label={`Shut out ${user.name}`} onClick={onShutOut}>
              Shut out
            </Button>
          )
        )}
      </td>
    </tr>
  );
}
