import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Snapshot } from "../../api/types.ts";

/** What the next call of the session would send. */
export const snapshotQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["sessions", sessionId, "context"],
    queryFn: ({ signal }) => api.get<Snapshot>(`/v1/sessions/${sessionId}/context`, signal),
  });
