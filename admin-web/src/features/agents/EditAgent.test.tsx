import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { expect, test, vi } from "vitest";
import type { Agent } from "../../api/types.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { EditAgent } from "./EditAgent.tsx";

const agent = (version: number, name: string): Agent =>
  // Only what the dialog edits counts here.
  ({
    id: "a1",
    name,
    model: "claude-sonnet-5-5",
    system_prompt: "Be kind.",
    max_tokens: 1000,
    shared: false,
    version,
  }) as Agent;

test("a change that somebody else was faster with is kept, and can be saved on theirs", async () => {
  const sent: unknown[] = [];
  server.use(
    http.patch("/v1/agents/a1", async ({ request }) => {
      sent.push([request.headers.get("if-match"), await request.json()]);
      if (request.headers.get("if-match") === '"2"') return HttpResponse.json(agent(3, "Ada"));
      return HttpResponse.json({ status: 412, code: "precondition_failed" }, { status: 412 });
    }),
    http.get("/v1/agents/a1", () =>
      HttpResponse.json(agent(2, "Theirs"), { headers: { etag: '"2"' } }),
    ),
  );
  const onClose = vi.fn();
  renderPage(<EditAgent agent={{ value: agent(1, "Ada"), etag: '"1"' }} onClose={onClose} />);
  const prompt = screen.getByLabelText("System prompt");
  await userEvent.type(prompt, " Be short.");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByRole("alert")).toHaveTextContent("Somebody else has changed");
  expect(prompt).toHaveValue("Be kind. Be short.");
  await userEvent.click(screen.getByRole("button", { name: "Go on from the newer one" }));
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(sent).toEqual([
    ['"1"', { system_prompt: ["Be kind. Be short."] }],
    ['"2"', { system_prompt: ["Be kind. Be short."] }],
  ]);
});
