import { useState } from "react";
import type { SentPart } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { ShareBar } from "../../ui/ShareBar.tsx";
import { Table } from "../../ui/Table.tsx";
import type { PartGroup } from "./figures.ts";
import style from "./PartTable.module.css";

const SHOWN_AT_FIRST = 200;

/** One group of a call's parts with their tokens; those that were left out are there as ghosts. */
export function PartTable({ group: { name, parts, tokens } }: { group: PartGroup }) {
  const [isWhole, setWhole] = useState(parts.length <= SHOWN_AT_FIRST);
  const most = Math.max(1, ...parts.map((each) => each.tokens));
  return (
    <section className={style.group} aria-label={name}>
      <h2>
        {name} <span className={style.total}>{whole(tokens)} tokens</span>
      </h2>
      {parts.length === 0 ? (
        <p className={style.none}>None were sent.</p>
      ) : (
        <Table caption={`${name}, part by part`} head={["Part", "Tokens", "Sent", "Hash"]}>
          {(isWhole ? parts : parts.slice(0, SHOWN_AT_FIRST)).map((each) => (
            <PartRow key={each.id} part={each} most={most} />
          ))}
        </Table>
      )}
      {!isWhole && (
        <Button onClick={() => setWhole(true)}>Show all {whole(parts.length)} parts</Button>
      )}
    </section>
  );
}

function PartRow({ part, most }: { part: SentPart; most: number }) {
  return (
    <tr className={part.included ? undefined : style.ghost}>
      <th scope="row" className={style.id}>
        <code>{part.id}</code>
      </th>
      <td className={style.tokens}>
        {whole(part.tokens)}
        <ShareBar value={part.tokens} most={most} />
      </td>
      <td>
        {part.included ? "yes" : <Badge tone="warn">left out</Badge>}{" "}
        {part.override === "replace" && <Badge tone="info">replaced</Badge>}{" "}
        {part.unavailable && (
          <Badge tone="bad" title={part.unavailable}>
            unavailable
          </Badge>
        )}
      </td>
      <td>
        <code title={part.sha256}>{part.sha256.slice(0, 8)}</code>
      </td>
    </tr>
  );
}
