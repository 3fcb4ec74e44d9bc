import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Part, Snapshot } from "../../api/types.ts";
import { Beside } from "../../ui/Beside.tsx";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { ConflictDialog } from "./ConflictDialog.tsx";
import type { TrySlot } from "./ContextPanel.tsx";
import { flagsOf } from "./flags.ts";
import { Footnote } from "./Footnote.tsx";
import { Heaviest } from "./Heaviest.tsx";
import { HistoryDialog } from "./HistoryDialog.tsx";
import { conflicts, type Sets, targetOf, wishOf } from "./model.ts";
import { Notices } from "./Notices.tsx";
import { PartList } from "./PartList.tsx";
import { PartSheet } from "./PartSheet.tsx";
import { lastCallQuery, setsQuery, type Where } from "./queries.ts";
import { rowsOf } from "./rows.ts";
import { SENDING_ORDER, sumsUnder, tokensUnder, wantedOf } from "./tokens.ts";
import { Toolbar } from "./Toolbar.tsx";
import { TotalsLine } from "./TotalsLine.tsx";
import { UnsavedBar } from "./UnsavedBar.tsx";
import { useLeaveGuard } from "./useLeaveGuard.ts";
import type { ListWish } from "./useListWish.ts";
import { useMayChangeAgent } from "./useMayChangeAgent.ts";
import { useSave } from "./useSave.ts";
import { useSelection } from "./useSelection.ts";
import { WindowBar } from "./WindowBar.tsx";
import style from "./ContextPanel.module.css";

type Props = {
  where: Where;
  snapshot: Snapshot;
  sets: Sets;
  outOfDate: { since: number; error: Error; retry: () => void } | null;
  wish: ListWish;
  onWish: (changes: Partial<ListWish>) => void;
  children: TrySlot;
};

/** The panel once there is something to show. */
export function PanelContent({ where, snapshot, sets, outOfDate, wish, onWish, children }: Props) {
  const client = useQueryClient();
  const lastCall = useQuery(lastCallQuery(where.sessionId)).data ?? null;
  const selection = useSelection(where, snapshot, sets);
  const { save, undo, canUndo, isConflict, forget } = useSave(where, (target, answer) => {
    selection.change({ type: "saved", target, answer });
  });
  const mayChangeAgent = useMayChangeAgent(where.agentId);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [edits, setEdits] = useState<ReadonlyMap<string, string>>(new Map());
  const [isTrying, setIsTrying] = useState(false);
  const [showsHistory, setShowsHistory] = useState(false);
  useLeaveGuard(selection.changes.size > 0);

  const { view } = selection;
  const parts = SENDING_ORDER.flatMap((name) => snapshot.groups[name].parts);
  const rows = rowsOf(snapshot, { ...wish, view, lastCall, opened });
  const shownParts = rows.flatMap((row) => (row.type === "part" ? [row] : []));
  const news =
    lastCall && rowsOf(snapshot, { ...wish, shown: "new", text: "", view, lastCall, opened });
  const suspended = snapshot.overrides.suspended ? view.saved : null;
  const flags = (part: Part, novelty: "new" | "changed" | null) =>
    flagsOf(part, view, novelty, suspended && targetOf(part.id) === "session" ? suspended : null);

  const openPart = parts.find((each) => each.id === wish.open);
  const openAt = shownParts.findIndex((row) => row.part.id === wish.open);
  const refused = (part: string) =>
    selection.refusals.map((each) => each.byPart.get(part)?.detail).find(Boolean);
  const canToggle = (part: string) => targetOf(part) !== null;
  const needsAgent = [...selection.changes.keys()].some((part) => targetOf(part) === "agent");
  const close = () => onWish({ open: null });
  const compare = async () => {
    await client.refetchQueries({ queryKey: setsQuery(where).queryKey });
  };

  return (
    <div className={isTrying ? style.split : undefined}>
      <div className={style.panel}>
        <TotalsLine
          snapshot={snapshot}
          sums={sumsUnder(view, snapshot)}
          isDraft={selection.changes.size > 0}
          wish={wish}
          onWish={onWish}
          onHistory={() => setShowsHistory(true)}
          onTry={() => setIsTrying(true)}
        />
        <WindowBar
          snapshot={snapshot}
          sums={sumsUnder(view, snapshot)}
          isDraft={selection.changes.size > 0}
        />
        <Notices snapshot={snapshot} outOfDate={outOfDate} onOpen={(open) => onWish({ open })} />
        {canUndo && selection.changes.size === 0 && (
          <Notice
            tone="good"
            title="Saved."
            actions={
              <>
                <Button small disabled={undo.isPending} onClick={() => undo.mutate()}>
                  Undo
                </Button>
                <Button small look="quiet" onClick={forget}>
                  Dismiss
                </Button>
              </>
            }
          >
            It acts from the next run. {undo.error && `Not undone: ${undo.error.message}`}
          </Notice>
        )}
        <Heaviest snapshot={snapshot} view={view} onOpen={(open) => onWish({ open })} />
        <Toolbar
          wish={wish}
          onWish={onWish}
          news={news && news.filter((row) => row.type === "part" && row.novelty !== null).length}
          found={shownParts.length}
        />
        <PartList
          rows={rows}
          view={view}
          flagsOf={(row) => flags(row.part, row.novelty)}
          refused={refused}
          canToggle={canToggle}
          onToggle={(part) => canToggle(part) && selection.toggle(part)}
          onOpen={(open) => onWish({ open })}
          onUnfold={(key) => setOpened(new Set([...opened, key]))}
        />
        {selection.changes.size > 0 && (
          <UnsavedBar
            selection={selection}
            isSaving={save.isPending}
            error={isConflict ? null : save.error}
            notAllowed={
              needsAgent && !mayChangeAgent
                ? "System and tool parts belong to another user's agent: they can be tried, not saved."
                : null
            }
            onSave={(reason) =>
              save.mutate(
                { base: selection.base ?? sets, draft: selection.draft, reason },
                { onError: () => void compare() },
              )
            }
            onTry={() => setIsTrying(true)}
          />
        )}
        <Footnote snapshot={snapshot} />
      </div>
      {isTrying && (
        <Beside title="Try" onClose={() => setIsTrying(false)}>
          {children({
            wish: wishOf(selection.draft, view.saved),
            candidates: parts.filter((each) => canToggle(each.id) && tokensUnder(view, each) > 0),
          })}
        </Beside>
      )}
      {openPart && (
        <PartSheet
          sessionId={where.sessionId}
          part={openPart}
          etags={`${sets.agent.etag ?? ""}${sets.session.etag ?? ""}${openPart.sha256}`}
          flags={flags(openPart, null)}
          wanted={wantedOf(view, openPart.id)}
          isOut={wantedOf(view, openPart.id).excluded || view.along.has(openPart.id)}
          canToggle={canToggle(openPart.id)}
          onToggle={() => selection.toggle(openPart.id)}
          edit={edits.get(openPart.id)}
          onEdit={(text) => setEdits(new Map([...edits, [openPart.id, text]]))}
          onReplace={(text) => {
            setEdits(new Map([...edits].filter(([part]) => part !== openPart.id)));
            selection.change({ type: "replace", part: openPart.id, text });
            close();
          }}
          onRestore={() => selection.change({ type: "restore", part: openPart.id })}
          onStep={
            openAt < 0
              ? null
              : (by) => {
                  const next = shownParts[openAt + by];
                  if (next) onWish({ open: next.part.id });
                }
          }
          onClose={close}
        />
      )}
      {showsHistory && (
        <HistoryDialog where={where} sets={sets} onClose={() => setShowsHistory(false)} />
      )}
      {isConflict && selection.base && (
        <ConflictDialog
          conflicts={conflicts(selection.base, sets, selection.draft)}
          onKeepMine={() => {
            selection.change({ type: "rebase" });
            save.reset();
          }}
          onTakeTheirs={() => {
            selection.change({ type: "discard" });
            save.reset();
          }}
        />
      )}
    </div>
  );
}
