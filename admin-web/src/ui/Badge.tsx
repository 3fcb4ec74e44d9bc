import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import style from "./Badge.module.css";

type Props = {
  tone?: "plain" | "info" | "good" | "warn" | "bad";
  title?: string;
  children: ReactNode;
};

/** A short mark; `title` says more to those who point at it. */
export function Badge({ tone = "plain", title, children }: Props) {
  return (
    <span className={classes(style.badge, style[tone])} title={title}>
      {children}
    </span>
  );
}
