// @vitest-environment node
import { expect, test } from "vitest";
import { asWords, daysOf, measured, wishOf } from "./wish.ts";

const of = (search: string) => wishOf(new URLSearchParams(search));

test("nonsense in the address counts as nothing", () => {
  expect(of("span=8&by=toString&measure=")).toEqual({
    span: "30",
    group: "model",
    measure: "tokens",
  });
  expect(of("span=7&by=agent&measure=calls")).toEqual({
    span: "7",
    group: "agent",
    measure: "calls",
  });
});

test("days are those of UTC, today the last of them", () => {
  const days = daysOf(of("span=7"), Date.parse("2026-03-02T23:30:00-05:00"));
  expect(days).toHaveLength(7);
  expect(days[0]).toBe("2026-02-25");
  expect(days[6]).toBe("2026-03-03");
});

test("tokens are all that went in and all that came out", () => {
  const figures = {
    calls: 2,
    input_tokens: 10,
    cache_read_tokens: 80,
    cache_write_tokens: 10,
    whole_input_tokens: 100,
    output_tokens: 7,
    cost_micro_dollars: 1_500_000,
    unpriced_calls: 0,
  };
  expect(measured("tokens", figures)).toBe(107);
  expect(asWords("cost", measured("cost", figures))).toBe("$1.50");
});
