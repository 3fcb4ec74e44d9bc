import type { ReactNode } from "react";
import style from "./Table.module.css";

type Props = { caption: string; head: readonly ReactNode[]; children: ReactNode };

/** A plain table that scrolls sideways inside itself where the screen is narrow. */
export function Table({ caption, head, children }: Props) {
  return (
    <div className={style.scroll} tabIndex={0} role="region" aria-label={caption}>
      <table className={style.table}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {head.map((each, index) => (
              <th key={index} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
