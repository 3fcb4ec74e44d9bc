import type { UsageRow } from "../../api/types.ts";
import { dollars, whole } from "../../lib/numbers.ts";
import { ShareBar } from "../../ui/ShareBar.tsx";
import { Table } from "../../ui/Table.tsx";
import { measured, type Wish } from "./wish.ts";
import style from "./FiguresTable.module.css";

type Props = {
  caption: string;
  /** The name of the first column. */
  first: string;
  rows: readonly UsageRow[];
  measure: Wish["measure"];
};

const HEAD = ["Calls", "Input", "From a cache", "Output", "Cost"];

/** All figures of each row; the line below its name shows its share by the measure. */
export function FiguresTable({ caption, first, rows, measure }: Props) {
  const most = Math.max(...rows.map((each) => measured(measure, each)), 0);
  return (
    <Table caption={caption} head={[first, ...HEAD]}>
      {rows.map((each) => (
        <tr key={each.key ?? "gone"}>
          <th scope="row" className={style.name}>
            {each.name ?? each.key?.replaceAll("_", " ") ?? "deleted"}
            <ShareBar value={measured(measure, each)} most={most} />
          </th>
          <td>{whole(each.calls)}</td>
          <td>{whole(each.whole_input_tokens)}</td>
          <td>{whole(each.cache_read_tokens)}</td>
          <td>{whole(each.output_tokens)}</td>
          <td>
            {dollars(each.cost_micro_dollars)}
            {each.unpriced_calls > 0 && ` and ${whole(each.unpriced_calls)} of unknown price`}
          </td>
        </tr>
      ))}
    </Table>
  );
}
