import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { knownAgentsQuery, nameOfAgent } from "../../api/agents.ts";
import type { Session } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { DeleteSession } from "./DeleteSession.tsx";
import { RenameSession } from "./RenameSession.tsx";
import { useChangeSession } from "./useChangeSession.ts";

/** A session's name and size, and what can be done with it as a whole. */
export function SessionHead({ session }: { session: Session }) {
  const [asked, setAsked] = useState<"rename" | "delete" | null>(null);
  const agents = useQuery(knownAgentsQuery).data;
  const archiving = useChangeSession(session.id);
  const close = () => setAsked(null);
  return (
    <>
      <PageHead
        title={session.title || "Untitled"}
        up={{ to: "/sessions", name: "Sessions" }}
        about={
          <>
            <Link to={`/agents/${session.agent_id}`}>{nameOfAgent(agents, session.agent_id)}</Link>
            <span>{whole(session.message_count)} messages</span>
            <span>{whole(session.message_tokens)} tokens</span>
            {session.archived && <Badge>archived</Badge>}
            {session.helper && <Badge tone="info">helper {session.helper.name}</Badge>}
            {session.parent_id && <Link to={`/sessions/${session.parent_id}`}>Called from</Link>}
          </>
        }
        actions={
          <>
            <Button small onClick={() => setAsked("rename")}>
              Rename
            </Button>
            <Button
              small
              disabled={archiving.isPending}
              onClick={() => archiving.mutate({ archived: !session.archived })}
            >
              {session.archived ? "Take out of the archive" : "Archive"}
            </Button>
            <Button small look="danger" onClick={() => setAsked("delete")}>
              Delete
            </Button>
          </>
        }
      />
      {asked === "rename" && <RenameSession session={session} onClose={close} />}
      {asked === "delete" && <DeleteSession session={session} onClose={close} />}
    </>
  );
}
