import { useState } from "react";
import { whole } from "../../lib/numbers.ts";
import { classes } from "../../ui/classes.ts";
import { type Order, ORDERS, type Shown, SHOWN } from "./rows.ts";
import type { ListWish } from "./useListWish.ts";
import style from "./Toolbar.module.css";

const ORDER_NAMES: Record<Order, string> = {
  position: "Position",
  size: "Heaviest first",
  kind: "Kind",
};
const SHOWN_NAMES: Record<Shown, string> = {
  all: "All",
  new: "New since the last call",
  changed: "Overridden",
  "left-out": "Left out",
};

type Props = {
  wish: ListWish;
  onWish: (changes: Partial<ListWish>) => void;
  /** Parts that the last call did not have like this; null: there was no call. */
  news: number | null;
  found: number;
};

/** How the list is ordered, and what of it is shown. */
export function Toolbar({ wish, onWish, news, found }: Props) {
  // What is typed is shown at once; the list and the address may take a moment longer.
  const [text, setText] = useState(wish.text);
  return (
    <div className={style.toolbar} role="group" aria-label="View of the list">
      <label className={style.order}>
        Order
        <select
          value={wish.order}
          onChange={(event) =>
            onWish({ order: ORDERS.find((each) => each === event.target.value) ?? "position" })
          }
        >
          {ORDERS.map((each) => (
            <option key={each} value={each}>
              {ORDER_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      <div className={style.chips} role="group" aria-label="Shown">
        {SHOWN.map((each) => (
          <button
            key={each}
            type="button"
            className={classes(style.chip, wish.shown === each && style.chosen)}
            aria-pressed={wish.shown === each}
            disabled={each === "new" && news === null}
            title={
              each === "new" && news === null ? "The session has not made a call yet" : undefined
            }
            onClick={() => onWish({ shown: each })}
          >
            {SHOWN_NAMES[each]}
            {each === "new" && news !== null && ` (${whole(news)})`}
          </button>
        ))}
      </div>
      <input
        type="search"
        className={style.search}
        aria-label="Find parts"
        placeholder="Find in names and previews"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          onWish({ text: event.target.value });
        }}
      />
      <span className="visually-hidden" role="status">
        {wish.text !== "" && `${whole(found)} found`}
      </span>
    </div>
  );
}
