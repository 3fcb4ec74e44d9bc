import type { components } from "./schema.d.ts";

export type Fault = { at: string; code: string; detail: string };
export type ProblemBody = components["schemas"]["Problem"];

/** An answer that is a problem (RFC 9457): what went wrong, in words that say what to do. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  readonly status: number;
  /** Stable; /docs/errors lists them all. */
  readonly code: string;
  readonly title: string;
  readonly faults: readonly Fault[];
  readonly requestId: string | undefined;
  /** Seconds after which asking again makes sense, where the server says so. */
  readonly retryAfter: number | undefined;
  readonly body: ProblemBody;

  constructor(status: number, body: ProblemBody, retryAfter?: number) {
    super(body.detail ?? body.title ?? `The server answered ${status}.`);
    this.status = status;
    this.code = body.code ?? "unknown";
    this.title = body.title ?? "The request failed";
    this.faults = (body.errors ?? []).map(({ at = "", code = "", detail = "" }) => ({
      at,
      code,
      detail,
    }));
    this.requestId = body.request_id;
    this.retryAfter = retryAfter;
    this.body = body;
  }
}

/** The server could not be reached at all. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor(cause: unknown) {
    super("hango cannot be reached. Is it running, and is the network up?", { cause });
  }
}

export const hasCode = (error: unknown, code: string): error is ApiProblem =>
  error instanceof ApiProblem && error.code === code;

/** Whether the same request may well succeed a moment later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof Unreachable ||
  (error instanceof ApiProblem && (error.status >= 500 || error.status === 429));
