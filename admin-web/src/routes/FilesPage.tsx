import { useParams } from "react-router";
import { FileList } from "../features/files/FileList.tsx";

export default function FilesPage() {
  const { sessionId = "" } = useParams();
  return <FileList sessionId={sessionId} />;
}
