import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Ablation, AblationPlan, AblationWish, Page } from "../../api/types.ts";

const ASK_AGAIN_MS = 1000;

const path = (sessionId: string) => `/v1/sessions/${sessionId}/context/ablations`;

/** What it would try and cost. Nothing is called. */
export const ablationPlanQuery = (sessionId: string, wish: AblationWish) =>
  queryOptions({
    queryKey: ["sessions", sessionId, "ablations", "plan", wish],
    queryFn: ({ signal }) => api.post<AblationPlan>(`${path(sessionId)}/preview`, wish, { signal }),
    enabled: wish.parts.length > 0,
    retry: false,
  });

/** One ablation, asked for again each second until it has ended. */
export const ablationQuery = (id: string) =>
  queryOptions({
    queryKey: ["ablations", id],
    queryFn: ({ signal }) => api.get<Ablation>(`/v1/ablations/${id}`, signal),
    refetchInterval: ({ state }) => (state.data?.status === "running" ? ASK_AGAIN_MS : false),
  });

/** The session's last ablations, newest first. */
export const ablationsQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ["sessions", sessionId, "ablations", "list"],
    queryFn: ({ signal }) => api.get<Page<Ablation>>(`${path(sessionId)}?limit=10`, signal),
  });

export const startAblation = (
  sessionId: string,
  wish: AblationWish,
  most: { micro_dollars: number } | null,
  once: string,
): Promise<Ablation> =>
  api.post<Ablation>(
    path(sessionId),
    { ...wish, max_cost: most },
    { headers: { "Idempotency-Key": once } },
  );

export const cancelAblation = (id: string): Promise<Ablation> =>
  api.delete<Ablation>(`/v1/ablations/${id}`);
