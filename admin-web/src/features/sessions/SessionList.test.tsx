import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { ListedSession } from "../../api/types.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { filtersOf } from "./filters.ts";
import { SessionList } from "./SessionList.tsx";

const session = (id: string, changes: Partial<ListedSession> = {}): ListedSession => ({
  id,
  agent_id: "a1",
  owner_id: "u1",
  title: `Session ${id}`,
  archived: false,
  parent_id: null,
  parent_tool_use_id: null,
  helper: null,
  message_count: 12,
  message_tokens: 3456,
  created_at: "2026-11-30T10:00:00Z",
  updated_at: "2026-11-30T10:00:00Z",
  saved_overrides: 0,
  ...changes,
});

const show = (search = "") =>
  renderPage(<SessionList filters={filtersOf(new URLSearchParams(search))} />);

beforeEach(() => {
  const agents = [{ id: "a1", name: "Ada" }];
  server.use(http.get("/v1/agents", () => HttpResponse.json({ items: agents, next: null })));
});

const answer = (items: ListedSession[], next: string | null = null) =>
  HttpResponse.json({ items, next });

test("each session has its agent by name, and a sign of its overrides", async () => {
  const items = [session("s1", { saved_overrides: 2 }), session("s2", { title: "<b>x</b>" })];
  server.use(http.get("/v1/sessions", () => answer(items)));
  show();
  const row = await screen.findByRole("row", { name: /Session s1/ });
  expect(await within(row).findByRole("link", { name: "Ada" })).toBeVisible();
  expect(within(row).getByRole("link", { name: "2 overrides" })).toHaveAttribute(
    "href",
    "/sessions/s1/context",
  );
  const other = screen.getByRole("row", { name: /<b>x<\/b>/ });
  expect(within(other).queryByText(/override/)).toBeNull();
});

test("more come with the cursor and the same filters", async () => {
  server.use(
    http.get("/v1/sessions", ({ request }) => {
      const { searchParams } = new URL(request.url);
      expect(searchParams.get("overrides")).toBe("true");
      return searchParams.has("after") ? answer([session("s2")]) : answer([session("s1")], "c1");
    }),
  );
  show("overrides=true");
  await userEvent.click(await screen.findByRole("button", { name: "Show more sessions" }));
  expect(await screen.findByText("Session s2")).toBeVisible();
  expect(screen.getByText("Session s1")).toBeVisible();
});

test("nothing at all is another thing than nothing that fits the filter", async () => {
  server.use(http.get("/v1/sessions", () => answer([])));
  const { unmount } = show();
  expect(await screen.findByText("No sessions yet")).toBeVisible();
  unmount();
  show("query=x");
  expect(await screen.findByText("No session is like that")).toBeVisible();
});

test("a failure is said in the server's words, and can be tried again", async () => {
  const problem = { status: 503, detail: "The database is away.", request_id: "r7" };
  server.use(http.get("/v1/sessions", () => HttpResponse.json(problem, { status: 503 })));
  show();
  expect(await screen.findByRole("alert")).toHaveTextContent(/The database is away\..*r7/);
  server.use(http.get("/v1/sessions", () => answer([session("s1")])));
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("Session s1")).toBeVisible();
});
