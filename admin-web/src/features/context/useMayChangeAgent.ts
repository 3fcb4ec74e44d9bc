import { useQuery } from "@tanstack/react-query";
import { signedIn } from "../../api/signed-in.ts";
import { agentQuery } from "./queries.ts";

/** Whether this user may save overrides of the agent; yes while it is not known. */
export function useMayChangeAgent(agentId: string): boolean {
  const agent = useQuery(agentQuery(agentId)).data;
  const state = signedIn.get();
  if (!agent || !("session" in state)) return true;
  return state.session.role === "admin" || agent.owner_id === state.session.user.id;
}
