/** How a tenant stands to its limits, in words. No DOM. */
import type { Standing } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";

export type Measured = {
  readonly name: string;
  /** Used, and reserved by calls that are running. */
  readonly taken: number;
  /** Null: unlimited. */
  readonly limit: number | null;
  readonly shown: string;
};

const MEASURES = [
  ["Tokens", "tokens", whole],
  ["Cost", "micro_dollars", dollars],
] as const;

export const metersOf = ({ limits, used, reserved }: Standing): Measured[] =>
  MEASURES.map(([name, at, words]) => {
    const limit = limits[at];
    const held = reserved[at] > 0 ? `, ${words(reserved[at])} more are reserved` : "";
    const of = limit === null ? ", without a limit" : ` of ${words(limit)}`;
    return {
      name,
      taken: used[at] + reserved[at],
      limit,
      shown: `${words(used[at])}${of}${held}`,
    };
  });

/** What a field for a limit says: empty is no limit; undefined: no such number. */
export function limitOf(text: string, factor: number): number | null | undefined {
  if (text.trim() === "") return null;
  const value = Number(text.trim().replaceAll(",", "")) * factor;
  return Number.isFinite(value) && value >= 0 && value <= 1e15 ? Math.round(value) : undefined;
}
