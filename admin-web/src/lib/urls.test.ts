// @vitest-environment node
import { expect, test } from "vitest";
import { escapedPath, withQuery } from "./urls.ts";

test("what is empty is no part of a query", () => {
  const query = { query: "a b&c", after: "", agent_id: null, archived: false, limit: 0 };
  expect(withQuery("/v1/sessions", query)).toBe(
    "/v1/sessions?query=a+b%26c&archived=false&limit=0",
  );
  expect(withQuery("/v1/sessions", { after: "" })).toBe("/v1/sessions");
});

test("a file's path keeps its slashes", () => {
  expect(escapedPath("notes/a b?#ü.md")).toBe("notes/a%20b%3F%23%C3%BC.md");
});
