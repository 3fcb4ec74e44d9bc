import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { knownAgentsQuery } from "../../api/agents.ts";
import type { Agent } from "../../api/types.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Form } from "../../ui/Form.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { createSession } from "./queries.ts";

/** Asks for the agent of a new session, and opens it. */
export function NewSession({ onClose }: { onClose: () => void }) {
  const agents = useQuery(knownAgentsQuery);
  return (
    <Dialog title="New session" onClose={onClose}>
      <Loaded what="the agents" found={agents}>
        {(known) =>
          known.length > 0 ? (
            <Fields agents={known} onClose={onClose} />
          ) : (
            <p>There is no agent to talk to yet. Make one on the page of the agents.</p>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Fields({ agents, onClose }: { agents: readonly Agent[]; onClose: () => void }) {
  const [agent, setAgent] = useState(agents[0]?.id ?? "");
  const [title, setTitle] = useState("");
  const navigate = useNavigate();
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: createSession,
    onSuccess: (session) => {
      void client.invalidateQueries({ queryKey: ["sessions", "list"] });
      void navigate(`/sessions/${session.id}`);
    },
  });
  const wanted = title.trim();
  return (
    <Form
      verb="Start"
      isPending={making.isPending}
      error={making.error}
      onSubmit={() => making.mutate({ agent_id: agent, ...(wanted ? { title: wanted } : {}) })}
      onCancel={onClose}
    >
      <Field label="Agent">
        {(control) => (
          <select {...control} value={agent} onChange={(event) => setAgent(event.target.value)}>
            {agents.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name} ({each.model})
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Title" hint="Can be left empty, and changed later.">
        {(control) => (
          <input
            {...control}
            value={title}
            maxLength={200}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
