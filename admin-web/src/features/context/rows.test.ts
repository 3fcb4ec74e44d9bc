import { expect, test } from "vitest";
import { aSnapshot, part } from "../../test/factories.ts";
import { heaviest, type Row, rowsOf, type Wish } from "./rows.ts";
import type { View } from "./tokens.ts";

const view = (changes: Partial<View> = {}): View => ({
  saved: new Map(),
  draft: new Map(),
  along: new Map(),
  priced: new Map(),
  ...changes,
});
const wish = (changes: Partial<Wish> = {}): Wish => ({
  order: "position",
  shown: "all",
  text: "",
  view: view(),
  lastCall: null,
  opened: new Set(),
  ...changes,
});
const OUT = { excluded: true, replacement: null };
const keys = (rows: readonly Row[]) => rows.map((each) => each.key);

const snapshot = aSnapshot({
  tools: [part.cachedPrefix(part.tool("read_file", { tokens: 50 }))],
  system: [
    part.cachedPrefix(part.system("agent", { tokens: 100 })),
    part.system("memory", { tokens: 20 }),
  ],
  messages: [
    part.message(1, { tokens: 5 }),
    part.message(2, { tokens: 300 }),
    part.message(3, { tokens: 30, preview: "[tool_result for read_file] x" }),
  ],
});

test("the list is the request: in the provider's order, the cached prefix's end drawn", () => {
  expect(keys(rowsOf(snapshot, wish()))).toEqual([
    "group:tools",
    "tool:read_file",
    "group:system",
    "system:agent",
    "border",
    "system:memory",
    "group:messages",
    "message:1",
    "message:2",
    "message:3",
  ]);
});

test("tokens add up down the list, without what is left out", () => {
  const draft = new Map([["system:agent", OUT]]);
  const rows = rowsOf(
    snapshot,
    wish({ view: view({ draft, along: new Map([["message:1", "x"]]) }) }),
  );
  const upTo = rows.flatMap((row) => (row.type === "part" ? [row.upTo] : []));
  expect(upTo).toEqual([50, 50, 70, 70, 370, 400]);
  const heading = rows.find((row) => row.key === "group:system");
  expect(heading).toMatchObject({ before: 120, after: 20 });
});

test("the heaviest come first, or by kind", () => {
  const bySize = rowsOf(snapshot, wish({ order: "size" }));
  expect(keys(bySize).slice(0, 3)).toEqual(["message:2", "system:agent", "tool:read_file"]);
  const byKind = rowsOf(snapshot, wish({ order: "kind" }));
  expect(byKind.flatMap((row) => (row.type === "heading" ? [row.label] : []))).toEqual([
    "Assistant",
    "System",
    "Tools",
    "Tool results",
    "User",
  ]);
  expect(heaviest(snapshot, view(), 1).map((each) => each.id)).toEqual(["message:2"]);
});

test("finds parts by name and preview; groups without any go away", () => {
  expect(keys(rowsOf(snapshot, wish({ text: "READ_file" })))).toEqual([
    "group:tools",
    "tool:read_file",
    "border",
    "group:messages",
    "message:3",
  ]);
});

test("shows what is overridden, and what is left out", () => {
  const saved = new Map([["message:1", { excluded: false, replacement: "x" }]]);
  const draft = new Map([["message:2", OUT]]);
  const shown = (kind: Wish["shown"]) =>
    rowsOf(snapshot, wish({ shown: kind, view: view({ saved, draft }) })).flatMap((row) =>
      row.type === "part" ? [row.key] : [],
    );
  expect(shown("changed")).toEqual(["message:1", "message:2"]);
  expect(shown("left-out")).toEqual(["message:2"]);
});

test("new since the last call: what it had already is folded, and can be opened", () => {
  const lastCall = new Map([
    ["tool:read_file", "sha of tool:read_file"],
    ["system:agent", "another hash"],
    ["system:memory", "sha of system:memory"],
    ["message:1", "sha of message:1"],
    ["message:2", "sha of message:2"],
  ]);
  const folded = wish({ shown: "new", lastCall });
  expect(keys(rowsOf(snapshot, folded))).toEqual([
    "group:tools",
    "fold:tool:read_file",
    "group:system",
    "system:agent",
    "border",
    "fold:system:memory",
    "group:messages",
    "fold:message:1",
    "message:3",
  ]);
  const rows = rowsOf(snapshot, folded);
  expect(rows.find((row) => row.key === "system:agent")).toMatchObject({ novelty: "changed" });
  expect(rows.find((row) => row.key === "message:3")).toMatchObject({ novelty: "new" });
  expect(rows.find((row) => row.key === "fold:message:1")).toMatchObject({ parts: 2, tokens: 305 });
  const opened = rowsOf(snapshot, { ...folded, opened: new Set(["fold:message:1"]) });
  expect(keys(opened)).toContain("message:2");
});

test("ten thousand messages are ordered in a blink", () => {
  const messages = Array.from({ length: 10_000 }, (_, index) => part.message(index + 1));
  const long = aSnapshot({ messages });
  const began = performance.now();
  expect(rowsOf(long, wish({ order: "size" }))).toHaveLength(10_000);
  expect(performance.now() - began).toBeLessThan(500);
});
