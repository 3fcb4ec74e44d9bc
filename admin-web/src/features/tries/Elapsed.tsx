import { useEffect, useState } from "react";

/** Seconds since it was first drawn, ticking. Not read out: the state beside it is. */
export function Elapsed() {
  const [began] = useState(() => Date.now());
  const [now, setNow] = useState(began);
  // The outside system is the clock.
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <span aria-hidden="true" data-testid="elapsed">
      {Math.floor((now - began) / 1000)} s
    </span>
  );
}
