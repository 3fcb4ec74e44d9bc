const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** An RFC 3339 time for people, in their own zone. */
export const when = (time: string): string => FULL.format(new Date(time));

/** 850 ms, 3.4 s, 2 min 5 s */
export const duration = (milliseconds: number): string => {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
};

/** From one RFC 3339 time to another, in milliseconds. */
export const between = (from: string, to: string): number => Date.parse(to) - Date.parse(from);
