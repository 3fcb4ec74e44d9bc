import type { Snapshot } from "../../api/types.ts";
import { percent, short } from "../../lib/numbers.ts";
import { heaviest } from "./rows.ts";
import { tokensUnder, type View } from "./tokens.ts";
import style from "./ContextPanel.module.css";

const MOST = 5;
const WORTH_NAMING = 0.1; // of the request

type Props = { snapshot: Snapshot; view: View; onOpen: (part: string) => void };

/** The few parts that make up much of the request; nothing where none stands out. */
export function Heaviest({ snapshot, view, onOpen }: Props) {
  const total = snapshot.totals.after;
  const found = heaviest(snapshot, view, MOST).filter(
    (part) => tokensUnder(view, part) >= total * WORTH_NAMING,
  );
  if (found.length === 0) return null;
  return (
    <div className={style.heaviest} role="group" aria-label="Heaviest parts">
      <span>Heaviest</span>
      {found.map((part) => (
        <button key={part.id} type="button" className={style.heavy} onClick={() => onOpen(part.id)}>
          {part.label}{" "}
          <strong>
            {short(tokensUnder(view, part))} · {percent(tokensUnder(view, part) / total)}
          </strong>
        </button>
      ))}
    </div>
  );
}
