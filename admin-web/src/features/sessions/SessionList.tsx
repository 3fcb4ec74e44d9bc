import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api } from "../../api/client.ts";
import type { Page, Session } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Button } from "../../ui/Button.tsx";
import { EmptyState, ErrorState, LoadingState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";

/** The sessions, a page at a time. */
export function SessionList() {
  const found = useInfiniteQuery({
    queryKey: ["sessions"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      api.get<Page<Session>>(`/v1/sessions${pageParam && `?after=${pageParam}`}`, signal),
    getNextPageParam: (last) => last.next,
  });
  if (found.isPending) return <LoadingState what="the sessions" />;
  if (found.isError)
    return (
      <ErrorState what="The sessions" error={found.error} onRetry={() => void found.refetch()} />
    );
  const sessions = found.data.pages.flatMap((each) => each.items);
  if (sessions.length === 0)
    return (
      <EmptyState title="No sessions yet">
        A session begins with hango chat, with an import, or with POST /v1/sessions.
      </EmptyState>
    );
  return (
    <>
      <Table caption="Sessions" head={["Title", "Messages", "Tokens", "Changed", "Open"]}>
        {sessions.map((each) => (
          <tr key={each.id}>
            <td>{each.title || "Untitled"}</td>
            <td>{whole(each.message_count)}</td>
            <td>{whole(each.message_tokens)}</td>
            <td>{when(each.updated_at)}</td>
            <td>
              <Link to={`/sessions/${each.id}/context`}>Context</Link>
            </td>
          </tr>
        ))}
      </Table>
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} disabled={found.isFetchingNextPage}>
          Show more
        </Button>
      )}
    </>
  );
}
