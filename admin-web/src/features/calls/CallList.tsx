import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Call } from "../../api/types.ts";
import { duration } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { cost, tokens, UNKNOWN, wholeInput } from "./figures.ts";
import { callPath, callsQuery, diffPath, type Where } from "./queries.ts";

const HEAD = [
  "Call",
  "Made for",
  "Outcome",
  "Input",
  "Cached",
  "Output",
  "Cost",
  "Took",
  "Changed",
];

/** The model calls of a run, in their order: what each has cost, and the way to what it saw. */
export function CallList({ where }: { where: Where }) {
  const found = useQuery(callsQuery(where));
  return (
    <Loaded what="the calls" found={found}>
      {(calls) =>
        calls.length > 0 ? (
          <Table caption="Model calls" head={HEAD}>
            {calls.map((each, index) => (
              <Row key={each.call} call={each} before={calls[index - 1]} where={where} />
            ))}
          </Table>
        ) : (
          <EmptyState title="No calls yet">The run has not asked a model.</EmptyState>
        )
      }
    </Loaded>
  );
}

type RowProps = { call: Call; before: Call | undefined; where: Where };

function Row({ call, before, where }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <Link to={callPath(where, call.call)}>Call {call.call}</Link>
      </th>
      <td>{call.purpose.replaceAll("_", " ")}</td>
      <td>
        <CallOutcome outcome={call.outcome} />
      </td>
      <td>{tokens(wholeInput(call))}</td>
      <td>{tokens(call.cache_read_tokens)}</td>
      <td>{tokens(call.output_tokens)}</td>
      <td>{cost(call.cost_micro_dollars)}</td>
      <td>{call.latency_ms === null ? UNKNOWN : duration(call.latency_ms)}</td>
      <td>
        {before ? (
          <Link to={diffPath(where, before.call, call.call)}>since call {before.call}</Link>
        ) : (
          "–"
        )}
      </td>
    </tr>
  );
}

const TONES = {
  succeeded: "good",
  failed: "bad",
  timed_out: "bad",
  cancelled: "warn",
  unknown: "warn",
} as const;

export function CallOutcome({ outcome }: { outcome: string }) {
  const tone = outcome in TONES ? TONES[outcome as keyof typeof TONES] : "plain";
  return <Badge tone={tone}>{outcome.replaceAll("_", " ")}</Badge>;
}
