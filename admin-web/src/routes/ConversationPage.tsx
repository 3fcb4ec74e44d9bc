import { useQuery } from "@tanstack/react-query";
import { useParams, useSearchParams } from "react-router";
import { Conversation } from "../features/conversation/Conversation.tsx";
import { RunDesk } from "../features/runs/RunDesk.tsx";
import { sessionQuery } from "../features/sessions/queries.ts";

export default function ConversationPage() {
  const { sessionId = "" } = useParams();
  const [search] = useSearchParams();
  const session = useQuery(sessionQuery(sessionId)).data;
  const at = Number(search.get("message")) || null;
  if (!session) return null; // the frame around it says why
  return (
    <>
      <Conversation
        key={`${sessionId} ${at}`}
        sessionId={sessionId}
        count={session.message_count}
        at={at}
      />
      <RunDesk key={sessionId} sessionId={sessionId} />
    </>
  );
}
