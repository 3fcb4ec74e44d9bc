import { type ReactNode, useState } from "react";
import { signed, whole } from "../../lib/numbers.ts";
import { Button } from "../../ui/Button.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { shortName } from "./flags.ts";
import type { Refusal, SelectionState, SumOfPrices } from "./useSelection.ts";
import style from "./UnsavedBar.module.css";

type Props = {
  selection: SelectionState;
  isSaving: boolean;
  /** Why saving failed. */
  error: Error | null;
  /** Why the agent's parts cannot be saved by this user. */
  notAllowed: string | null;
  onSave: (reason: string) => void;
  onTry: () => void;
};

/** In sight for as long as the selection is not what is saved. */
export function UnsavedBar({ selection, isSaving, error, notAllowed, onSave, onTry }: Props) {
  const [reason, setReason] = useState("");
  const { changes, refusals } = selection;
  return (
    <section className={style.bar} aria-label="Unsaved changes">
      <div className={style.words}>
        <strong>Not saved.</strong> {counted(selection)} <PriceLine selection={selection} />
        {selection.thinkingDropped.length > 0 && (
          <p>
            Thinking of {selection.thinkingDropped.map(shortName).join(", ")} would no longer be
            sent.
          </p>
        )}
        {refusals.map((each) => (
          <RefusalLine key={each.target} refusal={each} selection={selection} />
        ))}
        {notAllowed !== null && <p className={style.bad}>{notAllowed}</p>}
        {error && (
          <p className={style.bad} role="alert">
            Not saved: {error.message}
          </p>
        )}
      </div>
      <div className={style.actions}>
        <input
          className={style.reason}
          aria-label="Reason, kept with the change"
          placeholder="Reason (optional)"
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <Button onClick={() => selection.change({ type: "discard" })} disabled={isSaving}>
          Discard
        </Button>
        <Button onClick={onTry}>Try</Button>
        <Button
          look="primary"
          disabled={isSaving || changes.size === 0 || refusals.length > 0 || notAllowed !== null}
          onClick={() => onSave(reason)}
        >
          {isSaving ? "Saving …" : "Save"}
        </Button>
      </div>
    </section>
  );
}

function counted({ changes, view }: SelectionState): string {
  const all = [...changes.values()];
  const out = all.filter((each) => each.excluded).length;
  const replaced = all.filter((each) => !each.excluded && each.replacement !== null).length;
  const back = all.length - out - replaced;
  const along = [...view.along.keys()].filter(
    (part) => !changes.has(part) && !view.saved.has(part),
  );
  return `${[
    out > 0 && `${whole(out)} left out`,
    replaced > 0 && `${whole(replaced)} replaced`,
    back > 0 && `${whole(back)} as before`,
    along.length > 0 && `${whole(along.length)} along with them`,
  ]
    .filter(Boolean)
    .join(", ")}.`;
}

function PriceLine({ selection }: { selection: SelectionState }): ReactNode {
  const { price, isPricing, refusals } = selection;
  if (isPricing) return <Spinner label="Pricing …" />;
  if (refusals.length > 0 || !price) return null;
  return <span className={style.price}>{priceInWords(price)}</span>;
}

/** What the edit saves, what it costs once, and when it has paid for itself. */
export function priceInWords({
  savedPerCall,
  rebilled,
  paysAfter,
  prefixLost,
}: SumOfPrices): string {
  if (savedPerCall === null) return "What it saves is not known.";
  const saves = `≈ ${signed(-savedPerCall)} tokens per call.`;
  if (prefixLost)
    return `${saves} The prefix becomes too short for the cache: every call is then billed in full.`;
  if (!rebilled) return `${saves} The cached prefix stays as it is.`;
  const bill = `The cached prefix of ${whole(rebilled)} tokens is billed once more`;
  if (paysAfter === null) return `${saves} ${bill}, and that never pays.`;
  return `${saves} ${bill}; it pays after ${whole(paysAfter)} ${paysAfter === 1 ? "call" : "calls"}.`;
}

/** Why it cannot be saved, and the edit that would do instead. */
function RefusalLine({ refusal, selection }: { refusal: Refusal; selection: SelectionState }) {
  const { error, byPart, alternatives } = refusal;
  const faults = [...byPart].map(([part, fault]) => `${shortName(part)}: ${fault.detail}`);
  const general = "faults" in error && Array.isArray(error.faults) ? error.faults : [];
  const said = faults.length > 0 ? faults : general.map(detailOf);
  return (
    <div className={style.bad} role="alert">
      <p>{said.length > 0 ? said.join(" ") : error.message}</p>
      {alternatives.slice(0, 3).map(({ part, replacement }) => (
        <Button
          key={part}
          small
          onClick={() => selection.change({ type: "replace", part, text: replacement })}
        >
          Send {shortName(part)} as “{replacement}” instead
        </Button>
      ))}
    </div>
  );
}

const detailOf = (fault: unknown): string =>
  typeof fault === "object" && fault !== null && "detail" in fault ? String(fault.detail) : "";
