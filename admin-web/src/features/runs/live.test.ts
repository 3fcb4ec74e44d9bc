// @vitest-environment node
import { expect, test } from "vitest";
import type { RunEvent } from "../../api/events.ts";
import { after, BEGINNING, isStored } from "./live.ts";

const event = (kind: RunEvent["kind"], data: RunEvent["data"] = {}): RunEvent => ({ kind, data });
const delta = (turn: number, delta: Record<string, string>) =>
  event("message.delta", { turn, delta });
const text = (words: string, turn = 1) => delta(turn, { type: "text_delta", text: words });

test("deltas of one kind in a row become one piece", () => {
  const live = after(BEGINNING, [
    delta(1, { type: "thinking_delta", thinking: "Hm" }),
    delta(1, { type: "thinking_delta", thinking: "…" }),
    delta(1, { type: "signature_delta", signature: "x" }),
    text("Hel"),
    text("lo"),
    delta(1, { type: "input_json_delta", partial_json: "" }),
    delta(1, { type: "input_json_delta", partial_json: '{"a":' }),
    delta(1, { type: "input_json_delta", partial_json: "1}" }),
  ]);
  expect(live.pieces).toEqual([
    { kind: "thinking", text: "Hm…" },
    { kind: "text", text: "Hello" },
    { kind: "input", text: '{"a":1}' },
  ]);
});

test("a tool runs, and then has ended or failed", () => {
  const live = after(BEGINNING, [
    event("tool.started", { id: "t1", name: "read" }),
    event("tool.started", { id: "t2", name: "write" }),
    event("tool.finished", { id: "t2", name: "write", is_error: true }),
  ]);
  expect(live.tools).toEqual([
    { id: "t1", name: "read", status: "running" },
    { id: "t2", name: "write", status: "failed" },
  ]);
});

test("a helper's session is known for as long as the turn lasts", () => {
  const live = after(BEGINNING, [
    event("tool.started", { id: "t1", name: "task" }),
    event("task.started", { id: "t1", helper: "scout", run_id: "r2", session_id: "s2" }),
    event("task.finished", { id: "t1", helper: "scout", status: "succeeded" }),
    event("tool.finished", { id: "t1", name: "task", is_error: false }),
  ]);
  expect(live.tools).toEqual([
    { id: "t1", name: "task", status: "done", helper: { name: "scout", sessionId: "s2" } },
  ]);
});

test("what a finished turn has brought is in the messages, and no longer here", () => {
  const live = after(BEGINNING, [
    text("Hello"),
    event("tool.started", { id: "t1", name: "read" }),
    event("turn.finished", { turn: 1, messages: [2, 3] }),
  ]);
  expect(live).toEqual({ turn: 2, pieces: [], tools: [], isDone: false });
  expect(after(live, [text("More", 2)]).pieces).toEqual([{ kind: "text", text: "More" }]);
});

test("a later turn's delta starts anew even where the end of the turn was missed", () => {
  expect(after(BEGINNING, [text("Old"), text("New", 2)]).pieces).toEqual([
    { kind: "text", text: "New" },
  ]);
});

test("after a gap in the events only what follows is shown", () => {
  const live = after(BEGINNING, [text("lost and found"), event("reset"), text("from here")]);
  expect(live.pieces).toEqual([{ kind: "text", text: "from here" }]);
});

test("the end is the end", () => {
  expect(after(BEGINNING, [event("done", { status: "cancelled" })]).isDone).toBe(true);
});

test("stored things change with the end of a turn, of the run, and with a gap", () => {
  const kinds = (["message.delta", "turn.finished", "reset", "done"] as const).filter((kind) =>
    isStored(event(kind)),
  );
  expect(kinds).toEqual(["turn.finished", "reset", "done"]);
});

test("data that is not as expected breaks nothing", () => {
  expect(after(BEGINNING, [event("message.delta"), event("tool.started")]).pieces).toEqual([]);
});
