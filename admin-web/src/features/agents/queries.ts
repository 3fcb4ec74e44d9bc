import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type {
  Agent,
  FileEntry,
  SessionFile,
  Skill,
  SkillEntry,
  StoredSet,
} from "../../api/types.ts";
import { escapedPath } from "../../lib/urls.ts";

const key = (id: string, ...rest: string[]) => ["agents", id, "page", ...rest];

export const agentsQuery = (query: string) =>
  pagesQuery<Agent>(["agents", "list"], "/v1/agents", { query: query.trim() });

export const readAgent = (id: string, signal?: AbortSignal) =>
  api.getVersioned<Agent>(`/v1/agents/${id}`, signal);

/** With the ETag that a change of it is meant for. */
export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: key(id, "agent"),
    queryFn: ({ signal }) => readAgent(id, signal),
  });

export const overridesQuery = (id: string) =>
  queryOptions({
    queryKey: key(id, "overrides"),
    queryFn: ({ signal }) => api.get<StoredSet>(`/v1/agents/${id}/context-overrides`, signal),
  });

export const memoryQuery = (id: string) =>
  pagesQuery<FileEntry>(key(id, "memory"), `/v1/agents/${id}/memory`);

export const memoryFileQuery = (id: string, path: string) =>
  queryOptions({
    queryKey: key(id, "memory", path),
    queryFn: ({ signal }) =>
      api.get<SessionFile>(`/v1/agents/${id}/memory/${escapedPath(path)}`, signal),
  });

export const skillsQuery = (id: string) =>
  pagesQuery<SkillEntry>(key(id, "skills"), `/v1/agents/${id}/skills`);

export const skillQuery = (id: string, name: string) =>
  queryOptions({
    queryKey: key(id, "skills", name),
    queryFn: ({ signal }) =>
      api.get<Skill>(`/v1/agents/${id}/skills/${encodeURIComponent(name)}`, signal),
  });

export type Changes = {
  name?: string;
  model?: string;
  system_prompt?: string | string[];
  max_tokens?: number;
  shared?: boolean;
};

export const createAgent = (wanted: Changes & { name: string }) =>
  api.post<Agent>("/v1/agents", wanted);

export const changeAgent = (id: string, wanted: Changes, ifMatch: string | null) =>
  api.patch<Agent>(`/v1/agents/${id}`, wanted, { ifMatch });

export const deleteAgent = (id: string, ifMatch: string | null) =>
  api.delete<undefined>(`/v1/agents/${id}`, { ifMatch });
