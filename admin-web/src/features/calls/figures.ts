/** Figures of a call as people read them. What the provider did not tell is not known. No DOM. */
import type { Call, SentPart } from "../../api/types.ts";
import { dollars, percent, whole } from "../../lib/numbers.ts";

export const UNKNOWN = "not known";

export const tokens = (value: number | null): string => (value === null ? UNKNOWN : whole(value));

export const cost = (microDollars: number | null): string =>
  microDollars === null ? UNKNOWN : dollars(microDollars);

/** All that the model was given, cached or not; null: not known. */
export function wholeInput(call: Call): number | null {
  const { input_tokens: fresh, cache_read_tokens: read, cache_write_tokens: written } = call;
  return fresh === null ? null : fresh + (read ?? 0) + (written ?? 0);
}

/** By how much hango's own count was off: "+3.1 %" is too much. */
export function estimateError(call: Call): string {
  const billed = wholeInput(call);
  if (!billed || call.estimated_tokens === null) return UNKNOWN;
  const error = call.estimated_tokens / billed - 1;
  return `${error < 0 ? "−" : "+"}${percent(Math.abs(error))}`;
}

export type PartGroup = {
  readonly name: string;
  readonly parts: readonly SentPart[];
  /** Of those that were sent. */
  readonly tokens: number;
};

/** The parts by group, in the order in which the provider reads them. Messages are all the rest. */
export function groupsOf(parts: readonly SentPart[]): PartGroup[] {
  const of = (kind: string) => parts.filter((each) => each.kind === kind);
  const groups = [
    { name: "Tools", parts: of("tool") },
    { name: "System", parts: of("system") },
    { name: "Messages", parts: parts.filter(({ kind }) => kind !== "tool" && kind !== "system") },
  ];
  return groups.map((group) => ({
    ...group,
    tokens: group.parts.reduce((sum, each) => sum + (each.included ? each.tokens : 0), 0),
  }));
}
