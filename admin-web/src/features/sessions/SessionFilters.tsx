import { useQuery } from "@tanstack/react-query";
import { knownAgentsQuery } from "../../api/agents.ts";
import { SearchField, Select, Toolbar } from "../../ui/Toolbar.tsx";
import type { Filters } from "./filters.ts";

type Props = { filters: Filters; onChange: (name: keyof Filters, value: string) => void };

export function SessionFilters({ filters, onChange }: Props) {
  const agents = useQuery(knownAgentsQuery).data ?? [];
  return (
    <Toolbar label="Filters">
      <SearchField
        label="Search titles"
        value={filters.query}
        onChange={(value) => onChange("query", value)}
      />
      <Select
        label="Agent"
        value={filters.agent}
        options={[["", "All"], ...agents.map((each) => [each.id, each.name] as const)]}
        onChange={(value) => onChange("agent", value)}
      />
      <Select
        label="Archive"
        value={filters.archived}
        options={[
          ["false", "Not archived"],
          ["true", "Archived"],
          ["", "Both"],
        ]}
        onChange={(value) => onChange("archived", value)}
      />
      <Select
        label="Overrides"
        value={filters.overrides}
        options={[
          ["", "All"],
          ["true", "With overrides"],
          ["false", "Without overrides"],
        ]}
        onChange={(value) => onChange("overrides", value)}
      />
    </Toolbar>
  );
}
