import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Page, Try, TryDiff, TryWish } from "../../api/types.ts";
import { isFinal } from "./model.ts";

const WAIT_SECONDS = 20; // the server holds the request for so long, and answers when the try ends
const ASK_AGAIN_MS = 1000;

/** One try; while it goes on, it is asked for again until it has ended. */
export const tryQuery = (id: string) =>
  queryOptions({
    queryKey: ["tries", id],
    queryFn: ({ signal }) => api.get<Try>(`/v1/tries/${id}`, signal),
    staleTime: ({ state }) => (state.data && isFinal(state.data) ? Infinity : 0),
  });

/** The same try, in requests that wait: each answers as soon as the try has ended. */
export const tryEndQuery = (id: string) =>
  queryOptions({
    queryKey: ["tries", id, "end"],
    queryFn: async ({ signal, client }) => {
      const found = await api.get<Try>(`/v1/tries/${id}?wait=${WAIT_SECONDS}`, signal);
      if (isFinal(found)) {
        client.setQueryData(tryQuery(id).queryKey, found);
        void client.invalidateQueries({ queryKey: triesQuery(found.session_id).queryKey });
      }
      return found;
    },
    staleTime: ({ state }) => (state.data && isFinal(state.data) ? Infinity : 0),
    refetchInterval: ({ state }) => (state.data && isFinal(state.data) ? false : ASK_AGAIN_MS),
    retry: true, // a call goes on, whatever becomes of the connection
  });

/** The session's tries, newest first. */
export const triesQuery = (sessionId: string) =>
  infiniteQueryOptions({
    queryKey: ["sessions", sessionId, "tries"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const after = pageParam && `&after=${pageParam}`;
      return api.get<Page<Try>>(`/v1/sessions/${sessionId}/context/tries?limit=20${after}`, signal);
    },
    getNextPageParam: (last) => last.next,
  });

/** `once`: the same for a request that is sent again since its answer did not arrive. */
export const startTry = (sessionId: string, wish: TryWish, once: string): Promise<Try> =>
  api.post<Try>(`/v1/sessions/${sessionId}/context/try`, wish, {
    headers: { "Idempotency-Key": once },
  });

export const cancelTry = (id: string): Promise<Try> => api.delete<Try>(`/v1/tries/${id}`);

export const diffQuery = (id: string, other: string) =>
  queryOptions({
    queryKey: ["tries", id, "diff", other],
    queryFn: ({ signal }) => api.get<TryDiff>(`/v1/tries/${id}/diff?with=${other}`, signal),
  });
