/** Tries in words: where they stand, why they failed, what to do. No DOM, no network. */
import { ApiProblem, Unreachable } from "../../api/problem.ts";
import type { Try } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";

const FINAL = ["succeeded", "failed", "timed_out", "cancelled"];

export const isFinal = ({ status }: Pick<Try, "status">): boolean => FINAL.includes(status);

/** How long the spinner says it has taken, from when this browser has known of it. */
export const STATUS_WORDS: Record<string, string> = {
  queued: "Waits for a worker",
  running: "The model answers",
  succeeded: "Answered",
  failed: "Failed",
  timed_out: "Timed out",
  cancelled: "Cancelled",
};

export type Failure = { title: string; detail: string; again: boolean };

/** Why an accepted try has no answer, and whether another one makes sense. */
export function failureOf({ status, error }: Pick<Try, "status" | "error">): Failure | null {
  if (status === "cancelled")
    return { title: "Cancelled.", detail: "There is no answer.", again: true };
  if (status === "timed_out")
    return {
      title: "The model did not answer in time.",
      detail: error?.message ?? "Leave more out, or try again later.",
      again: true,
    };
  if (status !== "failed") return null;
  if (error?.code === "worker_lost")
    return {
      title: "The worker was lost.",
      detail: "It ended in the middle of the call, which is not repeated. It may have been billed.",
      again: true,
    };
  return {
    title: "The call failed.",
    detail: error?.message ?? error?.code ?? "The server says no more.",
    again: error?.retryable ?? false,
  };
}

/** Why a try was not accepted, and when it makes sense to ask again. */
export function refusalOf(error: Error): Failure {
  if (error instanceof Unreachable)
    return {
      title: "hango cannot be reached.",
      detail: "Nothing is lost; try again.",
      again: true,
    };
  if (!(error instanceof ApiProblem))
    return { title: "Not tried.", detail: error.message, again: true };
  switch (error.status) {
    case 402: {
      const { left, resets_at } = error.body;
      const tokens = left?.tokens == null ? "" : ` ${whole(left.tokens)} tokens are left.`;
      const next = resets_at ? ` The next period begins ${when(resets_at)}.` : "";
      return { title: error.title + ".", detail: `${error.message}${tokens}${next}`, again: false };
    }
    case 429: {
      const seconds = error.retryAfter ? ` Try again in ${whole(error.retryAfter)} s.` : "";
      return { title: "Too many requests.", detail: `${error.message}${seconds}`, again: true };
    }
    case 503:
      return {
        title: "hango is not ready.",
        detail: `${error.message} Nothing was begun.`,
        again: true,
      };
    default: {
      const faults = error.faults.map(({ at, detail }) => `${at}: ${detail}`).join(" ");
      return { title: `${error.title}.`, detail: faults || error.message, again: false };
    }
  }
}

/** What a try changed, in a few words. */
export function changesOf({ excluded, replaced, added }: Try): string {
  const said = [
    excluded.length > 0 && `${whole(excluded.length)} left out`,
    replaced.length > 0 && `${whole(replaced.length)} replaced`,
    added.length > 0 && `${whole(added.length)} along with them`,
  ].filter(Boolean);
  return said.length > 0 ? said.join(", ") : "the request as it is";
}
