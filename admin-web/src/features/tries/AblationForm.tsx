import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Unreachable } from "../../api/problem.ts";
import type { AblationWish } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { newOnce } from "../../lib/once.ts";
import { useSettled } from "../../lib/settled.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { type Candidate, costInWords, offered, stateOf } from "./ablation.ts";
import {
  ablationPlanQuery,
  ablationQuery,
  ablationsQuery,
  startAblation,
} from "./ablation-queries.ts";
import { refusalOf } from "./model.ts";
import type { Wish } from "./TryForm.tsx";
import style from "./TryPanel.module.css";

const PLAN_AFTER_MS = 300;

type Props = {
  sessionId: string;
  wish: Wish;
  candidates: readonly Candidate[];
  onStarted: (id: string) => void;
};

/** Choose the parts, see what it costs, confirm that. */
export function AblationForm({ sessionId, wish, candidates, onStarted }: Props) {
  const client = useQueryClient();
  const { shown, chosen: first } = offered(candidates);
  const [chosen, setChosen] = useState<readonly string[]>(first);
  const [once, setOnce] = useState(newOnce);
  const body: AblationWish = {
    parts: [...chosen],
    exclude: [...wish.exclude],
    replace: wish.replace,
  };
  const plan = useQuery(ablationPlanQuery(sessionId, useSettledWish(body)));
  const start = useMutation({
    mutationFn: () => startAblation(sessionId, body, plan.data?.estimate.most ?? null, once),
    onSuccess: (begun) => {
      client.setQueryData(ablationQuery(begun.id).queryKey, begun);
      void client.invalidateQueries({ queryKey: ablationsQuery(sessionId).queryKey });
      onStarted(begun.id);
    },
    onSettled: (_begun, error) => {
      if (!(error instanceof Unreachable)) setOnce(newOnce());
    },
  });
  const refusal = start.error ?? plan.error;
  const said = refusal && refusalOf(refusal);
  const states = new Map(plan.data?.parts.map((each) => [each.part, each]));

  return (
    <form
      className={style.form}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <p>
        One call with everything, twice, and one without each part chosen here. The heaviest parts
        are listed. Nothing is added to the session.
      </p>
      <fieldset className={style.choices}>
        <legend className="visually-hidden">Parts to leave out in turn</legend>
        {shown.map((each) => {
          const row = states.get(each.id);
          return (
            <label key={each.id} className={style.choice}>
              <input
                type="checkbox"
                checked={chosen.includes(each.id)}
                onChange={() =>
                  setChosen(
                    chosen.includes(each.id)
                      ? chosen.filter((other) => other !== each.id)
                      : [...chosen, each.id],
                  )
                }
              />
              <span>{each.label}</span>
              {row && (row.state === "refused" || row.state === "no_effect") && (
                <Badge tone="warn" title={stateOf(row)}>
                  {row.state === "refused" ? "cannot be left out" : "no effect"}
                </Badge>
              )}
              <span className={style.choiceTokens}>{whole(each.tokens)}</span>
            </label>
          );
        })}
      </fieldset>
      {said && (
        <Notice tone="bad" title={said.title}>
          {said.detail}
        </Notice>
      )}
      <div className={style.going}>
        <Button
          type="submit"
          look="primary"
          disabled={chosen.length === 0 || start.isPending || !plan.data || plan.isFetching}
        >
          {start.isPending ? "Starting …" : "Start"}
        </Button>
        {plan.isFetching ? (
          <Spinner label="Pricing …" />
        ) : (
          plan.data && <span>{costInWords(plan.data.estimate)}</span>
        )}
      </div>
    </form>
  );
}

/** The wish, once the user has stopped choosing for a moment. */
function useSettledWish(wish: AblationWish): AblationWish {
  // Compared as a text, since it is made anew with each drawing.
  const text = useSettled(JSON.stringify(wish), PLAN_AFTER_MS);
  // It is what JSON.stringify made of a wish.
  return JSON.parse(text) as AblationWish;
}
