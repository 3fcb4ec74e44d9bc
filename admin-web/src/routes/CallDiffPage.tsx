import { useParams } from "react-router";
import { CallDiffView } from "../features/calls/CallDiffView.tsx";
import { Crumbs } from "../ui/Crumbs.tsx";
import { Stack } from "../ui/Stack.tsx";

export default function CallDiffPage() {
  const { sessionId = "", runId = "", call = "", other = "" } = useParams();
  const runs = `/sessions/${sessionId}/runs`;
  return (
    <Stack>
      <Crumbs
        trail={[
          { to: runs, name: "Runs" },
          { to: `${runs}/${runId}`, name: "Run" },
        ]}
        here={`From call ${call} to call ${other}`}
      />
      <CallDiffView where={{ sessionId, runId }} before={Number(call)} after={Number(other)} />
    </Stack>
  );
}
