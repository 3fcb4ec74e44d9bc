/** The differences of two calls as one list. No DOM. */
import type { CallDiff, SentPart } from "../../api/types.ts";

export type Change = {
  readonly how: "added" | "removed" | "changed";
  readonly id: string;
  readonly before: SentPart | null;
  readonly after: SentPart | null;
};

/** Removed, changed, then added, and by how many tokens the later request is larger. */
export function changesOf({ added, removed, changed }: CallDiff): {
  changes: Change[];
  sums: number;
} {
  const changes: Change[] = [
    ...removed.map((part) => ({ how: "removed" as const, id: part.id, before: part, after: null })),
    ...changed.map(({ before, after }) => ({
      how: "changed" as const,
      id: after.id,
      before,
      after,
    })),
    ...added.map((part) => ({ how: "added" as const, id: part.id, before: null, after: part })),
  ];
  const sums = changes.reduce((sum, each) => sum + sent(each.after) - sent(each.before), 0);
  return { changes, sums };
}

const sent = (part: SentPart | null): number => (part?.included ? part.tokens : 0);
