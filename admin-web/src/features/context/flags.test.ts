import { expect, test } from "vitest";
import { part } from "../../test/factories.ts";
import { flagsOf } from "./flags.ts";
import type { View } from "./tokens.ts";

const view = (changes: Partial<View> = {}): View => ({
  saved: new Map(),
  draft: new Map(),
  along: new Map(),
  priced: new Map(),
  ...changes,
});
const OUT = { excluded: true, replacement: null };
const texts = (...of: Parameters<typeof flagsOf>) => flagsOf(...of).map((each) => each.text);

test("nothing is said of a part with which all is as usual", () => {
  expect(texts(part.message(1), view(), null, null)).toEqual([]);
});

test("every mark of inspect has its words", () => {
  const marked = part.message(1, {
    stale: true,
    base_changed: true,
    thinking_dropped: true,
    paired_with: ["message:2"],
    truncated: true,
    compacted: true,
    synthetic: true,
    rough: true,
  });
  expect(texts(marked, view(), "new", new Map([["message:1", OUT]]))).toEqual([
    "stale",
    "suspended",
    "base changed",
    "thinking dropped",
    "pair #2",
    "truncated",
    "compacted",
    "synthetic",
    "new",
    "rough",
  ]);
});

test("tells what is unsaved, and what goes along with it", () => {
  const changed = view({
    draft: new Map([["message:5", OUT]]),
    along: new Map([["message:4", "message:5"]]),
  });
  expect(texts(part.message(5), changed, null, null)).toEqual(["unsaved", "left out"]);
  expect(texts(part.message(4), changed, null, null)).toEqual(["goes with #5"]);
});
