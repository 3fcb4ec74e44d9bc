// @vitest-environment node
import { expect, test } from "vitest";
import { endOf, standingOf } from "./standing.ts";

const NOW = Date.parse("2026-11-30T10:00:00Z");

test("a key works until it is revoked or has expired", () => {
  const at = "2026-11-30T10:00:00Z";
  expect(standingOf({ revoked_at: null, expires_at: null }, NOW)).toBe("active");
  expect(standingOf({ revoked_at: null, expires_at: "2026-12-01T00:00:00Z" }, NOW)).toBe("active");
  expect(standingOf({ revoked_at: null, expires_at: at }, NOW)).toBe("expired");
  expect(standingOf({ revoked_at: at, expires_at: at }, NOW)).toBe("revoked");
});

test("a lifetime ends at a moment, or never", () => {
  expect(endOf("7", NOW)).toBe("2026-12-07T10:00:00.000Z");
  expect(endOf("", NOW)).toBeNull();
});
