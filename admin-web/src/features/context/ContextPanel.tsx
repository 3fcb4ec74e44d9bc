import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Part } from "../../api/types.ts";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import type { Wish } from "./model.ts";
import { PanelContent } from "./PanelContent.tsx";
import { setsQuery, snapshotQuery } from "./queries.ts";
import { useListWish } from "./useListWish.ts";

export type TrySlot = (selection: {
  wish: Wish;
  /** The parts that are sent and could be left out. */
  candidates: readonly Part[];
}) => ReactNode;

type Props = {
  sessionId: string;
  /** Draws what tries the selection; features do not know each other. */
  children: TrySlot;
};

/** What the next model call would send, part by part, and what to change about it. */
export function ContextPanel({ sessionId, children }: Props) {
  const { wish, set } = useListWish();
  const snapshot = useQuery(snapshotQuery(sessionId, wish));
  const where = { sessionId, agentId: snapshot.data?.agent_id ?? "" };
  const sets = useQuery({ ...setsQuery(where), enabled: snapshot.isSuccess });

  const failed = [snapshot, sets].find((each) => each.isError);
  const retry = () => void failed?.refetch();
  if (!snapshot.data || !sets.data) {
    return failed?.error ? (
      <ErrorState what="The context" error={failed.error} onRetry={retry} />
    ) : (
      <LoadingState what="the context" />
    );
  }
  const outOfDate = failed?.error && { since: failed.dataUpdatedAt, error: failed.error, retry };
  return (
    <PanelContent
      key={sessionId}
      where={where}
      snapshot={snapshot.data}
      sets={sets.data}
      outOfDate={outOfDate ?? null}
      wish={wish}
      onWish={set}
    >
      {children}
    </PanelContent>
  );
}
