import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, type Versioned } from "../../api/client.ts";
import type {
  Agent,
  Call,
  CallParts,
  Override,
  Page,
  PartContent,
  PastSet,
  Preview,
  Run,
  Snapshot,
  StoredSet,
} from "../../api/types.ts";
import { type Draft, setToSave, type Sets, type Target, TARGETS, targetOf } from "./model.ts";
import type { LastCall } from "./rows.ts";

/** The addresses of a session's context and of its agent's. */
export type Where = { readonly sessionId: string; readonly agentId: string };

const key = (sessionId: string, ...rest: unknown[]) => ["sessions", sessionId, "context", ...rest];

const setPath = (target: Target, { sessionId, agentId }: Where) =>
  target === "agent"
    ? `/v1/agents/${agentId}/context-overrides`
    : `/v1/sessions/${sessionId}/context-overrides`;

/** What else to ask for: both cost time, and are seen by others. */
export type Asked = { readonly injections: boolean; readonly count: boolean };

/** What the next call of the session would send. */
export const snapshotQuery = (sessionId: string, { injections, count }: Asked) => {
  const asked = [injections && "injections=1", count && "count=provider"].filter(Boolean);
  const path = `/v1/sessions/${sessionId}/context`;
  return queryOptions({
    queryKey: key(sessionId, "snapshot", injections, count),
    queryFn: ({ signal }) =>
      api.get<Snapshot>(asked.length > 0 ? `${path}?${asked.join("&")}` : path, signal),
    placeholderData: keepPreviousData,
  });
};

/** Both stored sets, with the ETags that changes of them are meant for. */
export const setsQuery = (where: Where) =>
  queryOptions({
    queryKey: key(where.sessionId, "sets"),
    queryFn: async ({ signal }): Promise<Sets> => {
      const [agent, session] = await Promise.all(
        TARGETS.map((target) => api.getVersioned<StoredSet>(setPath(target, where), signal)),
      );
      if (!agent || !session) throw new Error("There are two targets.");
      return { agent, session };
    },
  });

export const saveSet = (
  target: Target,
  where: Where,
  body: { overrides: Override[]; reason?: string | null },
  ifMatch: string | null,
): Promise<Versioned<StoredSet>> =>
  api.putVersioned<StoredSet>(setPath(target, where), body, { ifMatch });

/** What saving the draft would bring along and cost, target by target; null: not touched. */
export const previewQuery = (where: Where, target: Target, sets: Sets, draft: Draft) => {
  const own = [...draft].filter(([part]) => targetOf(part) === target);
  const { etag, value } = sets[target];
  const overrides = setToSave(target, value.overrides, draft);
  const path = `${setPath(target, where)}/preview`;
  return queryOptions({
    queryKey: key(where.sessionId, "preview", target, etag, own),
    enabled: own.length > 0,
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) =>
      api.post<Preview>(
        target === "agent" ? `${path}?session=${where.sessionId}` : path,
        { overrides },
        { signal },
      ),
  });
};

/** One part in full. `before`: as it was before the override that acts on it. */
export const partQuery = (sessionId: string, part: string, etags: string) =>
  queryOptions({
    queryKey: key(sessionId, "part", part, etags),
    queryFn: ({ signal }) =>
      api.get<PartContent>(
        `/v1/sessions/${sessionId}/context?full=${encodeURIComponent(part)}`,
        signal,
      ),
  });

/** The last sets of a target, newest first. */
export const historyQuery = (target: Target, where: Where) =>
  queryOptions({
    queryKey: key(where.sessionId, "history", target),
    staleTime: 0,
    queryFn: ({ signal }) =>
      api.get<{ items: PastSet[] }>(`${setPath(target, where)}/history`, signal),
  });

export const restoreSet = (
  target: Target,
  where: Where,
  version: number,
  ifMatch: string | null,
): Promise<Versioned<StoredSet>> =>
  api.postVersioned<StoredSet>(`${setPath(target, where)}/restore`, { version }, { ifMatch });

const RUNS_LOOKED_AT = 5; // the newest may have failed before their first call

/** What the session's last call sent: part ids and hashes. Null: it has not made a call yet. */
export const lastCallQuery = (sessionId: string) =>
  queryOptions({
    queryKey: key(sessionId, "last-call"),
    queryFn: async ({ signal }): Promise<LastCall | null> => {
      const path = `/v1/sessions/${sessionId}/runs?limit=${RUNS_LOOKED_AT}`;
      const runs = await api.get<Page<Run>>(path, signal);
      const run = runs.items.find((each) => each.usage.calls > 0);
      if (!run) return null;
      const calls = await api.get<{ items: Call[] }>(`/v1/runs/${run.id}/calls`, signal);
      const last = calls.items.at(-1);
      if (!last) return null;
      const sent = await api.get<CallParts>(`/v1/runs/${run.id}/calls/${last.call}`, signal);
      return new Map(
        sent.parts.filter((each) => each.included).map((each) => [each.id, each.sha256]),
      );
    },
  });

/** The session's agent: whose it is says whether its overrides can be changed. */
export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ["agents", agentId],
    queryFn: ({ signal }) => api.get<Agent>(`/v1/agents/${agentId}`, signal),
  });

export const contextKey = (sessionId: string) => key(sessionId);
