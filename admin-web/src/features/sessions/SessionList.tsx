import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { knownAgentsQuery, nameOfAgent } from "../../api/agents.ts";
import type { ListedSession } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { useSettled } from "../../lib/settled.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { type Filters, isNarrowed } from "./filters.ts";
import { sessionsQuery } from "./queries.ts";
import style from "./SessionList.module.css";

const TYPING_MS = 250;

/** The sessions that the filters leave, newest first, a page at a time. */
export function SessionList({ filters }: { filters: Filters }) {
  const query = useSettled(filters.query, TYPING_MS);
  const found = useInfiniteQuery(sessionsQuery({ ...filters, query }));
  const agents = useQuery(knownAgentsQuery).data;
  return (
    <Paged what="sessions" found={found} empty={<NoSessions isNarrowed={isNarrowed(filters)} />}>
      {(sessions) => (
        <Table caption="Sessions" head={["Title", "Agent", "Messages", "Tokens", "Changed"]}>
          {sessions.map((each) => (
            <tr key={each.id}>
              <th scope="row" className={style.title}>
                <Link to={`/sessions/${each.id}`} dir="auto" className={style.name}>
                  {each.title || "Untitled"}
                </Link>
                <Signs session={each} />
              </th>
              <td className={style.agent}>
                <Link to={`/agents/${each.agent_id}`}>{nameOfAgent(agents, each.agent_id)}</Link>
              </td>
              <td>{whole(each.message_count)}</td>
              <td>{whole(each.message_tokens)}</td>
              <td className={style.time}>{when(each.updated_at)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}

function Signs({ session }: { session: ListedSession }) {
  const { saved_overrides: saved, archived, id } = session;
  return (
    <>
      {saved > 0 && (
        <Link to={`/sessions/${id}/context`} className={style.sign}>
          <Badge tone="warn" title="Saved overrides of the session and of its agent">
            {saved === 1 ? "1 override" : `${whole(saved)} overrides`}
          </Badge>
        </Link>
      )}
      {archived && <Badge>archived</Badge>}
    </>
  );
}

function NoSessions({ isNarrowed }: { isNarrowed: boolean }) {
  return isNarrowed ? (
    <EmptyState title="No session is like that">Take a filter away to see more.</EmptyState>
  ) : (
    <EmptyState title="No sessions yet">
      Start one with New session, import a recorded one, or use hango chat.
    </EmptyState>
  );
}
