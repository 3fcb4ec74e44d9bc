import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import type { Versioned } from "../../api/client.ts";
import type { Agent } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { when } from "../../lib/times.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Facts } from "../../ui/Facts.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Stack } from "../../ui/Stack.tsx";
import { AgentOverrides } from "./AgentOverrides.tsx";
import { AgentParts } from "./AgentParts.tsx";
import { DeleteAgent } from "./DeleteAgent.tsx";
import { EditAgent } from "./EditAgent.tsx";
import { agentQuery } from "./queries.ts";

type Props = { agentId: string; mayChange: (ownerId: string) => boolean };

/** One agent: what it is made of, and the ways to change it. */
export function AgentView({ agentId, mayChange }: Props) {
  const found = useQuery(agentQuery(agentId));
  return (
    <Loaded what="the agent" found={found}>
      {(agent) => <Shown agent={agent} mayChange={mayChange(agent.value.owner_id)} />}
    </Loaded>
  );
}

function Shown({ agent, mayChange }: { agent: Versioned<Agent>; mayChange: boolean }) {
  const [asked, setAsked] = useState<"edit" | "delete" | null>(null);
  const close = () => setAsked(null);
  const { value } = agent;
  return (
    <Stack>
      <PageHead
        title={value.name}
        up={{ to: "/agents", name: "Agents" }}
        about={<Link to={`/sessions?agent=${value.id}`}>Its sessions</Link>}
        actions={
          mayChange && (
            <>
              <Button small onClick={() => setAsked("edit")}>
                Edit
              </Button>
              <Button small look="danger" onClick={() => setAsked("delete")}>
                Delete
              </Button>
            </>
          )
        }
      />
      <AgentOverrides agentId={value.id} />
      <AgentFacts agent={value} />
      <AgentParts agent={value} />
      {asked === "edit" && <EditAgent agent={agent} onClose={close} />}
      {asked === "delete" && <DeleteAgent agent={agent} onClose={close} />}
    </Stack>
  );
}

function AgentFacts({ agent }: { agent: Agent }) {
  const off = Object.entries<boolean>(agent.middleware)
    .filter(([, isUsed]) => !isUsed)
    .map(([name]) => name);
  return (
    <Facts
      label="About the agent"
      facts={[
        [
          "Model",
          <span key="model">
            {agent.model} {!agent.model_known && <Badge tone="warn">unknown model</Badge>}
          </span>,
        ],
        ["Most output", `${whole(agent.max_tokens)} tokens`],
        ["May be used by", agent.shared ? "everybody in the tenant" : "its owner and admins"],
        ["Switched off", off.length > 0 ? off.join(", ") : "nothing"],
        ["Version", whole(agent.version)],
        ["Changed", when(agent.updated_at)],
      ]}
    />
  );
}
