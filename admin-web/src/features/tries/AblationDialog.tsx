import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { when } from "../../lib/times.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import type { Candidate } from "./ablation.ts";
import { AblationForm } from "./AblationForm.tsx";
import { ablationQuery, ablationsQuery } from "./ablation-queries.ts";
import { AblationTable } from "./AblationTable.tsx";
import type { Wish } from "./TryForm.tsx";
import style from "./TryPanel.module.css";

type Props = {
  sessionId: string;
  wish: Wish;
  candidates: readonly Candidate[];
  onShowTry: (id: string) => void;
  onClose: () => void;
};

/** Which parts does the answer need? The same call without each of some parts in turn. */
export function AblationDialog({ sessionId, wish, candidates, onShowTry, onClose }: Props) {
  const [id, setId] = useState<string | null>(null);
  const earlier = useQuery(ablationsQuery(sessionId)).data?.items ?? [];
  return (
    <Dialog title="Which parts does the answer need?" shape="sheet" onClose={onClose}>
      <div className={style.panel}>
        {id === null ? (
          <>
            <AblationForm
              sessionId={sessionId}
              wish={wish}
              candidates={candidates}
              onStarted={setId}
            />
            {earlier.length > 0 && (
              <section className={style.result} aria-label="Asked before">
                <h3>Asked before</h3>
                <ul className={style.list}>
                  {earlier.map((each) => (
                    <li key={each.id} className={style.item}>
                      <button type="button" className={style.open} onClick={() => setId(each.id)}>
                        {when(each.created_at)} · {each.progress.done} of {each.progress.total} ·{" "}
                        {each.status}
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        ) : (
          <>
            <div>
              <Button small onClick={() => setId(null)}>
                Ask about other parts
              </Button>
            </div>
            <Progress id={id} onShowTry={onShowTry} />
          </>
        )}
      </div>
    </Dialog>
  );
}

function Progress({ id, onShowTry }: { id: string; onShowTry: (id: string) => void }) {
  const found = useQuery(ablationQuery(id));
  if (found.isPending) return <LoadingState what="the table" />;
  if (found.isError && !found.data)
    return <ErrorState what="The table" error={found.error} onRetry={() => void found.refetch()} />;
  return <AblationTable shown={found.data} onShowTry={onShowTry} />;
}
