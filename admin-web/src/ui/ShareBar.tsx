import style from "./ShareBar.module.css";

/** A thin line below a figure, as long as its share of the greatest one. */
export function ShareBar({ value, most }: { value: number; most: number }) {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  return <span className={style.bar} style={{ width: `${share * 100}%` }} aria-hidden="true" />;
}
