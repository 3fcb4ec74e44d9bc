// @vitest-environment node
import { expect, test } from "vitest";
import type { SentPart } from "../../api/types.ts";
import { changesOf } from "./changes.ts";

const part = (id: string, tokens: number, included = true): SentPart => ({
  id,
  kind: "message",
  sha256: "x",
  tokens,
  included,
  override: "none",
  unavailable: null,
});

test("differences are one list, and their tokens count only where they were sent", () => {
  const { changes, sums } = changesOf({
    before_sha256: "a",
    after_sha256: "b",
    removed: [part("message:1", 10)],
    changed: [{ before: part("message:2", 20), after: part("message:2", 20, false) }],
    added: [part("message:3", 7)],
    unchanged: 4,
  });
  expect(changes.map((each) => [each.how, each.id])).toEqual([
    ["removed", "message:1"],
    ["changed", "message:2"],
    ["added", "message:3"],
  ]);
  expect(sums).toBe(-10 - 20 + 7);
});
