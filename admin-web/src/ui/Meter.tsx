import { classes } from "./classes.ts";
import style from "./Meter.module.css";

type Props = { label: string; value: number; most: number; shown: string };

/** How much of something is used up; colours at 70 and 90 %. */
export function Meter({ label, value, most, shown }: Props) {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  const tone = share >= 0.9 ? style.full : share >= 0.7 ? style.high : undefined;
  return (
    <div
      className={style.meter}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={most}
      aria-valuenow={value}
      aria-valuetext={shown}
    >
      <div className={classes(style.used, tone)} style={{ width: `${share * 100}%` }} />
    </div>
  );
}
