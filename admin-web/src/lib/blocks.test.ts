// @vitest-environment node
import { expect, test } from "vitest";
import { describe } from "./blocks.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk";

test("a call is named, and its first argument in words is its headline", () => {
  const call = { type: "tool_use", id: "t1", name: "read", input: { limit: 3, path: "a\n b.ts" } };
  expect(describe(call)).toMatchObject({
    title: "Tool call: read",
    headline: "a b.ts",
    tone: "call",
    text: JSON.stringify(call.input, null, 2),
  });
});

test("a failed result says so, with the texts of its blocks", () => {
  const content = [
    { type: "text", text: "no" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  ];
  expect(describe({ type: "tool_result", is_error: true, content })).toMatchObject({
    title: "Tool result: error",
    tone: "error",
    text: "no\n\nimage/png, 640 × 480 pixels, 33 bytes",
  });
});

test.each(["web_search_tool_result", "mcp_tool_result"])("%s is a result too", (type) => {
  expect(describe({ type, content: "x" })).toMatchObject({ title: "Tool result", text: "x" });
});

test("a file that is not in the message is said to be elsewhere", () => {
  const source = { type: "url", url: "https://example.com/x.png" };
  expect(describe({ type: "image", source }).text).toContain("Not in the message");
});

test("an unknown block is shown as it is", () => {
  expect(describe({ type: "new_thing", x: 1 })).toMatchObject({ title: "new thing" });
  expect(describe({ type: "new_thing", x: 1 }).text).toContain('"x": 1');
});
