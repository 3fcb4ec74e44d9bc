import { useState } from "react";
import { useSearchParams } from "react-router";
import { Button } from "../../ui/Button.tsx";
import type { Candidate } from "./ablation.ts";
import { AblationDialog } from "./AblationDialog.tsx";
import { CompareDialog } from "./CompareDialog.tsx";
import { TryForm, type Wish } from "./TryForm.tsx";
import { TryList } from "./TryList.tsx";
import { TryResult } from "./TryResult.tsx";
import style from "./TryPanel.module.css";

type Props = { sessionId: string; wish: Wish; candidates: readonly Candidate[] };

const TWO = 2;

/** Send the session's next call once with the selection, and look at what came of it. */
export function TryPanel({ sessionId, wish, candidates }: Props) {
  const [params, setParams] = useSearchParams();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [pair, setPair] = useState<readonly [string, string] | null>(null);
  const [isAblating, setIsAblating] = useState(false);
  const shown = params.get("try");

  const show = (id: string) =>
    setParams(
      (now) => {
        now.set("try", id);
        return now;
      },
      { replace: true, preventScrollReset: true },
    );
  // The third choice takes the place of the older of the two.
  const choose = (id: string) =>
    setChosen((now) =>
      now.includes(id) ? now.filter((each) => each !== id) : [...now, id].slice(-TWO),
    );
  const [first, second] = chosen;

  return (
    <div className={style.panel}>
      <TryForm sessionId={sessionId} wish={wish} onStarted={(id) => show(id)} />
      <div>
        <Button small onClick={() => setIsAblating(true)}>
          Leave parts out in turn …
        </Button>
      </div>
      {shown && <TryResult key={shown} id={shown} sessionId={sessionId} />}
      <TryList
        sessionId={sessionId}
        shown={shown}
        chosen={chosen}
        onShow={show}
        onChoose={choose}
        actions={
          <Button
            small
            disabled={!first || !second}
            onClick={() => {
              // Ids begin with their time: the older one is the first.
              if (first && second) setPair(first < second ? [first, second] : [second, first]);
            }}
          >
            Compare two
          </Button>
        }
      />
      {isAblating && (
        <AblationDialog
          sessionId={sessionId}
          wish={wish}
          candidates={candidates}
          onShowTry={(id) => {
            show(id);
            setIsAblating(false);
          }}
          onClose={() => setIsAblating(false)}
        />
      )}
      {pair && <CompareDialog ids={pair} onClose={() => setPair(null)} />}
    </div>
  );
}
