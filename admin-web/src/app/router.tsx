import { createBrowserRouter, Navigate, type RouteObject } from "react-router";
import { NotFound } from "./NotFound.tsx";
import { Shell } from "./Shell.tsx";

/** A page in a file of its own, fetched when it is first wanted. */
const page = (
  load: () => Promise<{ default: React.ComponentType }>,
): Pick<RouteObject, "lazy"> => ({
  lazy: async () => ({ Component: (await load()).default }),
});

export const routes: RouteObject[] = [
  {
    path: "/",
    Component: Shell,
    HydrateFallback: () => null,
    children: [
      { index: true, element: <Navigate to="/sessions" replace /> },
      { path: "sessions", ...page(() => import("../routes/SessionsPage.tsx")) },
      {
        path: "sessions/:sessionId",
        ...page(() => import("../routes/SessionPage.tsx")),
        children: [
          { index: true, ...page(() => import("../routes/ConversationPage.tsx")) },
          { path: "runs", ...page(() => import("../routes/RunsPage.tsx")) },
          { path: "runs/:runId", ...page(() => import("../routes/RunPage.tsx")) },
          { path: "runs/:runId/calls/:call", ...page(() => import("../routes/CallPage.tsx")) },
          {
            path: "runs/:runId/calls/:call/diff/:other",
            ...page(() => import("../routes/CallDiffPage.tsx")),
          },
          { path: "context", ...page(() => import("../routes/ContextPage.tsx")) },
          { path: "files", ...page(() => import("../routes/FilesPage.tsx")) },
        ],
      },
      { path: "agents", ...page(() => import("../routes/AgentsPage.tsx")) },
      { path: "agents/:agentId", ...page(() => import("../routes/AgentPage.tsx")) },
      { path: "usage", ...page(() => import("../routes/UsagePage.tsx")) },
      { path: "audit", ...page(() => import("../routes/AuditPage.tsx")) },
      { path: "keys", ...page(() => import("../routes/KeysPage.tsx")) },
      { path: "users", ...page(() => import("../routes/UsersPage.tsx")) },
      { path: "*", Component: NotFound },
    ],
  },
];

export const router = createBrowserRouter(routes, { basename: "/admin" });
