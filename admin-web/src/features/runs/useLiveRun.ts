import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useReducer, useState } from "react";
import { type Connection, followRun, type RunEvent } from "../../api/events.ts";
import { after, BEGINNING, isStored, type Live } from "./live.ts";
import { waitForEnd } from "./waitForEnd.ts";

const DRAWN_EVERY_MS = 50; // a fast model sends hundreds of events in a second

/** The run as it goes. What a finished turn has stored is read anew. */
export function useLiveRun(
  sessionId: string,
  runId: string,
): { live: Live; connection: Connection } {
  const [live, add] = useReducer(after, BEGINNING);
  const [connection, setConnection] = useState<Connection>("connecting");
  const client = useQueryClient();

  // The outside system is the server, which tells what happens or can be asked.
  useEffect(() => {
    let heard: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const leaving = new AbortController();
    const readAnew = () => void client.invalidateQueries({ queryKey: ["sessions", sessionId] });
    const draw = () => {
      timer = undefined;
      if (heard.some(isStored)) readAnew();
      add(heard);
      heard = [];
    };
    const stop = followRun(runId, {
      onConnection: (next) => {
        setConnection(next);
        if (next === "closed") void waitForEnd(runId, leaving.signal, readAnew);
      },
      onEvent: (event) => {
        heard.push(event);
        timer ??= setTimeout(draw, DRAWN_EVERY_MS);
      },
    });
    return () => {
      stop();
      leaving.abort();
      clearTimeout(timer);
    };
  }, [client, sessionId, runId]);

  return { live, connection };
}
