import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { Key, Me, NewKey, Page, User } from "../../api/types.ts";

export const keysQuery = () => pagesQuery<Key>(["keys"], "/v1/keys");

/** Which key this session was begun with. */
export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => api.get<Me>("/v1/me", signal),
});

/** The people that a key can be made for, for the tenant's admins. */
export const peopleQuery = (isAdmin: boolean) =>
  queryOptions({
    queryKey: ["users", "people"],
    enabled: isAdmin,
    queryFn: async ({ signal }) => (await api.get<Page<User>>("/v1/users?limit=200", signal)).items,
  });

export type Wanted = { name: string; user_id?: string; expires_at?: string };

export const createKey = (wanted: Wanted) => api.post<NewKey>("/v1/keys", wanted);

export const revokeKey = (id: string) => api.delete<Key>(`/v1/keys/${id}`);
