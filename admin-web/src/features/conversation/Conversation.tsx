import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import { EmptyState, ErrorState } from "../../ui/states.tsx";
import { chunksBetween, placeOf } from "./chunks.ts";
import { MessageRow } from "./MessageRow.tsx";
import { chunkQuery } from "./queries.ts";
import style from "./Conversation.module.css";

const ESTIMATED_HEIGHT = 160;
const GAP = 12;
const NEAR_THE_END = 120; // pixels: who reads there wants to see what comes

type Props = {
  sessionId: string;
  /** How many messages there are. */
  count: number;
  /** The number of the message to begin at; null: at the end. */
  at: number | null;
};

/** All messages, of which those in sight are fetched and drawn; it opens at the newest. */
export function Conversation({ sessionId, count, at }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const start = at === null ? count - 1 : Math.min(Math.max(at, 1), count) - 1;
  // eslint-disable-next-line react-hooks/incompatible-library -- no compiler memoizes here
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATED_HEIGHT,
    initialOffset: Math.max(0, start) * (ESTIMATED_HEIGHT + GAP),
    gap: GAP,
    overscan: 3,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_THE_END,
  });
  const rows = list.getVirtualItems();
  const chunks = chunksBetween(rows[0]?.index ?? 0, rows.at(-1)?.index ?? -1);
  const found = useQueries({ queries: chunks.map((each) => chunkQuery(sessionId, each)) });
  const failed = found.find((each) => each.isError);

  if (count === 0)
    return (
      <EmptyState title="Nothing has been said yet">Write the first message below.</EmptyState>
    );

  return (
    <>
      {failed?.error && (
        <ErrorState
          what="Some messages"
          error={failed.error}
          onRetry={() => found.forEach((each) => each.isError && void each.refetch())}
        />
      )}
      <div ref={scroller} className={style.scroller} role="feed" aria-label="Messages" tabIndex={0}>
        <div className={style.all} style={{ height: list.getTotalSize() }}>
          {rows.map((row) => {
            const { chunk, at: place } = placeOf(row.index);
            const message = found[chunks.indexOf(chunk)]?.data?.[place];
            return (
              <article
                key={row.key}
                ref={list.measureElement}
                data-index={row.index}
                className={style.row}
                style={{ transform: `translateY(${row.start}px)` }}
                aria-posinset={row.index + 1}
                aria-setsize={count}
                aria-label={`Message ${row.index + 1}`}
                aria-busy={!message}
              >
                {message ? <MessageRow message={message} /> : <div className={style.blank} />}
              </article>
            );
          })}
        </div>
      </div>
    </>
  );
}
