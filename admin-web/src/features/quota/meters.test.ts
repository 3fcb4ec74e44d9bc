// @vitest-environment node
import { expect, test } from "vitest";
import { limitOf, metersOf } from "./meters.ts";

test("what runs now is taken too, and no limit is said to be none", () => {
  const meters = metersOf({
    period: "month",
    limits: { tokens: 1000, micro_dollars: null },
    used: { tokens: 200, micro_dollars: 1_250_000 },
    reserved: { tokens: 300, micro_dollars: 0 },
    left: { tokens: 500, micro_dollars: null },
    resets_at: "2026-12-01T00:00:00Z",
  });
  expect(meters).toEqual([
    { name: "Tokens", taken: 500, limit: 1000, shown: "200 of 1,000, 300 more are reserved" },
    { name: "Cost", taken: 1_250_000, limit: null, shown: "$1.25, without a limit" },
  ]);
});

test("an empty field is no limit, and a wrong one is none that can be saved", () => {
  expect(limitOf(" ", 1)).toBeNull();
  expect(limitOf("1,000", 1)).toBe(1000);
  expect(limitOf("12.5", 1_000_000)).toBe(12_500_000);
  expect(limitOf("0", 1)).toBe(0);
  for (const wrong of ["-1", "x", "1e20"]) expect(limitOf(wrong, 1)).toBeUndefined();
});
