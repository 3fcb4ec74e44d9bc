import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams } from "react-router";
import { sessionQuery } from "../features/sessions/queries.ts";
import { SessionHead } from "../features/sessions/SessionHead.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { TabLinks } from "../ui/TabLinks.tsx";
import style from "./SessionPage.module.css";

/** The frame of a session's pages: its name, the tabs, and the page that is open. */
export default function SessionPage() {
  const { sessionId = "" } = useParams();
  const found = useQuery(sessionQuery(sessionId));
  const path = `/sessions/${sessionId}`;
  return (
    <Loaded what="the session" found={found}>
      {(session) => (
        <>
          <SessionHead session={session} />
          <TabLinks
            label="Of the session"
            tabs={[
              { to: path, name: "Conversation", end: true },
              { to: `${path}/runs`, name: "Runs" },
              { to: `${path}/context`, name: "Context" },
              { to: `${path}/files`, name: "Files" },
            ]}
          />
          <div className={style.tab}>
            <Outlet />
          </div>
        </>
      )}
    </Loaded>
  );
}
