// @vitest-environment node
import { expect, test } from "vitest";
import { asQuery, filtersOf, isNarrowed, withFilter } from "./filters.ts";

const of = (search: string) => filtersOf(new URLSearchParams(search));

test("without a filter, those that are not archived are shown", () => {
  expect(asQuery(of(""))).toEqual({ query: "", agent_id: "", archived: "false", overrides: "" });
  expect(isNarrowed(of(""))).toBe(false);
});

test("a filter is in the address, and its default is not", () => {
  const found = withFilter(new URLSearchParams("query=x"), "overrides", "true");
  expect(found.toString()).toBe("query=x&overrides=true");
  expect(withFilter(found, "query", "").toString()).toBe("overrides=true");
  expect(withFilter(found, "archived", "").toString()).toBe("query=x&overrides=true&archived=");
  expect(isNarrowed(filtersOf(found))).toBe(true);
});

test("nonsense in the address counts as nothing", () => {
  expect(of("archived=perhaps&overrides=7")).toMatchObject({ archived: "false", overrides: "" });
});
