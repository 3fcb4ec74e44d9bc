import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { PastSet } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { EmptyState, ErrorState, LoadingState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { Tabs } from "../../ui/Tabs.tsx";
import { shortName } from "./flags.ts";
import type { Sets, Target } from "./model.ts";
import { contextKey, historyQuery, restoreSet, setsQuery, type Where } from "./queries.ts";
import style from "./ContextPanel.module.css";

type Props = { where: Where; sets: Sets; onClose: () => void };

/** What was saved before, and the way back to it. */
export function HistoryDialog({ where, sets, onClose }: Props) {
  const versions = (target: Target) => <Versions target={target} where={where} sets={sets} />;
  return (
    <Dialog title="Saved before" shape="sheet" onClose={onClose}>
      <Tabs
        label="Whose overrides"
        tabs={[
          { id: "session", name: "This session", content: versions("session") },
          { id: "agent", name: "The agent, in all its sessions", content: versions("agent") },
        ]}
      />
    </Dialog>
  );
}

function Versions({ target, where, sets }: { target: Target; where: Where; sets: Sets }) {
  const client = useQueryClient();
  const found = useQuery(historyQuery(target, where));
  const restore = useMutation({
    mutationFn: (version: number) => restoreSet(target, where, version, sets[target].etag),
    onSuccess: (answer) => {
      client.setQueryData(setsQuery(where).queryKey, (now) => now && { ...now, [target]: answer });
    },
    onSettled: () => client.invalidateQueries({ queryKey: contextKey(where.sessionId) }),
  });
  if (found.isPending) return <LoadingState what="the history" />;
  if (found.isError)
    return (
      <ErrorState what="The history" error={found.error} onRetry={() => void found.refetch()} />
    );
  const { items } = found.data;
  if (items.length === 0)
    return <EmptyState title="Nothing was saved yet">Each save adds a version here.</EmptyState>;
  return (
    <div className={style.stack}>
      {restore.error && (
        <Notice tone="bad" title="Not restored.">
          {restore.error.message}
        </Notice>
      )}
      <Table
        caption="Versions, newest first"
        head={["Version", "Saved", "What it does", "Reason", "Restore"]}
      >
        {items.map((each, index) => (
          <tr key={each.version}>
            <td>{each.version}</td>
            <td>{when(each.created_at)}</td>
            <td>{inWords(each)}</td>
            <td>{each.reason ?? "–"}</td>
            <td>
              {index === 0 ? (
                "in force"
              ) : (
                <Button
                  small
                  disabled={restore.isPending}
                  aria-label={`Restore version ${each.version}`}
                  onClick={() => restore.mutate(each.version)}
                >
                  Restore
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

const NAMED = 4; // parts that are named before the rest is only counted

function inWords({ overrides }: PastSet): string {
  if (overrides.length === 0) return "nothing";
  const names = overrides
    .slice(0, NAMED)
    .map(
      ({ part, action }) => `${shortName(part)} ${action === "exclude" ? "left out" : "replaced"}`,
    );
  const more = overrides.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${whole(more)} more` : "");
}
