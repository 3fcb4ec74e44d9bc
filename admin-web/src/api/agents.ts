import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import type { Agent, Page } from "./types.ts";

const MOST = 200; // of one page; whoever has more agents finds the rest on their page

/** The agents that this user may use, newest first: for choices, and for the names of ids. */
export const knownAgentsQuery = queryOptions({
  queryKey: ["agents", "known"],
  staleTime: 60_000,
  queryFn: async ({ signal }) =>
    (await api.get<Page<Agent>>(`/v1/agents?limit=${MOST}`, signal)).items,
});

export const nameOfAgent = (agents: readonly Agent[] | undefined, id: string): string =>
  agents?.find((each) => each.id === id)?.name ?? id.slice(0, 8);
