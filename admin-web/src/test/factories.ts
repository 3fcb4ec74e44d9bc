/** What the API answers, for tests: each named after what is special about it. */
import type { Part, Snapshot, StoredSet, Try, WebSession } from "../api/types.ts";

const ID = "01a22e1e-0000-7000-8000-000000000001";
const NOW = "2026-11-30T20:00:00Z";

export const aWebSession = (changes: Partial<WebSession> = {}): WebSession => ({
  csrf_token: "t0k3n",
  user: { id: "u1", name: "Ada", role: "admin", created_at: NOW, disabled_at: null },
  tenant: { id: "t1", name: "Acme" },
  role: "admin",
  key: {
    id: "k1",
    prefix: "hk_TR7K",
    name: "laptop",
    user_id: "u1",
    created_by: "u1",
    created_at: NOW,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  },
  created_at: NOW,
  expires_at: "2026-12-07T20:00:00Z",
  idle_expires_at: "2026-12-01T08:00:00Z",
  ...changes,
});

const aPart = (changes: Partial<Part>): Part => ({
  id: "message:1",
  kind: "message",
  label: "#1 user",
  preview: "Hello",
  tokens: 10,
  included: true,
  override: "none",
  cached_prefix: false,
  sha256: `sha of ${changes.id ?? "message:1"}`,
  contributor: "session",
  ...changes,
});

export const part = {
  message: (seq: number, changes: Partial<Part> = {}) =>
    aPart({
      id: `message:${seq}`,
      label: `#${seq} ${seq % 2 ? "user" : "assistant"}`,
      role: seq % 2 ? "user" : "assistant",
      preview: `Text of ${seq}`,
      ...changes,
    }),
  tool: (name: string, changes: Partial<Part> = {}) =>
    aPart({ id: `tool:${name}`, kind: "tool", label: name, contributor: "agent", ...changes }),
  system: (name: string, changes: Partial<Part> = {}) =>
    aPart({ id: `system:${name}`, kind: "system", label: name, contributor: name, ...changes }),
  cachedPrefix: (of: Part): Part => ({ ...of, cached_prefix: true }),
  excluded: (of: Part): Part => ({ ...of, included: false, override: "exclude" }),
  stale: (of: Part): Part => ({
    ...of,
    included: false,
    override: "exclude",
    stale: true,
    tokens: 0,
  }),
};

type Parts = Partial<Record<"system" | "tools" | "messages", Part[]>>;

export function aSnapshot(parts: Parts, changes: Partial<Snapshot> = {}): Snapshot {
  const group = (own: Part[] = []) => ({
    parts: own,
    tokens: {
      before: sum(own, (each) => each.tokens_before ?? each.tokens),
      after: sum(own, (each) => (each.included ? each.tokens : 0)),
    },
  });
  const groups = {
    system: group(parts.system),
    tools: group(parts.tools),
    messages: group(parts.messages),
  };
  const total = (when: "before" | "after") =>
    groups.system.tokens[when] + groups.tools.tokens[when] + groups.messages.tokens[when] + 7;
  return {
    session_id: "s1",
    agent_id: "a1",
    model: "claude-sonnet-5-5",
    model_known: true,
    transparent: true,
    request_sha256: "f7ce",
    groups,
    totals: {
      before: total("before"),
      after: total("after"),
      framing: 7,
      counted: "estimate",
      estimator: "test/1",
      window: 1000,
      reserved_output: 100,
      remaining: 900 - total("after"),
      available: 880,
      trigger: 800,
      rough: false,
    },
    would_compact: false,
    overrides: { active: 0, stale: 0 },
    cache: { breakpoint: null, prefix_tokens: 0, minimum_tokens: 100, effective: false },
    sendable: true,
    ...changes,
  };
}

const sum = (parts: Part[], of: (part: Part) => number) =>
  parts.reduce((left, each) => left + of(each), 0);

export const aStoredSet = (
  overrides: StoredSet["overrides"] = [],
  changes: Partial<StoredSet> = {},
): StoredSet => ({
  version: 1,
  overrides,
  added: [],
  thinking_dropped: null,
  alternatives: [],
  ...changes,
});

export const aTry = (changes: Partial<Try> = {}): Try => ({
  id: ID,
  session_id: "s1",
  baseline: "request",
  ablation_id: null,
  status: "succeeded",
  created_at: NOW,
  started_at: NOW,
  finished_at: "2026-11-30T20:00:04Z",
  excluded: [],
  added: [],
  replaced: [],
  answer: { role: "assistant", content: [{ type: "text", text: "An answer." }] },
  stop_reason: "end_turn",
  usage: { input_tokens: 100, output_tokens: 20, cache_read_tokens: 0, cache_write_tokens: 0 },
  cost: { micro_dollars: 1234, price_version: "1" },
  snapshot: null,
  error: null,
  ...changes,
});
