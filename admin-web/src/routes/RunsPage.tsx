import { useParams } from "react-router";
import { RunList } from "../features/runs/RunList.tsx";

export default function RunsPage() {
  const { sessionId = "" } = useParams();
  return <RunList sessionId={sessionId} />;
}
