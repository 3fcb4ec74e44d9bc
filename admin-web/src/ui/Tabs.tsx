import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { classes } from "./classes.ts";
import style from "./Tabs.module.css";

export type Tab = { id: string; name: string; content: ReactNode };

/** Views of one thing, one at a time; the arrow keys go from one to the next. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [chosen, setChosen] = useState(tabs[0]?.id);
  const own = useId();
  const shown = tabs.find((each) => each.id === chosen) ?? tabs[0];
  if (!shown) return null;

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = by && tabs[(tabs.indexOf(shown) + by + tabs.length) % tabs.length];
    if (!next) return;
    setChosen(next.id);
    document.getElementById(`${own}-${next.id}`)?.focus();
  };

  return (
    <div>
      <div role="tablist" aria-label={label} className={style.list} onKeyDown={onKeyDown}>
        {tabs.map((each) => (
          <button
            key={each.id}
            id={`${own}-${each.id}`}
            type="button"
            role="tab"
            aria-selected={each === shown}
            aria-controls={`${own}-panel`}
            tabIndex={each === shown ? 0 : -1}
            className={classes(style.tab, each === shown && style.chosen)}
            onClick={() => setChosen(each.id)}
          >
            {each.name}
          </button>
        ))}
      </div>
      <div
        id={`${own}-panel`}
        role="tabpanel"
        aria-labelledby={`${own}-${shown.id}`}
        className={style.panel}
      >
        {shown.content}
      </div>
    </div>
  );
}
