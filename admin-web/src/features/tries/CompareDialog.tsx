import type { TryDiff } from "../../api/types.ts";
import { useQuery } from "@tanstack/react-query";
import { signed, whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { AnswerDiff } from "./AnswerDiff.tsx";
import { CHANGE_WORDS } from "./diff.ts";
import { diffQuery, tryQuery } from "./queries.ts";
import { Ended } from "./TryResult.tsx";
import style from "./TryPanel.module.css";

type Props = { ids: readonly [string, string]; onClose: () => void };

/** Two tries side by side: what each was sent and answered, and where they part. */
export function CompareDialog({ ids: [first, second], onClose }: Props) {
  const diff = useQuery(diffQuery(second, first));
  return (
    <Dialog title="Two tries" shape="sheet" onClose={onClose}>
      <div className={style.panel}>
        {diff.isPending ? (
          <LoadingState what="the differences" />
        ) : diff.isError ? (
          <ErrorState
            what="The differences"
            error={diff.error}
            onRetry={() => void diff.refetch()}
          />
        ) : (
          <>
            {diff.data.answer && <AnswerDiff answer={diff.data.answer} />}
            <RequestDiff request={diff.data.request} />
          </>
        )}
        <div className={style.sides}>
          <Side id={first} name="First" />
          <Side id={second} name="Second" />
        </div>
      </div>
    </Dialog>
  );
}

function Side({ id, name }: { id: string; name: string }) {
  const found = useQuery(tryQuery(id));
  if (found.isPending) return <LoadingState what="a try" />;
  if (found.isError)
    return <ErrorState what="A try" error={found.error} onRetry={() => void found.refetch()} />;
  return (
    <section className={style.result} aria-label={`${name} try`}>
      <h3>
        {name} <span className={style.soft}>{when(found.data.created_at)}</span>
      </h3>
      <Ended shown={found.data} />
    </section>
  );
}

function RequestDiff({ request }: { request: TryDiff["request"] }) {
  if (!request) return <p>One of them has sent nothing.</p>;
  if (request.same) return <p>Both were sent exactly the same request.</p>;
  const { tokens, parts, parameters, unchanged } = request;
  return (
    <section aria-label="Differences of the requests">
      <h3>Sent differently</h3>
      <p>
        {whole(tokens.before)} → {whole(tokens.after)} tokens (
        {signed(tokens.after - tokens.before)}); {whole(unchanged)} parts are the same.
      </p>
      <Table caption="Parts sent differently" head={["Part", "In the second", "Tokens"]}>
        {parts.map((each) => (
          <tr key={each.part}>
            <td>{each.part}</td>
            <td>{CHANGE_WORDS[each.change]}</td>
            <td>
              {whole(each.tokens.before)} → {whole(each.tokens.after)}
            </td>
          </tr>
        ))}
        {parameters.map((each) => (
          <tr key={`parameter:${each.name}`}>
            <td>{each.name}</td>
            <td>
              {JSON.stringify(each.before)} → {JSON.stringify(each.after)}
            </td>
            <td />
          </tr>
        ))}
      </Table>
    </section>
  );
}
