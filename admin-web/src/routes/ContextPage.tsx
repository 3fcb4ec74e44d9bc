import { useParams } from "react-router";
import { ContextPanel } from "../features/context/ContextPanel.tsx";

export default function ContextPage() {
  const { sessionId = "" } = useParams();
  return (
    <>
      <title>Context · hango</title>
      <ContextPanel sessionId={sessionId} />
    </>
  );
}
