import { useState } from "react";
import { useSearchParams } from "react-router";
import { AgentList } from "../features/agents/AgentList.tsx";
import { NewAgent } from "../features/agents/NewAgent.tsx";
import { Button } from "../ui/Button.tsx";
import { PageHead } from "../ui/PageHead.tsx";
import { SearchField, Toolbar } from "../ui/Toolbar.tsx";

export default function AgentsPage() {
  const [search, setSearch] = useSearchParams();
  const [isAsked, setAsked] = useState(false);
  const query = search.get("query") ?? "";
  return (
    <>
      <PageHead
        title="Agents"
        actions={
          <Button look="primary" onClick={() => setAsked(true)}>
            New agent
          </Button>
        }
      />
      <Toolbar label="Filters">
        <SearchField
          label="Search names"
          value={query}
          onChange={(value) => setSearch(value ? { query: value } : {}, { replace: true })}
        />
      </Toolbar>
      <AgentList query={query} />
      {isAsked && <NewAgent onClose={() => setAsked(false)} />}
    </>
  );
}
