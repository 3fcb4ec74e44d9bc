import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Try } from "../../api/types.ts";
import { Blocks } from "../../ui/Blocks.tsx";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Spinner } from "../../ui/Spinner.tsx";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import { Elapsed } from "./Elapsed.tsx";
import { failureOf, isFinal, STATUS_WORDS } from "./model.ts";
import { cancelTry, triesQuery, tryEndQuery, tryQuery } from "./queries.ts";
import { TryFacts } from "./TryFacts.tsx";
import style from "./TryPanel.module.css";

type Props = { id: string; sessionId: string };

/** One try: its progress with a way to cancel it, then its answer. */
export function TryResult({ id, sessionId }: Props) {
  const begun = useQuery(tryQuery(id));
  const needsWaiting = begun.data !== undefined && !isFinal(begun.data);
  const ended = useQuery({ ...tryEndQuery(id), enabled: needsWaiting });
  const shown = ended.data ?? begun.data;

  if (!shown) {
    return begun.isError ? (
      <ErrorState what="The try" error={begun.error} onRetry={() => void begun.refetch()} />
    ) : (
      <LoadingState what="the try" />
    );
  }
  return (
    <section className={style.result} aria-label="The try">
      <p className="visually-hidden" role="status" aria-live="polite">
        {STATUS_WORDS[shown.status]}
      </p>
      {isFinal(shown) ? <Ended shown={shown} /> : <Going shown={shown} sessionId={sessionId} />}
      {ended.failureReason && !isFinal(shown) && (
        <Notice tone="warn">{ended.failureReason.message} The try goes on.</Notice>
      )}
    </section>
  );
}

function Going({ shown, sessionId }: { shown: Try; sessionId: string }) {
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelTry(shown.id),
    onSuccess: (now) => {
      client.setQueryData(tryEndQuery(shown.id).queryKey, now);
      void client.invalidateQueries({ queryKey: triesQuery(sessionId).queryKey });
    },
  });
  return (
    <div className={style.going}>
      <Spinner label={STATUS_WORDS[shown.status] ?? shown.status} />
      <Elapsed />
      <Button small look="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
        {cancel.isPending || cancel.isSuccess ? "Cancelling …" : "Cancel"}
      </Button>
      {cancel.error && <Notice tone="bad">{cancel.error.message}</Notice>}
    </div>
  );
}

/** What came of it, with what it cost. */
export function Ended({ shown }: { shown: Try }) {
  const failure = failureOf(shown);
  return (
    <>
      {failure && (
        <Notice tone={shown.status === "cancelled" ? "info" : "bad"} title={failure.title}>
          {failure.detail} {failure.again && "It can be tried again."}
        </Notice>
      )}
      {shown.answer &&
        (shown.answer.content.length > 0 ? (
          <Blocks blocks={shown.answer.content} />
        ) : (
          <p>The model ended its turn without a word.</p>
        ))}
      {shown.answer?.content.some((each) => each.type === "tool_use") && (
        <p className={style.soft}>Tool calls are shown, and not carried out.</p>
      )}
      <TryFacts shown={shown} />
    </>
  );
}
