/** What of the usage is shown, as the page's address says it. No DOM. */
import type { Figures } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";

export const SPANS = { "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days" } as const;
export const GROUPS = { model: "Model", agent: "Agent", purpose: "Purpose" } as const;
export const MEASURES = { cost: "Cost", tokens: "Tokens", calls: "Calls" } as const;

export type Wish = {
  readonly span: keyof typeof SPANS;
  readonly group: keyof typeof GROUPS;
  readonly measure: keyof typeof MEASURES;
};

export const wishOf = (search: URLSearchParams): Wish => ({
  span: known(search.get("span"), SPANS, "30"),
  group: known(search.get("by"), GROUPS, "model"),
  measure: known(search.get("measure"), MEASURES, "tokens"),
});

const DAY_MS = 86_400_000;

/** The days that the span holds, oldest first, in UTC as the server counts them. */
export const daysOf = ({ span }: Wish, now: number): string[] =>
  Array.from({ length: Number(span) }, (_, back) => day(now - back * DAY_MS)).reverse();

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

export const measured = (measure: Wish["measure"], figures: Figures): number => {
  if (measure === "cost") return figures.cost_micro_dollars;
  if (measure === "calls") return figures.calls;
  return figures.whole_input_tokens + figures.output_tokens;
};

export const asWords = (measure: Wish["measure"], value: number): string =>
  measure === "cost" ? dollars(value) : whole(value);

function known<Names extends Record<string, string>>(
  value: string | null,
  names: Names,
  otherwise: keyof Names,
): keyof Names {
  return value !== null && Object.hasOwn(names, value) ? value : otherwise;
}
