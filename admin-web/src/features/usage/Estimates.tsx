import { useQuery } from "@tanstack/react-query";
import { percent, whole } from "../../lib/numbers.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { Table } from "../../ui/Table.tsx";
import { estimatesQuery } from "./queries.ts";

const HEAD = ["Model", "Calls", "Billed", "Estimated", "Off by", "Of one call", "At most"];

/** How well hango had counted before it called. */
export function Estimates({ from }: { from: string | undefined }) {
  const found = useQuery(estimatesQuery(from));
  return (
    <Loaded what="the estimates" found={found}>
      {(items) =>
        items.length > 0 && (
          <section aria-label="Estimates">
            <h2>Estimated and billed input</h2>
            <Table caption="Estimated and billed input" head={HEAD}>
              {items.map((each) => (
                <tr key={each.model + each.estimator}>
                  <th scope="row" title={each.estimator}>
                    {each.model}
                  </th>
                  <td>{whole(each.calls)}</td>
                  <td>{whole(each.billed_tokens)}</td>
                  <td>{whole(each.estimated_tokens)}</td>
                  <td>
                    {each.error < 0 ? "−" : "+"}
                    {percent(Math.abs(each.error))}
                  </td>
                  <td>{percent(each.mean_error)}</td>
                  <td>{percent(each.largest_error)}</td>
                </tr>
              ))}
            </Table>
          </section>
        )
      }
    </Loaded>
  );
}
