import { useEffect, useState } from "react";

/** The time in milliseconds, anew every so often while `isRunning`. */
export function useNow(isRunning: boolean, everyMs = 1000): number {
  const [now, setNow] = useState(Date.now);
  // The outside system is the clock.
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return now;
}
