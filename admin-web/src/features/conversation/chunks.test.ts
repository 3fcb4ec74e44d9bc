// @vitest-environment node
import { expect, test } from "vitest";
import { chunksBetween, firstOf, placeOf } from "./chunks.ts";

test("rows in sight need the chunks that they lie in, and no others", () => {
  expect(chunksBetween(0, 49)).toEqual([0]);
  expect(chunksBetween(49, 50)).toEqual([0, 1]);
  expect(chunksBetween(9_960, 9_999)).toEqual([199]);
  expect(chunksBetween(0, -1)).toEqual([]);
});

test("a row has its place in its chunk", () => {
  expect(placeOf(120)).toEqual({ chunk: 2, at: 20 });
  expect(firstOf(2)).toBe(101);
});
