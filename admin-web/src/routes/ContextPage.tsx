import { useParams } from "react-router";
import { ContextPanel } from "../features/context/ContextPanel.tsx";
import { TryPanel } from "../features/tries/TryPanel.tsx";

export default function ContextPage() {
  const { sessionId = "" } = useParams();
  return (
    <>
      <title>Context · hango</title>
      <ContextPanel sessionId={sessionId}>
        {({ wish, candidates }) => (
          <TryPanel sessionId={sessionId} wish={wish} candidates={candidates} />
        )}
      </ContextPanel>
    </>
  );
}
