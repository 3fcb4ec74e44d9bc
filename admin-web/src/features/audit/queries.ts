import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagesQuery } from "../../api/pages.ts";
import type { AuditEvent, Page, User } from "../../api/types.ts";

export const auditQuery = (action: string) =>
  pagesQuery<AuditEvent>(["audit"], "/v1/audit", { action });

/** The names of the tenant's people, by id, for its admins. */
export const namesQuery = (isAdmin: boolean) =>
  queryOptions({
    queryKey: ["users", "names"],
    enabled: isAdmin,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const found = await api.get<Page<User>>("/v1/users?limit=200", signal);
      return new Map(found.items.map((each) => [each.id, each.name]));
    },
  });
