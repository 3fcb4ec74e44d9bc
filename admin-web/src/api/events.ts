/** A run's events as the server sends them (Server-Sent Events), taken up again where they broke off. */

export const RUN_EVENTS = [
  "message.delta",
  "tool.started",
  "tool.finished",
  "task.started",
  "task.finished",
  "turn.finished",
  "reset",
  "done",
] as const;

export type RunEvent = {
  readonly kind: (typeof RUN_EVENTS)[number];
  readonly data: Readonly<Record<string, unknown>>;
};

/** `closed`: the server does not want to be followed; the run has to be asked for instead. */
export type Connection = "connecting" | "open" | "closed";

type Listener = {
  onEvent: (event: RunEvent) => void;
  onConnection: (connection: Connection) => void;
};

/** Follow a run from its beginning until `done`, or until what this returns is called. */
export function followRun(runId: string, { onEvent, onConnection }: Listener): () => void {
  // The browser itself comes again after a cut, with the id of the last event that it has seen.
  const source = new EventSource(`/v1/runs/${runId}/events`);
  source.onopen = () => onConnection("open");
  source.onerror = () =>
    onConnection(source.readyState === EventSource.CLOSED ? "closed" : "connecting");
  for (const kind of RUN_EVENTS) {
    source.addEventListener(kind, ({ data }: MessageEvent<string>) => {
      // Of each event the server writes a JSON object.
      onEvent({ kind, data: JSON.parse(data) as RunEvent["data"] });
      if (kind === "done") source.close();
    });
  }
  return () => source.close();
}
