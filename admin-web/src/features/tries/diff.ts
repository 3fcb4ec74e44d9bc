/** What two tries have different, as GET /v1/tries/{id}/diff says it. No DOM. */

export type Hunk = { op: "equal" | "insert" | "delete" | "replace"; before: string; after: string };
export type ToolCall = { name: string; input: unknown };
export type PartChange = {
  part: string;
  kind: string;
  change: "left_out" | "brought_back" | "replaced" | "added" | "gone" | "changed";
  tokens: { before: number; after: number };
};

export type TryDiff = {
  request: {
    same: boolean;
    before_model: string;
    after_model: string;
    tokens: { before: number; after: number };
    parameters: { name: string; before: unknown; after: unknown }[];
    parts: PartChange[];
    unchanged: number;
  } | null;
  answer: {
    change: "same" | "text" | "tool_calls";
    similarity: number;
    text: Hunk[];
    tool_calls: { same: number; before: ToolCall[]; after: ToolCall[] };
  } | null;
};

export const CHANGE_WORDS: Record<PartChange["change"], string> = {
  left_out: "left out",
  brought_back: "brought back",
  replaced: "replaced",
  added: "added",
  gone: "gone",
  changed: "changed",
};
