import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { AuditEvent } from "../../api/types.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { detailOf, pageOf } from "./actions.ts";
import { auditQuery, namesQuery } from "./queries.ts";
import style from "./AuditList.module.css";

const HEAD = ["When", "Who", "Action", "Of", "Details", "From"];

/** Who did what, newest first; never any content. */
export function AuditList({ action, isAdmin }: { action: string; isAdmin: boolean }) {
  const found = useInfiniteQuery(auditQuery(action));
  const names = useQuery(namesQuery(isAdmin)).data;
  return (
    <Paged
      what="entries"
      found={found}
      empty={
        <EmptyState title={action ? "Nobody has done this yet" : "Nothing was done yet"}>
          What changes something leaves an entry here.
        </EmptyState>
      }
    >
      {(events) => (
        <Table caption="Audit" head={HEAD}>
          {events.map((each) => (
            <Row key={each.id} event={each} names={names} />
          ))}
        </Table>
      )}
    </Paged>
  );
}

type RowProps = { event: AuditEvent; names: ReadonlyMap<string, string> | undefined };

function Row({ event, names }: RowProps) {
  const page = pageOf(event);
  const target = `${event.target_kind} ${event.target_id.slice(0, 8)}`;
  return (
    <tr>
      <td className={style.when}>{when(event.at)}</td>
      <td>{who(event, names)}</td>
      <th scope="row">
        {event.action} {event.outcome !== "done" && <Badge tone="bad">{event.outcome}</Badge>}
      </th>
      <td title={event.target_id} className={style.when}>
        {page ? <Link to={page}>{target}</Link> : target}
      </td>
      <td className={style.detail}>{detailOf(event)}</td>
      <td title={event.request_id ? `Request ${event.request_id}` : undefined}>
        {event.address ?? "–"}
      </td>
    </tr>
  );
}

function who({ user_id }: AuditEvent, names: ReadonlyMap<string, string> | undefined): string {
  if (user_id === null) return "the server's operator";
  return names?.get(user_id) ?? (names ? user_id.slice(0, 8) : "you");
}
