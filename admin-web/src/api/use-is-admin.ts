import { useSyncExternalStore } from "react";
import { signedIn } from "./signed-in.ts";

/** Whether the signed-in user manages the tenant. The server decides; this only hides what it refuses. */
export function useIsAdmin(): boolean {
  const state = useSyncExternalStore(signedIn.subscribe, signedIn.get);
  return "session" in state && state.session.role === "admin";
}
