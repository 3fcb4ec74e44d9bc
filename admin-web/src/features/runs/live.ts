/** What a run's events come to: the answer as it is written, and the tools as they run. No DOM. */
import type { RunEvent } from "../../api/events.ts";

export type Piece = { readonly kind: "text" | "thinking" | "input"; readonly text: string };

export type LiveTool = {
  readonly id: string;
  readonly name: string;
  readonly status: "running" | "done" | "failed";
  /** Of a call that a helper answers: the session that it works in. */
  readonly helper?: { readonly name: string; readonly sessionId: string };
};

export type Live = {
  /** The turn that is under way, counted from 1. */
  readonly turn: number;
  readonly pieces: readonly Piece[];
  readonly tools: readonly LiveTool[];
  readonly isDone: boolean;
};

export const BEGINNING: Live = { turn: 1, pieces: [], tools: [], isDone: false };

/** Whether what the server has stored has changed with the event. */
export const isStored = ({ kind }: RunEvent): boolean =>
  kind === "turn.finished" || kind === "reset" || kind === "done";

export const after = (live: Live, events: readonly RunEvent[]): Live => events.reduce(next, live);

function next(live: Live, { kind, data }: RunEvent): Live {
  switch (kind) {
    case "message.delta":
      return withDelta(live, data);
    case "tool.started":
    case "task.started":
      return { ...live, tools: withTool(live.tools, started(data)) };
    case "tool.finished":
      return { ...live, tools: withTool(live.tools, finished(data)) };
    case "task.finished":
      return live; // the end of the call comes with tool.finished
    case "turn.finished":
      return { ...BEGINNING, turn: count(data.turn) + 1 };
    case "reset":
      return { ...BEGINNING, turn: live.turn };
    case "done":
      return { ...live, isDone: true };
  }
}

function withDelta(live: Live, data: RunEvent["data"]): Live {
  const turn = count(data.turn);
  const piece = pieceOf(data.delta);
  const pieces = turn === live.turn ? live.pieces : [];
  const tools = turn === live.turn ? live.tools : [];
  return { ...live, turn, tools, pieces: piece ? joined(pieces, piece) : pieces };
}

/** Deltas of one kind in a row are one text. */
function joined(pieces: readonly Piece[], piece: Piece): Piece[] {
  const last = pieces.at(-1);
  return last?.kind === piece.kind
    ? [...pieces.slice(0, -1), { ...last, text: last.text + piece.text }]
    : [...pieces, piece];
}

const DELTAS: Readonly<Record<string, readonly [Piece["kind"], field: string]>> = {
  text_delta: ["text", "text"],
  thinking_delta: ["thinking", "thinking"],
  input_json_delta: ["input", "partial_json"],
};

/** Null: signatures and the like, which nobody reads. */
function pieceOf(delta: unknown): Piece | null {
  if (!isRecord(delta)) return null;
  const known = DELTAS[worded(delta.type)];
  if (!known) return null;
  const [kind, field] = known;
  const text = worded(delta[field]);
  return text === "" ? null : { kind, text };
}

const started = (data: RunEvent["data"]): LiveTool => ({
  id: worded(data.id),
  name: worded(data.name) || "task",
  status: "running",
  ...("session_id" in data
    ? { helper: { name: worded(data.helper), sessionId: worded(data.session_id) } }
    : {}),
});

const finished = (data: RunEvent["data"]): LiveTool => ({
  id: worded(data.id),
  name: worded(data.name),
  status: data.is_error === true ? "failed" : "done",
});

/** What is new about a call joins what is known of it. */
function withTool(tools: readonly LiveTool[], tool: LiveTool): LiveTool[] {
  const known = tools.some((each) => each.id === tool.id);
  return known
    ? tools.map((each) => (each.id === tool.id ? { ...each, ...tool } : each))
    : [...tools, tool];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const worded = (value: unknown): string => (typeof value === "string" ? value : "");

const count = (value: unknown): number => (typeof value === "number" ? value : 1);
