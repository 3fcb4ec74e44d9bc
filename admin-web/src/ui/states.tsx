import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Notice } from "./Notice.tsx";
import { Spinner } from "./Spinner.tsx";
import style from "./states.module.css";

/** Nothing is there, and that is as it should be: says why, and what would bring something. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={style.empty}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
    </div>
  );
}

/** A page or panel whose data is on its way. */
export function LoadingState({ what }: { what: string }) {
  return (
    <div className={style.loading}>
      <Spinner label={`Loading ${what} …`} />
    </div>
  );
}

type ErrorProps = { error: Error; what: string; onRetry?: (() => void) | undefined };

/** Data that could not be had: the server's own words, its request's id, and another attempt. */
export function ErrorState({ error, what, onRetry }: ErrorProps) {
  const retry = onRetry && (
    <Button small onClick={onRetry}>
      Try again
    </Button>
  );
  return (
    <Notice tone="bad" title={`${what} could not be loaded.`} actions={retry}>
      {error.message}
      <RequestId error={error} />
    </Notice>
  );
}

/** What finds the failure in the server's log, where the error carries it. */
export function RequestId({ error }: { error: Error }) {
  const id = "requestId" in error && typeof error.requestId === "string" ? error.requestId : null;
  return id && <span className={style.request}> Request {id}.</span>;
}
