/** Ablations in words: what would be tried, what came of it, and what it costs. No DOM. */
import type { AblationPlan, AblationRow } from "../../api/types.ts";
import { dollars, percent, whole } from "../../lib/numbers.ts";

/** A part that could be left out, as the session's context lists it. */
export type Candidate = { readonly id: string; readonly label: string; readonly tokens: number };

export const MOST_PARTS = 30; // of one ablation
const PRESELECTED = 5;

/** The heaviest parts, which are the ones worth asking about; the first few are chosen already. */
export function offered(candidates: readonly Candidate[]): {
  shown: readonly Candidate[];
  chosen: readonly string[];
} {
  const shown = [...candidates].sort((a, b) => b.tokens - a.tokens).slice(0, MOST_PARTS);
  return { shown, chosen: shown.slice(0, PRESELECTED).map((each) => each.id) };
}

const STATES: Record<AblationRow["state"], string> = {
  refused: "cannot be left out",
  no_effect: "no effect",
  waiting: "waits",
  skipped: "skipped",
  queued: "waits for a worker",
  running: "the model answers",
  succeeded: "answered",
  failed: "failed",
  timed_out: "timed out",
  cancelled: "cancelled",
};

export const stateOf = ({ state, error }: AblationRow): string =>
  error ? `${STATES[state]}: ${error.message}` : STATES[state];

export type Verdict = { text: string; tone: "plain" | "good" | "warn" | "bad" };

/** Whether the answer needs the part; null while there is nothing to say. */
export function verdictOf(row: AblationRow): Verdict | null {
  if (row.part === null || row.change === null) return null;
  if (row.change === "same") return { text: "same answer", tone: "good" };
  const what = row.change === "tool_calls" ? "other tool calls" : "another text";
  if (row.beyond_noise === null) return { text: what, tone: "warn" };
  return row.beyond_noise
    ? { text: `${what}, more than by chance`, tone: "bad" }
    : { text: `${what}, no more than by chance`, tone: "plain" };
}

export const similarityOf = ({ similarity }: AblationRow): string =>
  similarity === null ? "–" : percent(similarity);

/** What the tries cost together, before they are started. */
export function costInWords({ tries, likely, most }: AblationPlan["estimate"]): string {
  const calls = `${whole(tries)} ${tries === 1 ? "call" : "calls"}`;
  if (!likely || !most) return `${calls}; no price is known for this model.`;
  return `${calls}, likely ${dollars(likely.micro_dollars)}, ${dollars(most.micro_dollars)} at most.`;
}
