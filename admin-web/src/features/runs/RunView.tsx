import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Run } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";
import { useNow } from "../../lib/now.ts";
import { duration, when } from "../../lib/times.ts";
import { Facts } from "../../ui/Facts.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { Stack } from "../../ui/Stack.tsx";
import { LiveRun } from "./LiveRun.tsx";
import { runQuery } from "./queries.ts";
import { RunError } from "./RunError.tsx";
import { RunStatus } from "./RunStatus.tsx";
import { isOpen, lasted } from "./status.ts";

/** One run: where it stands, what it has written and what it has used. */
export function RunView({ sessionId, runId }: { sessionId: string; runId: string }) {
  const found = useQuery(runQuery(sessionId, runId));
  return (
    <Loaded what="the run" found={found}>
      {(run) => (
        <Stack>
          <RunError run={run} />
          <RunFacts run={run} />
          {isOpen(run) && <LiveRun run={run} />}
        </Stack>
      )}
    </Loaded>
  );
}

function RunFacts({ run }: { run: Run }) {
  const { usage } = run;
  const time = lasted(run, useNow(isOpen(run)));
  return (
    <Facts
      label="About the run"
      facts={[
        ["State", <RunStatus key="state" run={run} />],
        ["Began", when(run.created_at)],
        ["Lasted", time === null ? "–" : duration(time)],
        ["Turns", run.max_turns ? `${run.turns} of at most ${run.max_turns}` : whole(run.turns)],
        ["Stopped by", run.stop_reason?.replaceAll("_", " ") ?? "–"],
        ["Messages", <Messages key="messages" run={run} />],
        ["Input", `${whole(usage.input_tokens)} tokens`],
        ["Cache read", `${whole(usage.cache_read_tokens)} tokens`],
        ["Cache written", `${whole(usage.cache_write_tokens)} tokens`],
        ["Output", `${whole(usage.output_tokens)} tokens`],
        ["Cost", dollars(usage.cost_micro_dollars)],
      ]}
    />
  );
}

function Messages({ run }: { run: Run }) {
  const first = run.messages[0];
  const last = run.messages.at(-1);
  if (first === undefined || last === undefined) return "–";
  return (
    <Link to={`/sessions/${run.session_id}?message=${first}`}>
      {first === last ? first : `${first} to ${last}`}
    </Link>
  );
}
