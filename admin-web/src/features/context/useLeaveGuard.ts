import { useEffect } from "react";
import { useBlocker } from "react-router";

/** Ask before what is not saved would be lost, by a link of this page or by closing it. */
export function useLeaveGuard(isUnsaved: boolean): void {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isUnsaved && currentLocation.pathname !== nextLocation.pathname,
  );

  // The outside system is the browser, which asks the question itself.
  useEffect(() => {
    if (blocker.state !== "blocked") return;
    if (window.confirm("Changes to the context are not saved. Leave them behind?"))
      blocker.proceed();
    else blocker.reset();
  }, [blocker]);

  // The outside system is the browser's window.
  useEffect(() => {
    if (!isUnsaved) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isUnsaved]);
}
