import { Link } from "react-router";
import { EmptyState } from "../ui/states.tsx";

export function NotFound() {
  return (
    <>
      <h1>Not found</h1>
      <EmptyState title="There is no such page">
        It may have been deleted, or the address is wrong.{" "}
        <Link to="/sessions">To the sessions</Link>
      </EmptyState>
    </>
  );
}
