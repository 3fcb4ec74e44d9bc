import type { Snapshot } from "../../api/types.ts";
import { signed, whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import type { Sums } from "./tokens.ts";
import style from "./ContextPanel.module.css";

type Props = {
  snapshot: Snapshot;
  sums: Sums;
  isDraft: boolean;
  injections: boolean;
  onInjections: (gather: boolean) => void;
  onHistory: () => void;
  onTry: () => void;
};

/** The whole request in one line: before overrides, as it would be sent, and under the draft. */
export function TotalsLine({ snapshot, sums, isDraft, injections, ...on }: Props) {
  const { totals, overrides } = snapshot;
  const saved = totals.after - totals.before;
  return (
    <header className={style.head}>
      <div className={style.sum}>
        <h1>Context</h1>
        <p className={style.total}>
          <strong>{whole(totals.after)}</strong> tokens{" "}
          {saved !== 0 && (
            <span>
              · <s>{whole(totals.before)}</s> before overrides ({signed(saved)})
            </span>
          )}
          {isDraft && (
            <span className={style.draft}>
              {" "}
              · ≈ <strong>{whole(sums.total)}</strong> with what is not saved
            </span>
          )}
        </p>
        <p className={style.model}>
          <span>{snapshot.model}</span>
          <span>
            {totals.remaining < 0
              ? `${whole(-totals.remaining)} over the window`
              : `${whole(totals.remaining)} left of ${whole(totals.window)}`}
          </span>
          <Badge>{totals.counted === "provider" ? "provider's count" : "estimate"}</Badge>
          {overrides.active > 0 && (
            <Badge tone="info" title="Saved overrides that act on the next call">
              {whole(overrides.active)} {overrides.active === 1 ? "override" : "overrides"} active
            </Badge>
          )}
        </p>
      </div>
      <div className={style.actions}>
        <label className={style.switch}>
          <input
            type="checkbox"
            checked={injections}
            onChange={(event) => on.onInjections(event.target.checked)}
          />
          Gather injections
        </label>
        <Button onClick={on.onHistory}>History</Button>
        <Button look={isDraft ? "plain" : "primary"} onClick={on.onTry}>
          Try
        </Button>
      </div>
    </header>
  );
}
