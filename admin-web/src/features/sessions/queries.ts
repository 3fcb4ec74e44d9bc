import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { Imported, ListedSession, Session } from "../../api/types.ts";
import { asQuery, type Filters } from "./filters.ts";

export const sessionsQuery = (filters: Filters) =>
  pagesQuery<ListedSession>(["sessions", "list"], "/v1/sessions", asQuery(filters));

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["sessions", id, "session"],
    queryFn: ({ signal }) => api.get<Session>(`/v1/sessions/${id}`, signal),
  });

export const createSession = (wanted: { agent_id: string; title?: string }) =>
  api.post<Session>("/v1/sessions", wanted);

export const changeSession = (id: string, wanted: { title?: string; archived?: boolean }) =>
  api.patch<Session>(`/v1/sessions/${id}`, wanted);

export const deleteSession = (id: string) => api.delete<undefined>(`/v1/sessions/${id}`);

/** Several files are a session's main file and those of its helpers. */
export function importFiles(files: readonly File[]): Promise<Imported> {
  const form = new FormData();
  for (const each of files) form.append("file", each);
  return api.post<Imported>("/v1/imports", form);
}
