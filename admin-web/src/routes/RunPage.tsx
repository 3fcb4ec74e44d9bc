import { useParams } from "react-router";
import { CallList } from "../features/calls/CallList.tsx";
import { RunView } from "../features/runs/RunView.tsx";
import { Crumbs } from "../ui/Crumbs.tsx";
import { Stack } from "../ui/Stack.tsx";

export default function RunPage() {
  const { sessionId = "", runId = "" } = useParams();
  return (
    <Stack>
      <Crumbs trail={[{ to: `/sessions/${sessionId}/runs`, name: "Runs" }]} here="Run" />
      <RunView sessionId={sessionId} runId={runId} />
      <h2>Model calls</h2>
      <CallList where={{ sessionId, runId }} />
    </Stack>
  );
}
