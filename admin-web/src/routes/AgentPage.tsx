import { useSyncExternalStore } from "react";
import { useParams } from "react-router";
import { signedIn } from "../api/signed-in.ts";
import { useIsAdmin } from "../api/use-is-admin.ts";
import { AgentView } from "../features/agents/AgentView.tsx";

export default function AgentPage() {
  const { agentId = "" } = useParams();
  const state = useSyncExternalStore(signedIn.subscribe, signedIn.get);
  const isAdmin = useIsAdmin();
  const userId = "session" in state ? state.session.user.id : null;
  return (
    <AgentView
      key={agentId}
      agentId={agentId}
      mayChange={(ownerId) => isAdmin || ownerId === userId}
    />
  );
}
