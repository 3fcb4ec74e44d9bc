/** The states of a run in words and colours. No DOM. */
import type { Run } from "../../api/types.ts";

const OPEN = ["queued", "running"];

export const isOpen = (run: Pick<Run, "status">): boolean => OPEN.includes(run.status);

type Shown = { name: string; tone: "plain" | "info" | "good" | "warn" | "bad" };

const SHOWN: Record<string, Shown> = {
  queued: { name: "queued", tone: "info" },
  running: { name: "running", tone: "info" },
  succeeded: { name: "succeeded", tone: "good" },
  failed: { name: "failed", tone: "bad" },
  timed_out: { name: "timed out", tone: "bad" },
  cancelled: { name: "cancelled", tone: "warn" },
};

export function shown(run: Pick<Run, "status" | "cancel_requested_at">): Shown {
  if (isOpen(run) && run.cancel_requested_at) return { name: "being cancelled", tone: "warn" };
  return SHOWN[run.status] ?? { name: run.status, tone: "plain" };
}

/** From the start to the end, or to `now`; null: it has not started. */
export function lasted(run: Pick<Run, "started_at" | "finished_at">, now: number): number | null {
  if (!run.started_at) return null;
  const end = run.finished_at ? Date.parse(run.finished_at) : now;
  return Math.max(0, end - Date.parse(run.started_at));
}
