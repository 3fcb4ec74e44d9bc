import { SessionList } from "../features/sessions/SessionList.tsx";

export default function SessionsPage() {
  return (
    <>
      <title>Sessions · hango</title>
      <h1>Sessions</h1>
      <SessionList />
    </>
  );
}
