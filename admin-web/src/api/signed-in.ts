/** Who is signed in, as far as this page knows; told by the server's answers. */
import type { WebSession } from "./types.ts";

type State =
  | { readonly status: "unknown" | "out" }
  /** `expired`: was signed in, and the server no longer says so; what is on the page stays. */
  | { readonly status: "in" | "expired"; readonly session: WebSession };

let state: State = { status: "unknown" };
const listeners = new Set<() => void>();

export const signedIn = {
  get: (): State => state,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export const csrfToken = (): string | undefined =>
  "session" in state ? state.session.csrf_token : undefined;

export function markSignedIn(session: WebSession): void {
  change({ status: "in", session });
}

/** The server has answered 401, or the user has signed out. */
export function markSignedOut({ onPurpose = false } = {}): void {
  if ("session" in state && !onPurpose) change({ status: "expired", session: state.session });
  else change({ status: "out" });
}

function change(next: State): void {
  if (next.status === state.status && !("session" in next && next.status === "in")) return;
  state = next;
  listeners.forEach((each) => each());
}
