import type { ReactNode } from "react";
import type { Snapshot } from "../../api/types.ts";
import { signed, whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import type { Sums } from "./tokens.ts";
import type { ListWish } from "./useListWish.ts";
import style from "./ContextPanel.module.css";

type Props = {
  snapshot: Snapshot;
  sums: Sums;
  isDraft: boolean;
  wish: Pick<ListWish, "injections" | "count">;
  onWish: (changes: Partial<ListWish>) => void;
  onHistory: () => void;
  onTry: () => void;
};

/** The whole request in one line: before overrides, as it would be sent, and under the draft. */
export function TotalsLine({ snapshot, sums, isDraft, wish, onWish, ...on }: Props) {
  const { totals, overrides } = snapshot;
  const saved = totals.after - totals.before;
  return (
    <header className={style.head}>
      <div className={style.sum}>
        <h2>Context</h2>
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
        <Switch checked={wish.injections} onChange={(injections) => onWish({ injections })}>
          Gather injections
        </Switch>
        <Switch checked={wish.count} onChange={(count) => onWish({ count })}>
          Provider&apos;s count
        </Switch>
        <Button onClick={on.onHistory}>History</Button>
        <Button look={isDraft ? "plain" : "primary"} onClick={on.onTry}>
          Try
        </Button>
      </div>
    </header>
  );
}

type SwitchProps = { checked: boolean; onChange: (on: boolean) => void; children: ReactNode };

/** What is asked for only when somebody wants it: others may see it, or it takes a while. */
function Switch({ checked, onChange, children }: SwitchProps) {
  return (
    <label className={style.switch}>
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
