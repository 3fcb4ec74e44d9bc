// @vitest-environment node
import { expect, test } from "vitest";
import type { AuditEvent } from "../../api/types.ts";
import { detailOf, pageOf } from "./actions.ts";

const event = (changes: Partial<AuditEvent>): AuditEvent => ({
  id: "e1",
  at: "2026-11-30T10:00:00Z",
  user_id: null,
  key_id: null,
  action: "agent.update",
  target_kind: "agent",
  target_id: "a1",
  outcome: "done",
  detail: {},
  request_id: null,
  trace_id: null,
  address: null,
  ...changes,
});

test("what is still there has a page", () => {
  expect(pageOf(event({}))).toBe("/agents/a1");
  expect(pageOf(event({ action: "agent.delete" }))).toBeNull();
  expect(pageOf(event({ target_kind: "key" }))).toBeNull();
});

test("details are read out by name", () => {
  const detail = { fields: ["name", "model"], agent_id: "a1", parts: [{ part: "x" }], count: 3 };
  expect(detailOf(event({ detail }))).toBe(
    'fields: name, model; agent id: a1; parts: {"part":"x"}; count: 3',
  );
  expect(detailOf(event({ detail: null }))).toBe("");
});
