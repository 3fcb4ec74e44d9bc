import type { ReactNode } from "react";
import style from "./Stack.module.css";

/** Things one below the other, none of them wider than the page. */
export function Stack({ children }: { children: ReactNode }) {
  return <div className={style.stack}>{children}</div>;
}
