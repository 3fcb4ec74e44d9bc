import { useParams } from "react-router";
import { CallView } from "../features/calls/CallView.tsx";
import { Crumbs } from "../ui/Crumbs.tsx";
import { Stack } from "../ui/Stack.tsx";

export default function CallPage() {
  const { sessionId = "", runId = "", call = "" } = useParams();
  const runs = `/sessions/${sessionId}/runs`;
  return (
    <Stack>
      <Crumbs
        trail={[
          { to: runs, name: "Runs" },
          { to: `${runs}/${runId}`, name: "Run" },
        ]}
        here={`Call ${call}`}
      />
      <CallView where={{ sessionId, runId }} call={Number(call)} />
    </Stack>
  );
}
