/** The words for what two tries have different. No DOM. */
import type { TryDiff } from "../../api/types.ts";

export type ToolCall = NonNullable<TryDiff["answer"]>["tool_calls"]["before"][number];
type PartChange = NonNullable<TryDiff["request"]>["parts"][number];

export const CHANGE_WORDS: Record<PartChange["change"], string> = {
  left_out: "left out",
  brought_back: "brought back",
  replaced: "replaced",
  added: "added",
  gone: "gone",
  changed: "changed",
};
