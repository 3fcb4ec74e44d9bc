// @vitest-environment node
import { expect, test } from "vitest";
import type { Call, SentPart } from "../../api/types.ts";
import { cost, estimateError, groupsOf, tokens, wholeInput } from "./figures.ts";

const call = (figures: Partial<Call>): Call =>
  // Only the figures count here.
  ({
    input_tokens: null,
    cache_read_tokens: null,
    cache_write_tokens: null,
    estimated_tokens: null,
    ...figures,
  }) as Call;

const part = (id: string, tokens: number, included = true): SentPart => ({
  id,
  kind: id.split(":")[0] ?? "",
  sha256: "",
  tokens,
  included,
  override: "none",
  unavailable: null,
});

test("what the provider did not tell is not known, and never 0", () => {
  expect(tokens(null)).toBe("not known");
  expect(cost(null)).toBe("not known");
  expect(wholeInput(call({}))).toBeNull();
  expect(estimateError(call({ estimated_tokens: 5 }))).toBe("not known");
});

test("the whole input is what was fresh and what a cache had or took", () => {
  const figures = { input_tokens: 5, cache_read_tokens: 90, cache_write_tokens: 5 };
  expect(wholeInput(call(figures))).toBe(100);
  expect(estimateError(call({ ...figures, estimated_tokens: 103 }))).toBe("+3.0 %");
  expect(estimateError(call({ ...figures, estimated_tokens: 50 }))).toBe("−50 %");
});

test("parts come in the provider's order, and what was left out is not in the sums", () => {
  const parts = [part("system:agent", 7), part("tool:read", 3), part("message:1", 5, false)];
  expect(groupsOf([...parts, part("summary", 2)])).toMatchObject([
    { name: "Tools", tokens: 3 },
    { name: "System", tokens: 7 },
    { name: "Messages", tokens: 2, parts: [{ id: "message:1" }, { id: "summary" }] },
  ]);
});
