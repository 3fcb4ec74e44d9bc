import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import style from "./Notice.module.css";

type Props = {
  tone: "info" | "good" | "warn" | "bad";
  title?: string;
  children?: ReactNode;
  /** What can be done about it. */
  actions?: ReactNode;
};

/** A coloured box with something to be known. Bad news is read out at once. */
export function Notice({ tone, title, children, actions }: Props) {
  return (
    <div className={classes(style.notice, style[tone])} role={tone === "bad" ? "alert" : "note"}>
      <div className={style.words}>
        {title && <strong>{title}</strong>} {children}
      </div>
      {actions && <div className={style.actions}>{actions}</div>}
    </div>
  );
}
