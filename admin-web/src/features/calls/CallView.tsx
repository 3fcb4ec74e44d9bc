import { useQuery } from "@tanstack/react-query";
import type { CallParts } from "../../api/types.ts";
import { duration, when } from "../../lib/times.ts";
import { Facts } from "../../ui/Facts.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { CallOutcome } from "./CallList.tsx";
import { Compare } from "./Compare.tsx";
import { cost, estimateError, groupsOf, tokens, UNKNOWN, wholeInput } from "./figures.ts";
import { PartTable } from "./PartTable.tsx";
import { callQuery, type Where } from "./queries.ts";
import style from "./CallView.module.css";

/** One call: its figures, and what it was sent, part by part. */
export function CallView({ where, call }: { where: Where; call: number }) {
  const found = useQuery(callQuery(where, call));
  return (
    <Loaded what={`call ${call}`} found={found}>
      {(made) => (
        <div className={style.call}>
          <CallFacts call={made} />
          <Compare where={where} from={call} />
          {made.outcome !== "succeeded" && (
            <Notice tone="warn">
              The call did not end well: what it has cost may not be known.
            </Notice>
          )}
          {groupsOf(made.parts).map((group) => (
            <PartTable key={group.name} group={group} />
          ))}
          <p className={style.note}>
            Tokens of parts are estimates. hango keeps what identifies a part and how large it was,
            and never what it said; the page Context shows what the next call will say.
          </p>
        </div>
      )}
    </Loaded>
  );
}

function CallFacts({ call }: { call: CallParts }) {
  return (
    <Facts
      label="About the call"
      facts={[
        ["Outcome", <CallOutcome key="outcome" outcome={call.outcome} />],
        ["Made", when(call.created_at)],
        ["Took", call.latency_ms === null ? UNKNOWN : duration(call.latency_ms)],
        ["Model", call.model],
        ["Provider", call.provider],
        ["Input", `${tokens(wholeInput(call))} tokens`],
        ["Cache read", tokens(call.cache_read_tokens)],
        ["Cache written", tokens(call.cache_write_tokens)],
        ["Output", tokens(call.output_tokens)],
        ["Cost", cost(call.cost_micro_dollars)],
        ["Estimated before", tokens(call.estimated_tokens)],
        ["Off by", estimateError(call)],
        ["Request", <code key="sha">{call.request_sha256?.slice(0, 16) ?? UNKNOWN}</code>],
      ]}
    />
  );
}
