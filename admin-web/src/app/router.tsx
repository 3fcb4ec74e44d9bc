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
      { path: "sessions/:sessionId/context", ...page(() => import("../routes/ContextPage.tsx")) },
      { path: "*", Component: NotFound },
    ],
  },
];

export const router = createBrowserRouter(routes, { basename: "/admin" });
