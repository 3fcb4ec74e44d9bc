import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { CallDiff, SentPart } from "../../api/types.ts";
import { signed, whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { Compare } from "./Compare.tsx";
import { type Change, changesOf } from "./changes.ts";
import { callPath, diffQuery, type Where } from "./queries.ts";
import style from "./CallDiffView.module.css";

type Props = { where: Where; before: number; after: number };

/** What one call was sent differently from another; what is the same is one line. */
export function CallDiffView({ where, before, after }: Props) {
  const found = useQuery(diffQuery(where, before, after));
  return (
    <div className={style.diff}>
      <div className={style.choice}>
        <Link to={callPath(where, before)}>Call {before}</Link>
        <Compare where={where} from={before} to={after} />
        <Link to={callPath(where, after)}>Call {after}</Link>
      </div>
      <Loaded what="the comparison" found={found}>
        {(diff) => <Changes diff={diff} />}
      </Loaded>
    </div>
  );
}

const TONES = { added: "good", removed: "bad", changed: "info" } as const;
const SIGNS = { added: "+", removed: "−", changed: "±" } as const;

function Changes({ diff }: { diff: CallDiff }) {
  const { changes, sums } = changesOf(diff);
  if (changes.length === 0)
    return (
      <EmptyState title="Both were sent the same">
        All {whole(diff.unchanged)} parts are equal.
      </EmptyState>
    );
  return (
    <>
      <p className={style.sums}>
        <Badge tone="good">+{whole(diff.added.length)} added</Badge>
        <Badge tone="bad">−{whole(diff.removed.length)} removed</Badge>
        <Badge tone="info">±{whole(diff.changed.length)} changed</Badge>
        <span>{signed(sums)} tokens</span>
      </p>
      <p className={style.unchanged}>{whole(diff.unchanged)} parts are unchanged</p>
      <Table caption="What differs" head={["How", "Part", "Before", "After"]}>
        {changes.map((each) => (
          <Row key={each.how + each.id} change={each} />
        ))}
      </Table>
    </>
  );
}

function Row({ change: { how, id, before, after } }: { change: Change }) {
  return (
    <tr>
      <td>
        <Badge tone={TONES[how]} title={how}>
          {SIGNS[how]} <span className="visually-hidden">{how}</span>
        </Badge>
      </td>
      <th scope="row" className={style.id}>
        <code>{id}</code>
      </th>
      <td>
        <Side part={before} />
      </td>
      <td>
        <Side part={after} />
      </td>
    </tr>
  );
}

function Side({ part }: { part: SentPart | null }) {
  if (!part) return "–";
  return (
    <>
      {whole(part.tokens)} tokens {!part.included && <Badge tone="warn">left out</Badge>}{" "}
      {part.override === "replace" && <Badge tone="info">replaced</Badge>}{" "}
      <code title={part.sha256}>{part.sha256.slice(0, 8)}</code>
    </>
  );
}
