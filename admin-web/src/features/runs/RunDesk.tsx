import { useQuery } from "@tanstack/react-query";
import { Composer } from "./Composer.tsx";
import { LiveRun } from "./LiveRun.tsx";
import { newestRunQuery } from "./queries.ts";
import { RunError } from "./RunError.tsx";
import { isOpen } from "./status.ts";
import style from "./RunDesk.module.css";

/** The session's newest run, and the field that starts the next one. */
export function RunDesk({ sessionId }: { sessionId: string }) {
  const newest = useQuery(newestRunQuery(sessionId)).data;
  const isBusy = newest ? isOpen(newest) : false;
  return (
    <div className={style.desk}>
      {newest && isBusy && <LiveRun key={newest.id} run={newest} />}
      {newest && !isBusy && <RunError run={newest} />}
      <Composer sessionId={sessionId} isBusy={isBusy} />
    </div>
  );
}
