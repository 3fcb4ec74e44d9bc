import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Ablation, AblationRow } from "../../api/types.ts";
import { dollars, percent, signed, whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Table } from "../../ui/Table.tsx";
import { similarityOf, stateOf, verdictOf } from "./ablation.ts";
import { ablationQuery, cancelAblation } from "./ablation-queries.ts";
import style from "./TryPanel.module.css";

type Props = { shown: Ablation; onShowTry: (id: string) => void };

const COLUMNS = ["Left out", "The answer", "Alike", "Tokens", "Cost", "State"];

/** What each part is good for: how the answer changes when it is left out. */
export function AblationTable({ shown, onShowTry }: Props) {
  const { progress, noise, error, cost } = shown;
  const done = `${whole(progress.done)} of ${whole(progress.total)} calls`;
  return (
    <section className={style.panel} aria-label="Ablation">
      <div className={style.going}>
        <progress aria-label="Calls that have ended" max={progress.total} value={progress.done} />
        <span role="status" aria-live="polite">
          {done}, {dollars(cost.micro_dollars)}
          {shown.status !== "running" && `: ${shown.status}`}
        </span>
        {shown.status === "running" && <Cancel shown={shown} />}
      </div>
      {error && (
        <Notice tone="warn" title="Not all calls were made.">
          {error.message}
        </Notice>
      )}
      {noise && (
        <p className={style.soft}>
          By chance alone two answers to the same request were {percent(noise.similarity)} alike.
        </p>
      )}
      <Table caption="Answers without each part" head={COLUMNS}>
        {[...shown.baselines, ...shown.parts].map((row, index) => (
          <Row key={row.part ?? `baseline ${index}`} row={row} onShowTry={onShowTry} />
        ))}
      </Table>
    </section>
  );
}

function Row({ row, onShowTry }: { row: AblationRow; onShowTry: (id: string) => void }) {
  const verdict = verdictOf(row);
  const { try_id, tokens, cost } = row;
  return (
    <tr>
      <td>
        {row.part ?? "nothing"}
        {row.added.length > 0 && (
          <div className={style.soft}>with {row.added.map((each) => each.part).join(", ")}</div>
        )}
        {row.same_as !== null && <div className={style.soft}>same call as {row.same_as}</div>}
      </td>
      <td>{verdict ? <Badge tone={verdict.tone}>{verdict.text}</Badge> : "–"}</td>
      <td>{similarityOf(row)}</td>
      <td>{tokens.after === null ? "–" : signed(tokens.after - tokens.before)}</td>
      <td>{cost ? dollars(cost.micro_dollars) : "–"}</td>
      <td>
        {try_id !== null && row.state === "succeeded" ? (
          <Button small look="quiet" onClick={() => onShowTry(try_id)}>
            Show the answer
          </Button>
        ) : (
          stateOf(row)
        )}
      </td>
    </tr>
  );
}

function Cancel({ shown }: { shown: Ablation }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelAblation(shown.id),
    onSuccess: (now) => client.setQueryData(ablationQuery(shown.id).queryKey, now),
  });
  const isAsked = cancel.isPending || shown.cancel_requested_at !== null;
  return (
    <Button small look="danger" disabled={isAsked} onClick={() => cancel.mutate()}>
      {isAsked ? "Cancelling …" : "Cancel"}
    </Button>
  );
}
