import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Call, CallDiff, CallParts } from "../../api/types.ts";

/** Below the session's key, so that what a turn has brought is read anew with the rest. */
const key = (sessionId: string, runId: string) =>
  ["sessions", sessionId, "runs", runId, "calls"] as const;

export type Where = { readonly sessionId: string; readonly runId: string };

export const callsQuery = ({ sessionId, runId }: Where) =>
  queryOptions({
    queryKey: key(sessionId, runId),
    queryFn: async ({ signal }) =>
      (await api.get<{ items: Call[] }>(`/v1/runs/${runId}/calls`, signal)).items,
  });

export const callQuery = ({ sessionId, runId }: Where, call: number) =>
  queryOptions({
    queryKey: [...key(sessionId, runId), call],
    queryFn: ({ signal }) => api.get<CallParts>(`/v1/runs/${runId}/calls/${call}`, signal),
  });

export const diffQuery = ({ sessionId, runId }: Where, before: number, after: number) =>
  queryOptions({
    queryKey: [...key(sessionId, runId), before, after],
    queryFn: ({ signal }) =>
      api.get<CallDiff>(`/v1/runs/${runId}/calls/${before}/diff/${after}`, signal),
  });

export const callPath = ({ sessionId, runId }: Where, call: number): string =>
  `/sessions/${sessionId}/runs/${runId}/calls/${call}`;

export const diffPath = (where: Where, before: number, after: number): string =>
  `${callPath(where, before)}/diff/${after}`;
