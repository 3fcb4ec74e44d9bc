import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { User } from "../../api/types.ts";

export const usersQuery = () => pagesQuery<User>(["users", "list"], "/v1/users");

export const createUser = (wanted: { name: string; role: string }) =>
  api.post<User>("/v1/users", wanted);

export const changeUser = (id: string, wanted: { role?: string; disabled?: boolean }) =>
  api.patch<User>(`/v1/users/${id}`, wanted);
