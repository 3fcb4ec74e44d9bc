import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Run } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";
import { useNow } from "../../lib/now.ts";
import { duration, when } from "../../lib/times.ts";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { runsQuery } from "./queries.ts";
import { RunStatus } from "./RunStatus.tsx";
import { isOpen, lasted } from "./status.ts";

const HEAD = ["Started", "State", "Turns", "Input", "Output", "Cost", "Lasted"];

/** The runs of a session, newest first. */
export function RunList({ sessionId }: { sessionId: string }) {
  const found = useInfiniteQuery(runsQuery(sessionId));
  const runs = found.data?.pages.flatMap((each) => each.items) ?? [];
  const now = useNow(runs.some(isOpen));
  return (
    <Paged
      what="runs"
      found={found}
      empty={
        <EmptyState title="No runs yet">
          A run answers a message. Messages that were imported have none.
        </EmptyState>
      }
    >
      {(items) => (
        <Table caption="Runs" head={HEAD}>
          {items.map((each) => (
            <Row key={each.id} run={each} now={now} />
          ))}
        </Table>
      )}
    </Paged>
  );
}

function Row({ run, now }: { run: Run; now: number }) {
  const { usage } = run;
  const time = lasted(run, now);
  const input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return (
    <tr>
      <th scope="row">
        <Link to={`/sessions/${run.session_id}/runs/${run.id}`}>{when(run.created_at)}</Link>
      </th>
      <td>
        <RunStatus run={run} /> {run.error && <code>{run.error.code}</code>}
      </td>
      <td>{whole(run.turns)}</td>
      <td>{whole(input)}</td>
      <td>{whole(usage.output_tokens)}</td>
      <td>{dollars(usage.cost_micro_dollars)}</td>
      <td>{time === null ? "–" : duration(time)}</td>
    </tr>
  );
}
