import type { Snapshot } from "../../api/types.ts";
import { percent, whole } from "../../lib/numbers.ts";
import { classes } from "../../ui/classes.ts";
import { type Piece, pieces, type Sums } from "./tokens.ts";
import style from "./WindowBar.module.css";

const NAMES: Record<Piece["name"], string> = {
  tools: "Tools",
  system: "System",
  messages: "Messages",
  framing: "Framing",
  free: "Free",
  reserve: "Reserved for the answer",
};

type Props = { snapshot: Snapshot; sums: Sums; isDraft: boolean };

/** What eats the window, at a glance: groups, what is free, the reserve, and where compaction begins. */
export function WindowBar({ snapshot: { totals }, sums, isDraft }: Props) {
  const shown = pieces(sums, totals);
  const basis = Math.max(totals.window, sums.total + totals.reserved_output);
  const share = (tokens: number) => (basis > 0 ? tokens / basis : 0);
  return (
    <figure className={style.figure}>
      <div className={style.bar} aria-hidden="true">
        {shown.map(({ name, tokens }) => (
          <div
            key={name}
            className={classes(style.piece, style[name], tokens > 0 && style.some)}
            style={{ flexGrow: tokens }}
            title={`${NAMES[name]}: ${whole(tokens)}`}
          />
        ))}
        <div
          className={style.trigger}
          style={{ left: `${share(totals.trigger) * 100}%` }}
          title={`Compaction starts at ${whole(totals.trigger)}`}
        />
      </div>
      <figcaption>
        <ul className={style.legend} aria-label={`The window of ${whole(totals.window)} tokens`}>
          {shown.map(({ name, tokens }) => (
            <li key={name}>
              <span className={classes(style.dot, style[name])} aria-hidden="true" />
              {NAMES[name]}{" "}
              <span className={style.figures}>
                {isDraft && name !== "framing" && name !== "reserve" && "≈ "}
                {whole(tokens)} · {percent(share(tokens))}
              </span>
            </li>
          ))}
          <li>
            <span className={classes(style.dot, style.mark)} aria-hidden="true" />
            Compaction from <span className={style.figures}>{whole(totals.trigger)}</span>
          </li>
        </ul>
      </figcaption>
    </figure>
  );
}
