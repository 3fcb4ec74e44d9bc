import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Standing } from "../../api/types.ts";

export const quotaQuery = queryOptions({
  queryKey: ["quota"],
  queryFn: ({ signal }) => api.get<Standing>("/v1/quota", signal),
});

export type Limits = { period: string; tokens: number | null; micro_dollars: number | null };

export const putQuota = (limits: Limits) => api.put<Standing>("/v1/quota", limits);
