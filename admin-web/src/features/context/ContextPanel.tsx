import { useQuery } from "@tanstack/react-query";
import { whole } from "../../lib/numbers.ts";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import { snapshotQuery } from "./queries.ts";

/** What the next model call would send, part by part. */
export function ContextPanel({ sessionId }: { sessionId: string }) {
  const found = useQuery(snapshotQuery(sessionId));
  if (found.isPending) return <LoadingState what="the context" />;
  if (found.isError)
    return (
      <ErrorState what="The context" error={found.error} onRetry={() => void found.refetch()} />
    );
  return (
    <>
      <h1>Context</h1>
      <p>{whole(found.data.totals.after)} tokens</p>
    </>
  );
}
