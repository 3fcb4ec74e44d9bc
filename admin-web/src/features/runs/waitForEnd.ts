import { awaitRun } from "./queries.ts";
import { isOpen } from "./status.ts";

const PAUSE_MS = 1000; // where the server answers at once: it has no place for one more that waits

/** Ask for the run until it has ended. `onNews` is told of every answer. */
export async function waitForEnd(
  runId: string,
  signal: AbortSignal,
  onNews: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const run = await awaitRun(runId, signal);
      onNews();
      if (!isOpen(run)) return;
    } catch {
      // A server that is away for a moment; a session that has ended is said by the page's frame.
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
