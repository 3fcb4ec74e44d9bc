import { expect, test } from "vitest";
import { aSnapshot, part } from "../../test/factories.ts";
import type { Wanted } from "./model.ts";
import { pieces, pricedTexts, sumsUnder, tokensUnder, type View } from "./tokens.ts";

const view = (changes: Partial<View> = {}): View => ({
  saved: new Map(),
  draft: new Map(),
  along: new Map(),
  priced: new Map(),
  ...changes,
});
const OUT: Wanted = { excluded: true, replacement: null };
const TEXT: Wanted = { excluded: false, replacement: "eight ch" };

const replaced = part.message(2, { tokens: 3, tokens_before: 40, override: "replace" });
const snapshot = aSnapshot({
  system: [part.system("agent", { tokens: 100 })],
  messages: [part.message(1, { tokens: 50 }), replaced, part.excluded(part.message(3))],
});

test("without a draft the sums are the server's", () => {
  expect(sumsUnder(view(), snapshot)).toEqual({ system: 100, tools: 0, messages: 53, total: 160 });
});

test("a draft moves its group and the total by what it leaves out, and what goes along", () => {
  const draft = new Map([["system:agent", OUT]]);
  const along = new Map([["message:1", "message:9"]]);
  expect(sumsUnder(view({ draft, along }), snapshot)).toMatchObject({
    system: 0,
    messages: 3,
    total: 10,
  });
});

test("a part that is put back costs what its original costs", () => {
  const draft = new Map([
    ["message:2", { excluded: false, replacement: null }],
    ["message:3", { excluded: false, replacement: null }],
  ]);
  const saved = new Map([
    ["message:2", TEXT],
    ["message:3", OUT],
  ]);
  const put = view({ draft, saved });
  expect(tokensUnder(put, replaced)).toBe(40);
  expect(tokensUnder(put, part.excluded(part.message(3)))).toBe(10);
});

test("a new text costs a guess, until the server's price tells what it is", () => {
  const draft = new Map([
    ["message:1", TEXT],
    ["system:agent", OUT],
  ]);
  expect(tokensUnder(view({ draft }), part.message(1, { tokens: 50 }))).toBe(2);
  const priced = pricedTexts(view({ draft }), snapshot.groups.messages.parts, 35);
  expect(priced).toEqual(new Map([["message:1", 15]]));
  expect(sumsUnder(view({ draft, priced }), snapshot).messages).toBe(18);
});

test("the bar shows groups, framing, what is free, and the reserve: the whole window", () => {
  const shown = pieces(sumsUnder(view(), snapshot), snapshot.totals);
  expect(shown.map((each) => each.name)).toEqual([
    "tools",
    "system",
    "messages",
    "framing",
    "free",
    "reserve",
  ]);
  expect(shown.reduce((sum, each) => sum + each.tokens, 0)).toBe(snapshot.totals.window);
});
