import { type InfiniteData, infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { type Query, withQuery } from "../lib/urls.ts";
import { api } from "./client.ts";
import type { Page } from "./types.ts";

/** A list that the server gives page by page, for `useInfiniteQuery`. */
export const pagesQuery = <T>(key: readonly unknown[], path: string, query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: [...key, query],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      api.get<Page<T>>(withQuery(path, { ...query, after: pageParam }), signal),
    getNextPageParam: (last) => last.next,
    // While another filter is applied, what the one before it found stays in sight.
    placeholderData: keepPreviousData<InfiniteData<Page<T>, string>>,
  });
