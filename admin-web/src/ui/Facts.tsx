import type { ReactNode } from "react";
import style from "./Facts.module.css";

type Props = { label: string; facts: readonly (readonly [name: string, value: ReactNode])[] };

/** Names with their values, as many side by side as there is room for. */
export function Facts({ label, facts }: Props) {
  return (
    <dl className={style.facts} aria-label={label}>
      {facts.map(([name, value]) => (
        <div key={name} className={style.fact}>
          <dt className={style.name}>{name}</dt>
          <dd className={style.value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
