// @vitest-environment node
import { expect, test } from "vitest";
import { isOpen, lasted, shown } from "./status.ts";

test("a run that is to be cancelled says so until it has ended", () => {
  const asked = { cancel_requested_at: "2026-11-30T10:00:00Z" };
  expect(shown({ ...asked, status: "running" }).name).toBe("being cancelled");
  expect(shown({ ...asked, status: "cancelled" }).name).toBe("cancelled");
  expect(isOpen({ status: "queued" })).toBe(true);
  expect(isOpen({ status: "timed_out" })).toBe(false);
});

test("how long it lasted is known once it has started", () => {
  const start = "2026-11-30T10:00:00Z";
  const now = Date.parse("2026-11-30T10:00:05Z");
  expect(lasted({ started_at: null, finished_at: null }, now)).toBeNull();
  expect(lasted({ started_at: start, finished_at: null }, now)).toBe(5000);
  expect(lasted({ started_at: start, finished_at: "2026-11-30T10:00:02Z" }, now)).toBe(2000);
});
