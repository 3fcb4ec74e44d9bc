import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { Page, Run } from "../../api/types.ts";
import { withQuery } from "../../lib/urls.ts";

const WAIT_SECONDS = 20;

const key = (sessionId: string) => ["sessions", sessionId, "runs"] as const;

export const runsQuery = (sessionId: string) =>
  pagesQuery<Run>([...key(sessionId), "list"], `/v1/sessions/${sessionId}/runs`);

/** The newest run; null: there has not been one. */
export const newestRunQuery = (sessionId: string) =>
  queryOptions({
    queryKey: [...key(sessionId), "newest"],
    queryFn: async ({ signal }) => {
      const path = withQuery(`/v1/sessions/${sessionId}/runs`, { limit: 1 });
      return (await api.get<Page<Run>>(path, signal)).items[0] ?? null;
    },
  });

export const runQuery = (sessionId: string, id: string) =>
  queryOptions({
    queryKey: [...key(sessionId), id],
    queryFn: ({ signal }) => api.get<Run>(`/v1/runs/${id}`, signal),
  });

/** The run as soon as it has ended, or after a while as it then stands. */
export const awaitRun = (id: string, signal: AbortSignal) =>
  api.get<Run>(withQuery(`/v1/runs/${id}`, { wait: WAIT_SECONDS }), signal);

export const startRun = (sessionId: string, message: string) =>
  api.post<Run>(`/v1/sessions/${sessionId}/runs`, { message });

export const cancelRun = (id: string) => api.delete<Run>(`/v1/runs/${id}`);
