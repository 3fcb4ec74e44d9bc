import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { whole } from "../../lib/numbers.ts";
import { useSettled } from "../../lib/settled.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { agentsQuery } from "./queries.ts";

const TYPING_MS = 250;

/** The agents that this user may use, newest first. */
export function AgentList({ query }: { query: string }) {
  const settled = useSettled(query, TYPING_MS);
  const found = useInfiniteQuery(agentsQuery(settled));
  return (
    <Paged what="agents" found={found} empty={<NoAgents query={query} />}>
      {(agents) => (
        <Table caption="Agents" head={["Name", "Model", "Tools", "Helpers", "Changed"]}>
          {agents.map((each) => (
            <tr key={each.id}>
              <th scope="row">
                <Link to={`/agents/${each.id}`} dir="auto">
                  {each.name}
                </Link>{" "}
                {each.shared && <Badge title="Everybody in the tenant may use it">shared</Badge>}
              </th>
              <td>
                {each.model}{" "}
                {!each.model_known && (
                  <Badge tone="warn" title="The catalogue does not have it: limits are guesses">
                    unknown model
                  </Badge>
                )}
              </td>
              <td>{whole(each.tools.length)}</td>
              <td>{whole(each.subagents.length)}</td>
              <td>{when(each.updated_at)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Paged>
  );
}

function NoAgents({ query }: { query: string }) {
  return query ? (
    <EmptyState title="No agent has such a name" />
  ) : (
    <EmptyState title="No agents yet">
      Make one, or import a session: its agent comes along.
    </EmptyState>
  );
}
