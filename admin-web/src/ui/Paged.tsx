import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { classes } from "./classes.ts";
import { ErrorState, LoadingState } from "./states.tsx";
import style from "./Paged.module.css";

type Props<T> = {
  /** What the list holds: "sessions". */
  what: string;
  found: UseInfiniteQueryResult<InfiniteData<{ items: T[] }>>;
  /** Says why there is nothing, and what would bring something. */
  empty: ReactNode;
  children: (items: T[]) => ReactNode;
};

/** A list that comes page by page: on its way, failed, empty, or shown with a way to more. */
export function Paged<T>({ what, found, empty, children }: Props<T>) {
  const retry = (next: boolean) => () => void (next ? found.fetchNextPage() : found.refetch());
  if (found.isPending) return <LoadingState what={`the ${what}`} />;
  const failure = found.isError && (
    <ErrorState
      what={found.isFetchNextPageError ? `More ${what}` : `The ${what}`}
      error={found.error}
      onRetry={retry(found.isFetchNextPageError)}
    />
  );
  if (!found.data) return failure;
  const items = found.data.pages.flatMap((each) => each.items);
  return (
    <div
      className={classes(style.list, found.isPlaceholderData && style.old)}
      aria-busy={found.isPlaceholderData}
    >
      {items.length > 0 ? children(items) : empty}
      {failure}
      {found.hasNextPage && !found.isFetchNextPageError && (
        <Button className={style.more} onClick={retry(true)} disabled={found.isFetchingNextPage}>
          {found.isFetchingNextPage ? "Loading …" : `Show more ${what}`}
        </Button>
      )}
    </div>
  );
}
