import { describe, expect, test } from "vitest";
import { aStoredSet, part } from "../../test/factories.ts";
import {
  type ByPart,
  type Change,
  changed,
  conflicts,
  faultsByPart,
  NOTHING_CHANGED,
  partnersIn,
  savedIn,
  type Selection,
  type Sets,
  setToSave,
  targetOf,
  unsaved,
  wishOf,
} from "./model.ts";
import type { Override } from "../../api/types.ts";

const exclude = (id: string): Override => ({ part: id, action: "exclude" });
const replace = (id: string, text: string): Override => ({
  part: id,
  action: "replace",
  replacement: text,
});
const sets = (session: Override[] = [], agent: Override[] = [], etag = '"1"'): Sets => ({
  agent: { value: aStoredSet(agent), etag },
  session: { value: aStoredSet(session), etag },
});
const toggle = (id: string, partners: ByPart<string[]> = new Map()): Change => ({
  type: "toggle",
  part: id,
  partners,
});
const after = (on: Sets, ...changes: Change[]): Selection =>
  changes.reduce((now, change) => changed(now, on, change), NOTHING_CHANGED);

describe("toggling", () => {
  test("leaves a part out, and twice changes nothing", () => {
    const on = sets();
    expect(unsaved(after(on, toggle("message:5")).draft, savedIn(on)).get("message:5")).toEqual({
      excluded: true,
      replacement: null,
    });
    expect(after(on, toggle("message:5"), toggle("message:5"))).toBe(NOTHING_CHANGED);
  });

  test("a part that returns brings its partners back, through all their calls", () => {
    const on = sets([exclude("message:4"), exclude("message:5"), exclude("message:6")]);
    const left = (id: string, paired_with: string[]) =>
      part.excluded(part.message(Number(id.slice(8)), { paired_with }));
    const partners = partnersIn(
      [
        left("message:4", ["message:5", "message:6"]),
        left("message:5", ["message:4"]),
        left("message:6", ["message:4"]),
      ],
      [],
    );
    const { draft } = after(on, toggle("message:5", partners));
    expect(setToSave("session", on.session.value.overrides, draft)).toEqual([]);
  });

  test("a part that goes along with another takes that one back", () => {
    const on = sets();
    const partners = partnersIn(
      [],
      [{ part: "message:4", goes_with: "message:5", call: "c", replacement_lost: false }],
    );
    const done = after(on, toggle("message:5"), toggle("message:4", partners));
    expect(done).toBe(NOTHING_CHANGED);
  });

  test("keeps a text that was written for the part", () => {
    const on = sets();
    const done = after(
      on,
      { type: "replace", part: "message:2", text: "short" },
      toggle("message:2"),
      toggle("message:2"),
    );
    expect(done.draft.get("message:2")).toEqual({ excluded: false, replacement: "short" });
  });
});

describe("what is saved", () => {
  test("a set keeps what the draft does not touch, in its place and with its reason", () => {
    const stored = [{ ...exclude("message:1"), reason: "old" }, exclude("message:3")];
    const { draft } = after(sets(stored), toggle("message:3"), toggle("message:7"));
    expect(setToSave("session", stored, draft)).toEqual([
      { ...exclude("message:1"), reason: "old" },
      exclude("message:7"),
    ]);
  });

  test("each part goes into its own target's set", () => {
    const { draft } = after(sets(), toggle("message:3"), toggle("tool:read_file"));
    expect(setToSave("session", [], draft)).toEqual([exclude("message:3")]);
    expect(setToSave("agent", [], draft)).toEqual([exclude("tool:read_file")]);
    expect(["system:agent", "summary", "synthetic:continue"].map(targetOf)).toEqual([
      "agent",
      "session",
      null,
    ]);
  });

  test("after one target is saved, the other's changes are still there", () => {
    const begun = after(sets(), toggle("message:3"), toggle("tool:read_file"));
    const stored = { value: aStoredSet([exclude("tool:read_file")]), etag: '"2"' };
    const done = changed(begun, sets([], [exclude("tool:read_file")]), {
      type: "saved",
      target: "agent",
      answer: stored,
    });
    expect([...done.draft.keys()]).toEqual(["message:3"]);
    expect(done.base?.agent.etag).toBe('"2"');
    expect(done.base?.session.etag).toBe('"1"');
  });

  test("a draft stays on the sets that it was begun on, until it is put on others", () => {
    const begun = after(sets([], [], '"1"'), toggle("message:3"));
    const newer = sets([exclude("message:9")], [], '"2"');
    const further = changed(begun, newer, toggle("message:5"));
    expect(further.base?.session.etag).toBe('"1"');
    const rebased = changed(further, newer, { type: "rebase" });
    expect(rebased.base?.session.etag).toBe('"2"');
    expect(setToSave("session", newer.session.value.overrides, rebased.draft)).toEqual(
      ["message:9", "message:3", "message:5"].map(exclude),
    );
  });
});

test("a try is told what differs from what is saved, and what it cannot bring back", () => {
  const on = sets([exclude("message:3")]);
  const { draft } = after(on, toggle("message:3"), toggle("message:5"), {
    type: "replace",
    part: "system:agent",
    text: "Be brief.",
  });
  expect(wishOf(draft, savedIn(on))).toEqual({
    exclude: ["message:5"],
    replace: { "system:agent": "Be brief." },
    beyond: ["message:3"],
  });
});

test("back to the original takes a saved replacement away", () => {
  const on = sets([], [replace("system:agent", "x")]);
  const { draft } = after(on, { type: "restore", part: "system:agent" });
  expect(setToSave("agent", on.agent.value.overrides, draft)).toEqual([]);
});

test("a conflict shows both versions of every part that differs", () => {
  const base = sets([exclude("message:1")]);
  const current = sets([exclude("message:1"), replace("message:3", "theirs")]);
  const { draft } = after(base, toggle("message:3"), toggle("message:1"));
  const found = conflicts(base, current, draft);
  expect(found.map((each) => each.part).sort()).toEqual(["message:1", "message:3"]);
  expect(found.find((each) => each.part === "message:3")).toEqual({
    part: "message:3",
    was: { excluded: false, replacement: null },
    theirs: { excluded: false, replacement: "theirs" },
    mine: { excluded: true, replacement: null },
  });
});

test("faults are told at the parts that they are about", () => {
  const faults = [
    { at: "overrides[1]", code: "tool_replace", detail: "A tool can be left out, not replaced." },
    { at: "overrides", code: "no_user_message", detail: "Leave at least one in." },
  ];
  const found = faultsByPart([exclude("message:1"), exclude("tool:x")], faults);
  expect([...found.keys()]).toEqual(["tool:x"]);
});
