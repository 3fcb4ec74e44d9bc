import type { Snapshot } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { shortName } from "./flags.ts";
import style from "./ContextPanel.module.css";

type Props = {
  snapshot: Snapshot;
  /** Since when the figures could not be read anew, with the reason. */
  outOfDate: { since: number; error: Error; retry: () => void } | null;
  onOpen: (part: string) => void;
};

/** What is out of the ordinary. Silent when nothing is. */
export function Notices({ snapshot, outOfDate, onOpen }: Props) {
  const { overrides, totals } = snapshot;
  const at = overrides.suspended_at;
  return (
    <div className={style.notices}>
      {outOfDate && (
        <Notice
          tone="warn"
          title={`As of ${when(new Date(outOfDate.since).toISOString())}.`}
          actions={
            <Button small onClick={outOfDate.retry}>
              Read again
            </Button>
          }
        >
          It could not be read anew: {outOfDate.error.message}
        </Notice>
      )}
      {overrides.suspended && (
        <Notice
          tone="bad"
          title="The session's overrides are suspended."
          actions={
            at && (
              <Button small onClick={() => onOpen(at)}>
                Show {shortName(at)}
              </Button>
            )
          }
        >
          The next call is sent without them: {overrides.suspended}
        </Notice>
      )}
      {!snapshot.sendable && (
        <Notice tone="warn" title="There is nothing to send yet.">
          The session has no message that a model could answer.
        </Notice>
      )}
      {snapshot.would_compact && (
        <Notice tone="warn" title="The next call would compact.">
          The request of {whole(totals.after)} tokens has reached {whole(totals.trigger)}: older
          messages would be summed up first.
        </Notice>
      )}
      {overrides.stale > 0 && (
        <Notice tone="warn" title={`${whole(overrides.stale)} stale.`}>
          Overrides of parts that are not there do nothing until their part is back.
        </Notice>
      )}
      {(overrides.base_changed ?? 0) > 0 && (
        <Notice tone="warn" title={`${whole(overrides.base_changed ?? 0)} on a changed base.`}>
          What these replacements stand for is no longer what it was when they were written.
        </Notice>
      )}
      {!snapshot.model_known && (
        <Notice tone="warn" title={`${snapshot.model} is not in the model catalogue.`}>
          Its window and its way of counting are guesses.
        </Notice>
      )}
    </div>
  );
}
