const WHOLE = new Intl.NumberFormat("en-US");
const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** 12,345 */
export const whole = (value: number): string => WHOLE.format(value);

/** 12.3K */
export const short = (value: number): string => SHORT.format(value);

/** +12, −3 with a real minus sign, ±0 */
export const signed = (value: number): string =>
  value > 0 ? `+${whole(value)}` : value < 0 ? `−${whole(-value)}` : "±0";

/** $0.0123: enough digits for single calls, two for whole sums. */
export const dollars = (microDollars: number): string => {
  const value = microDollars / 1_000_000;
  const digits = value === 0 || value >= 1 ? 2 : 4;
  return `$${value.toFixed(digits)}`;
};

/** 34 % */
export const percent = (share: number): string =>
  `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

/** 812 bytes, 12.3 kB, 4.0 MB */
export const bytes = (value: number): string => {
  if (value < 1000) return `${whole(value)} bytes`;
  const [unit, size] = value < 1e6 ? (["kB", 1e3] as const) : (["MB", 1e6] as const);
  return `${(value / size).toFixed(1)} ${unit}`;
};
