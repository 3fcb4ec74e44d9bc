import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorState, LoadingState } from "./states.tsx";

type Props<T> = {
  /** What is asked for, with its article: "the agent". */
  what: string;
  found: UseQueryResult<T>;
  children: (data: T) => ReactNode;
};

/** One thing of the server's: on its way, failed, or shown; a later failure leaves it in sight. */
export function Loaded<T>({ what, found, children }: Props<T>) {
  if (found.isPending) return <LoadingState what={what} />;
  const failure = found.isError && (
    <ErrorState
      what={what.charAt(0).toUpperCase() + what.slice(1)}
      error={found.error}
      onRetry={() => void found.refetch()}
    />
  );
  return (
    <>
      {failure}
      {found.data !== undefined && children(found.data)}
    </>
  );
}
