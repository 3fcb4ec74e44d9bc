import type { UseQueryResult } from "@tanstack/react-query";
import type { Usage } from "../../api/types.ts";
import { Loaded } from "../../ui/Loaded.tsx";
import { FiguresTable } from "./FiguresTable.tsx";
import { GROUPS, measured, type Wish } from "./wish.ts";

/** What the calls of one model, agent or purpose have used, the greatest first. */
export function UsageByGroup({ found, wish }: { found: UseQueryResult<Usage>; wish: Wish }) {
  const { group, measure } = wish;
  return (
    <Loaded what={`the usage by ${group}`} found={found}>
      {({ items }) =>
        items.length > 0 && (
          <section aria-label={`By ${group}`}>
            <h2>By {group}</h2>
            <FiguresTable
              caption={`Usage by ${group}`}
              first={GROUPS[group]}
              rows={[...items].sort((a, b) => measured(measure, b) - measured(measure, a))}
              measure={measure}
            />
          </section>
        )
      }
    </Loaded>
  );
}
