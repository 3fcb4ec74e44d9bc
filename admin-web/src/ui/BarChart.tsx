import style from "./BarChart.module.css";

export type Bar = { readonly key: string; readonly value: number; readonly shown: string };

type Props = {
  /** What is drawn, for those who cannot see it; a table beside it has all figures. */
  label: string;
  bars: readonly Bar[];
  /** The greatest value in words, at the top of the axis. */
  most: string;
};

const WIDTH = 10; // of a bar with the gap beside it
const HEIGHT = 100;

/** Upright bars in the order given, as high as the greatest of them allows. */
export function BarChart({ label, bars, most }: Props) {
  const highest = Math.max(...bars.map((each) => each.value), 0);
  return (
    <figure className={style.chart}>
      <div className={style.most} aria-hidden="true">
        {most}
      </div>
      <svg
        role="img"
        aria-label={label}
        className={style.bars}
        viewBox={`0 0 ${Math.max(1, bars.length) * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ key, value, shown }, index) => {
          const height = highest > 0 ? (value / highest) * HEIGHT : 0;
          return (
            <g key={key}>
              <title>{`${key}: ${shown}`}</title>
              {/* Also where the bar is low there is something to point at. */}
              <rect className={style.room} x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
              <rect
                className={style.bar}
                x={index * WIDTH + 1}
                y={HEIGHT - height}
                width={WIDTH - 2}
                height={height}
              />
            </g>
          );
        })}
      </svg>
      <figcaption className={style.axis} aria-hidden="true">
        <span>{bars[0]?.key}</span>
        {bars.length > 1 && <span>{bars.at(-1)?.key}</span>}
      </figcaption>
    </figure>
  );
}
