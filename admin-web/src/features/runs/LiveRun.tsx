import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import type { Run } from "../../api/types.ts";
import { useNow } from "../../lib/now.ts";
import { duration } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import type { Live, LiveTool, Piece } from "./live.ts";
import { cancelRun, runQuery } from "./queries.ts";
import { lasted, shown } from "./status.ts";
import { useLiveRun } from "./useLiveRun.ts";
import style from "./LiveRun.module.css";

/** A run that has not ended: its answer as it is written, its tools, and a way to stop it. */
export function LiveRun({ run: first }: { run: Run }) {
  const { live, connection } = useLiveRun(first.session_id, first.id);
  const run = useQuery(runQuery(first.session_id, first.id)).data ?? first;
  const now = useNow(true);
  const time = lasted(run, now);
  return (
    <section className={style.live} aria-label="The run under way">
      <header className={style.head}>
        <Spinner label={`Turn ${live.turn}: ${shown(run).name}`} />
        {time !== null && (
          <span className={style.time}>{duration(Math.floor(time / 1000) * 1000)}</span>
        )}
        <Cancel run={run} />
      </header>
      {connection !== "open" && !live.isDone && (
        <p className={style.note} role="status">
          {connection === "closed"
            ? "Its events cannot be followed now. What it has written appears when a turn is over."
            : "Connecting …"}
        </p>
      )}
      <Written live={live} />
    </section>
  );
}

function Cancel({ run }: { run: Run }) {
  const client = useQueryClient();
  const cancelling = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: () => client.invalidateQueries({ queryKey: ["sessions", run.session_id] }),
  });
  return (
    <>
      <Button
        small
        look="danger"
        className={style.cancel}
        disabled={cancelling.isPending || run.cancel_requested_at !== null}
        onClick={() => cancelling.mutate()}
      >
        Cancel the run
      </Button>
      {cancelling.error && <Notice tone="bad">{cancelling.error.message}</Notice>}
    </>
  );
}

const PIECES: Record<Piece["kind"], string> = {
  text: "Answer",
  thinking: "Thinking",
  input: "Tool call",
};

function Written({ live: { pieces, tools } }: { live: Live }) {
  return (
    <>
      {pieces.map(({ kind, text }, index) => (
        <pre key={index} className={style[kind]} dir="auto" aria-label={PIECES[kind]}>
          {text}
        </pre>
      ))}
      {tools.length > 0 && (
        <ul className={style.tools} aria-label="Tools">
          {tools.map((tool) => (
            <Tool key={tool.id} tool={tool} />
          ))}
        </ul>
      )}
    </>
  );
}

const TONES = { running: "info", done: "good", failed: "bad" } as const;

function Tool({ tool: { name, status, helper } }: { tool: LiveTool }) {
  return (
    <li>
      <code>{name}</code> <Badge tone={TONES[status]}>{status}</Badge>
      {helper && (
        <>
          {" "}
          <Link to={`/sessions/${helper.sessionId}`}>helper {helper.name}</Link>
        </>
      )}
    </li>
  );
}
