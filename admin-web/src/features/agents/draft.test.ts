// @vitest-environment node
import { expect, test } from "vitest";
import { changesOf, type Draft, isPossible, promptOf, rebased, toolOf } from "./draft.ts";

const BEFORE: Draft = {
  name: "Ada",
  model: "claude-sonnet-5-5",
  prompt: ["Be kind.", "Be short."],
  maxTokens: "1000",
  shared: false,
};

test("only what has changed is sent", () => {
  expect(changesOf(BEFORE, BEFORE)).toEqual({});
  expect(changesOf(BEFORE, { ...BEFORE, name: " Bo ", maxTokens: "2000" })).toEqual({
    name: "Bo",
    max_tokens: 2000,
  });
  expect(changesOf(BEFORE, { ...BEFORE, prompt: ["Be kind.", "Be brief."], shared: true })).toEqual(
    { system_prompt: ["Be kind.", "Be brief."], shared: true },
  );
});

test("on top of a newer agent only what was touched is another", () => {
  const newer = { ...BEFORE, name: "Theirs", prompt: ["Be loud."], shared: true };
  const draft = { ...BEFORE, prompt: ["Be brief."], maxTokens: "9" };
  expect(rebased(BEFORE, draft, newer)).toEqual({
    ...newer,
    prompt: ["Be brief."],
    maxTokens: "9",
  });
});

test("an agent needs a name, a model and room to answer", () => {
  expect(isPossible(BEFORE)).toBe(true);
  for (const wrong of [{ name: " " }, { model: "" }, { maxTokens: "0" }, { maxTokens: "1.5" }])
    expect(isPossible({ ...BEFORE, ...wrong })).toBe(false);
});

test("a prompt is one text or several", () => {
  expect(promptOf({ system_prompt: "x" })).toEqual(["x"]);
  expect(promptOf({ system_prompt: ["x", "y"] })).toEqual(["x", "y"]);
});

test("a tool of the provider's goes by its type where it has no name", () => {
  expect(toolOf({ type: "web_search" }).name).toBe("web_search");
  expect(toolOf({ name: "read", description: "Reads." })).toMatchObject({
    name: "read",
    about: "Reads.",
  });
});
