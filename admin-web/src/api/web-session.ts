import { queryOptions } from "@tanstack/react-query";
import { forgetDrafts } from "../lib/drafts.ts";
import { api, WEB_SESSION } from "./client.ts";
import { ApiProblem } from "./problem.ts";
import { markSignedIn, markSignedOut } from "./signed-in.ts";
import type { WebSession } from "./types.ts";

/** Whether the browser's cookie is one that the server knows; null: it is not. */
export const webSessionQuery = queryOptions({
  queryKey: ["web-session"],
  staleTime: Infinity,
  queryFn: async ({ signal }): Promise<WebSession | null> => {
    try {
      const session = await api.get<WebSession>(WEB_SESSION, signal);
      markSignedIn(session);
      return session;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
});

/** Trade an API key for the cookie; the key itself is kept nowhere. */
export async function signIn(key: string): Promise<WebSession> {
  const session = await api.post<WebSession>(WEB_SESSION, { key });
  markSignedIn(session);
  return session;
}

export async function signOut(): Promise<void> {
  await api.delete(WEB_SESSION);
  forgetDrafts();
  markSignedOut({ onPurpose: true });
}
