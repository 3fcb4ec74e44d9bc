/** Whether a key works, and when a new one ends. No DOM. */
import type { Key } from "../../api/types.ts";

export type Standing = "active" | "expired" | "revoked";

export function standingOf(key: Pick<Key, "revoked_at" | "expires_at">, now: number): Standing {
  if (key.revoked_at) return "revoked";
  return key.expires_at && Date.parse(key.expires_at) <= now ? "expired" : "active";
}

export const LIFETIMES = { "": "Never", "7": "In 7 days", "90": "In 90 days", "365": "In a year" };

const DAY_MS = 86_400_000;

/** The moment, in RFC 3339; null: never. */
export const endOf = (days: string, now: number): string | null =>
  days === "" ? null : new Date(now + Number(days) * DAY_MS).toISOString();
