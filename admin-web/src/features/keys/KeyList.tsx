import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Key } from "../../api/types.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { keysQuery, meQuery, peopleQuery } from "./queries.ts";
import { RevokeKey } from "./RevokeKey.tsx";
import { standingOf } from "./standing.ts";

const HEAD = ["Name", "Begins with", "State", "Acts as", "Made", "Last used", "Expires", "Revoke"];
const TONES = { active: "good", expired: "warn", revoked: "bad" } as const;

/** The keys that may be managed, newest first; revoked ones stay in the list. */
export function KeyList({ isAdmin }: { isAdmin: boolean }) {
  const found = useInfiniteQuery(keysQuery());
  const ownId = useQuery(meQuery).data?.key.id;
  const people = useQuery(peopleQuery(isAdmin)).data;
  const [asked, setAsked] = useState<Key | null>(null);
  const [now] = useState(Date.now);
  return (
    <>
      <Paged what="keys" found={found} empty={<EmptyState title="No keys" />}>
        {(keys) => (
          <Table caption="Keys" head={HEAD}>
            {keys.map((each) => (
              <tr key={each.id}>
                <th scope="row">
                  {each.name} {each.id === ownId && <Badge tone="info">signed in with it</Badge>}
                </th>
                <td>
                  <code>{each.prefix}…</code>
                </td>
                <td>
                  <Badge tone={TONES[standingOf(each, now)]}>{standingOf(each, now)}</Badge>
                </td>
                <td>{people?.find(({ id }) => id === each.user_id)?.name ?? "you"}</td>
                <td>{when(each.created_at)}</td>
                <td>{each.last_used_at ? when(each.last_used_at) : "never"}</td>
                <td>{each.expires_at ? when(each.expires_at) : "never"}</td>
                <td>
                  {standingOf(each, now) === "active" && (
                    <Button
                      small
                      look="danger"
                      aria-label={`Revoke ${each.name}`}
                      onClick={() => setAsked(each)}
                    >
                      Revoke
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
      {asked && (
        <RevokeKey apiKey={asked} isOwn={asked.id === ownId} onClose={() => setAsked(null)} />
      )}
    </>
  );
}
