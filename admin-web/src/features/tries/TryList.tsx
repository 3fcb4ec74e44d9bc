import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Try } from "../../api/types.ts";
import { dollars } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { classes } from "../../ui/classes.ts";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import { changesOf, isFinal, STATUS_WORDS } from "./model.ts";
import { triesQuery } from "./queries.ts";
import style from "./TryPanel.module.css";

type Props = {
  sessionId: string;
  shown: string | null;
  chosen: readonly string[];
  onShow: (id: string) => void;
  onChoose: (id: string) => void;
  actions: ReactNode;
};

/** The session's tries, newest first: one can be looked at, two can be compared. */
export function TryList({ sessionId, shown, chosen, onShow, onChoose, actions }: Props) {
  const found = useInfiniteQuery(triesQuery(sessionId));
  if (found.isPending) return <LoadingState what="the tries" />;
  if (found.isError)
    return <ErrorState what="The tries" error={found.error} onRetry={() => void found.refetch()} />;
  const tries = found.data.pages.flatMap((each) => each.items);
  if (tries.length === 0) return <p className={style.soft}>This session has no tries yet.</p>;
  return (
    <section aria-label="Tries of this session">
      <header className={style.listHead}>
        <h3>Tries</h3>
        {tries.length > 1 && actions}
      </header>
      <ul className={style.list}>
        {tries.map((each) => (
          <li key={each.id} className={classes(style.item, each.id === shown && style.shown)}>
            <input
              type="checkbox"
              aria-label={`Compare the try of ${when(each.created_at)}`}
              checked={chosen.includes(each.id)}
              disabled={!isFinal(each)}
              onChange={() => onChoose(each.id)}
            />
            <button
              type="button"
              className={style.open}
              aria-current={each.id === shown || undefined}
              onClick={() => onShow(each.id)}
            >
              <span>
                <Badge tone={toneOf(each)}>{STATUS_WORDS[each.status] ?? each.status}</Badge>{" "}
                {when(each.created_at)} {each.cost && `· ${dollars(each.cost.micro_dollars)}`}
              </span>
              <span className={style.soft}>{changesOf(each)}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <Button
          small
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          Show older
        </Button>
      )}
    </section>
  );
}

function toneOf(each: Try): "good" | "bad" | "plain" | "info" {
  if (!isFinal(each)) return "info";
  if (each.status === "succeeded") return "good";
  return each.status === "cancelled" ? "plain" : "bad";
}
