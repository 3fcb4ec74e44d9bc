import { ApiProblem, type ProblemBody, Unreachable } from "./problem.ts";
import { csrfToken, markSignedIn, markSignedOut, signedIn } from "./signed-in.ts";
import type { WebSession } from "./types.ts";

export const WEB_SESSION = "/v1/web-session";

export type Versioned<T> = { value: T; etag: string | null };

type Options = {
  signal?: AbortSignal | undefined;
  /** The version that a change is meant for. */
  ifMatch?: string | null | undefined;
  headers?: Record<string, string>;
};

/** The public HTTP API, with the cookie of the signed-in user. Nothing else calls `fetch`. */
export const api = {
  get: <T>(path: string, signal?: AbortSignal) => value<T>("GET", path, undefined, { signal }),
  post: <T>(path: string, body?: unknown, options?: Options) =>
    value<T>("POST", path, body, options),
  put: <T>(path: string, body: unknown, options?: Options) => value<T>("PUT", path, body, options),
  patch: <T>(path: string, body: unknown, options?: Options) =>
    value<T>("PATCH", path, body, options),
  delete: <T>(path: string, options?: Options) => value<T>("DELETE", path, undefined, options),

  /** With the ETag, for what is changed later. */
  getVersioned: <T>(path: string, signal?: AbortSignal) =>
    versioned<T>("GET", path, undefined, { signal }),
  putVersioned: <T>(path: string, body: unknown, options?: Options) =>
    versioned<T>("PUT", path, body, options),
  postVersioned: <T>(path: string, body: unknown, options?: Options) =>
    versioned<T>("POST", path, body, options),
};

async function value<T>(
  method: string,
  path: string,
  body?: unknown,
  options?: Options,
): Promise<T> {
  return (await versioned<T>(method, path, body, options)).value;
}

async function versioned<T>(
  method: string,
  path: string,
  body: unknown,
  options: Options = {},
): Promise<Versioned<T>> {
  const response = await answered(method, path, body, options);
  const etag = response.headers.get("etag");
  // What the server answers is what its OpenAPI document says; the caller names the type.
  return { value: (await parsed(response)) as T, etag };
}

async function answered(
  method: string,
  path: string,
  body: unknown,
  options: Options,
): Promise<Response> {
  const first = await sent(method, path, body, options);
  if (first.ok) return first;
  if (first.status === 401) markSignedOut();
  const problem = await problemOf(first);
  if (problem.code !== "cross_site" || !(await hasNewToken())) throw problem;
  const second = await sent(method, path, body, options);
  if (second.ok) return second;
  throw await problemOf(second);
}

function sent(
  method: string,
  path: string,
  body: unknown,
  { signal, ifMatch, headers: more }: Options,
): Promise<Response> {
  const headers = new Headers(more);
  if (method !== "GET") headers.set("X-CSRF-Token", csrfToken() ?? "");
  const asForm = body instanceof FormData; // the browser then sets the type, with its boundary
  if (body !== undefined && !asForm) headers.set("Content-Type", "application/json");
  if (ifMatch) headers.set("If-Match", ifMatch);
  return send(path, {
    method,
    headers,
    credentials: "same-origin",
    ...(body === undefined ? {} : { body: asForm ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/**
 * Whether the same user has signed in anew, in another tab: the cookie is then another, and with it
 * the token that goes with changes.
 */
async function hasNewToken(): Promise<boolean> {
  const state = signedIn.get();
  const response = await send(WEB_SESSION, { credentials: "same-origin" });
  if (!response.ok || !("session" in state)) return false;
  // What the server answers here is what its OpenAPI document says.
  const now = (await parsed(response)) as WebSession;
  const { session } = state;
  if (now.user.id !== session.user.id || now.csrf_token === session.csrf_token) return false;
  markSignedIn(now);
  return true;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable(error);
  }
}

async function parsed(response: Response): Promise<unknown> {
  const text = await response.text();
  return text === "" ? undefined : (JSON.parse(text) as unknown);
}

/** Also of an answer that is no problem document: a proxy's page of HTML, say. */
async function problemOf(response: Response): Promise<ApiProblem> {
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
  let body: ProblemBody = {};
  try {
    // hango's problems have this shape; anything else leaves every field undefined.
    body = (await parsed(response)) ?? {};
  } catch {
    // Not JSON: the status alone has to do.
  }
  return new ApiProblem(response.status, body, retryAfter);
}
