import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { FileEntry, SessionFile } from "../../api/types.ts";
import { escapedPath } from "../../lib/urls.ts";

const key = (sessionId: string) => ["sessions", sessionId, "files"] as const;

export const filesQuery = (sessionId: string) =>
  pagesQuery<FileEntry>([...key(sessionId), "list"], `/v1/sessions/${sessionId}/files`);

export const fileQuery = (sessionId: string, path: string) =>
  queryOptions({
    queryKey: [...key(sessionId), "file", path],
    queryFn: ({ signal }) =>
      api.get<SessionFile>(`/v1/sessions/${sessionId}/files/${escapedPath(path)}`, signal),
  });
