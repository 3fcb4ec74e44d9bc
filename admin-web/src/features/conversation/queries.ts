import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Message, Page } from "../../api/types.ts";
import { withQuery } from "../../lib/urls.ts";
import { CHUNK, firstOf } from "./chunks.ts";

export const messagesKey = (sessionId: string) => ["sessions", sessionId, "messages"] as const;

/** Some neighbouring messages. Stored messages do not change; the last chunk gets more of them. */
export const chunkQuery = (sessionId: string, chunk: number) =>
  queryOptions({
    queryKey: [...messagesKey(sessionId), chunk],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const path = `/v1/sessions/${sessionId}/messages`;
      const query = { from: firstOf(chunk), limit: CHUNK };
      return (await api.get<Page<Message>>(withQuery(path, query), signal)).items;
    },
  });
