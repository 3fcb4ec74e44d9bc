import type { UseQueryResult } from "@tanstack/react-query";
import type { Usage } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { BarChart } from "../../ui/BarChart.tsx";
import { Facts } from "../../ui/Facts.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { FiguresTable } from "./FiguresTable.tsx";
import { asWords, MEASURES, measured, type Wish } from "./wish.ts";

type Props = {
  found: UseQueryResult<Usage>;
  days: readonly string[];
  measure: Wish["measure"];
};

export function UsageByDay({ found, days, measure }: Props) {
  return (
    <Loaded what="the usage by day" found={found}>
      {(usage) =>
        usage.total.calls === 0 ? (
          <EmptyState title="Nothing was used in this time">
            Runs and tries call a model; looking at a context does not.
          </EmptyState>
        ) : (
          <>
            <Totals usage={usage} />
            <Days usage={usage} days={days} measure={measure} />
            <details>
              <summary>The figures day by day</summary>
              <FiguresTable
                caption="Usage by day"
                first="Day"
                rows={usage.items}
                measure={measure}
              />
            </details>
          </>
        )
      }
    </Loaded>
  );
}

function Totals({ usage: { total } }: { usage: Usage }) {
  return (
    <Facts
      label="In all"
      facts={[
        ["Cost", asWords("cost", total.cost_micro_dollars)],
        ["Calls", whole(total.calls)],
        ["Input", `${whole(total.whole_input_tokens)} tokens`],
        ["Of it from a cache", `${whole(total.cache_read_tokens)} tokens`],
        ["Output", `${whole(total.output_tokens)} tokens`],
        ...(total.unpriced_calls > 0
          ? [["Calls of unknown price", whole(total.unpriced_calls)] as const]
          : []),
      ]}
    />
  );
}

function Days({ usage, days, measure }: { usage: Usage } & Pick<Props, "days" | "measure">) {
  const used = new Map(usage.items.map((each) => [each.key, measured(measure, each)]));
  const bars = days.map((day) => {
    const value = used.get(day) ?? 0;
    return { key: day, value, shown: asWords(measure, value) };
  });
  const most = bars.reduce((best, each) => (each.value > best.value ? each : best));
  return (
    <BarChart
      label={`${MEASURES[measure]} by day; the most on ${most.key}: ${most.shown}`}
      bars={bars}
      most={most.shown}
    />
  );
}
