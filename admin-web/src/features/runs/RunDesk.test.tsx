import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";
import type { Run } from "../../api/types.ts";
import { FakeEvents } from "../../test/events.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { RunDesk } from "./RunDesk.tsx";

const aRun = (changes: Partial<Run> = {}) => ({
  id: "r1",
  session_id: "s1",
  agent_id: "a1",
  parent_run_id: null,
  parent_tool_use_id: null,
  status: "running",
  stop_reason: null,
  turns: 0,
  max_turns: null,
  messages: [1],
  usage: {
    calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    cost_micro_dollars: 0,
  },
  error: null,
  created_at: "2026-11-30T10:00:00Z",
  started_at: "2026-11-30T10:00:00Z",
  finished_at: null,
  cancel_requested_at: null,
  deadline_at: null,
  ...changes,
});

/** What the server has: no run, or the one that was started last. */
let run: ReturnType<typeof aRun> | null;

beforeEach(() => {
  run = null;
  vi.stubGlobal("EventSource", FakeEvents);
  server.use(
    http.get("/v1/sessions/s1/runs", () =>
      HttpResponse.json({ items: run ? [run] : [], next: null }),
    ),
    http.get("/v1/runs/r1", () => HttpResponse.json(run)),
    http.post("/v1/sessions/s1/runs", () => HttpResponse.json((run = aRun()), { status: 202 })),
    http.delete("/v1/runs/r1", () =>
      HttpResponse.json((run = aRun({ cancel_requested_at: "2026-11-30T10:00:01Z" }))),
    ),
  );
});

async function send(words: string) {
  renderPage(<RunDesk sessionId="s1" />);
  await userEvent.type(screen.getByLabelText("Message"), words);
  await userEvent.click(screen.getByRole("button", { name: "Send" }));
}

async function following(): Promise<FakeEvents> {
  await screen.findByRole("region", { name: "The run under way" });
  const events = FakeEvents.last;
  if (!events) throw new Error("Nobody follows the run.");
  expect(events.url).toBe("/v1/runs/r1/events");
  act(() => events.open());
  return events;
}

const text = (words: string) => ({ turn: 1, delta: { type: "text_delta", text: words } });

test("an answer is shown as it is written, with the tools that run, until the end", async () => {
  await send("Go on");
  const events = await following();
  expect(screen.getByLabelText("Message")).toHaveValue("");
  act(() => {
    events.tell("message.delta", text("Look: <i>"));
    events.tell("message.delta", text("here</i>"));
    events.tell("tool.started", { id: "t1", name: "read_file" });
  });
  expect(await screen.findByText("Look: <i>here</i>")).toBeVisible();
  expect(screen.getByRole("list", { name: "Tools" })).toHaveTextContent("read_file running");
  expect(screen.getByRole("button", { name: "Send" })).toBeDisabled();

  run = aRun({ status: "succeeded", finished_at: "2026-11-30T10:00:03Z" });
  act(() => events.tell("done", { status: "succeeded" }));
  await waitFor(() => expect(screen.queryByText("Look: <i>here</i>")).toBeNull());
});

test("a run is cancelled, and says that it is about to end", async () => {
  await send("Go on");
  await following();
  await userEvent.click(screen.getByRole("button", { name: "Cancel the run" }));
  expect(await screen.findByText("Turn 1: being cancelled")).toBeVisible();
  expect(screen.getByRole("button", { name: "Cancel the run" })).toBeDisabled();
});

test("where events cannot be followed, the run is asked for until it has ended", async () => {
  await send("Go on");
  const events = await following();
  run = aRun({
    status: "failed",
    error: { code: "worker_lost", detail: "The worker died.", retryable: true },
  });
  act(() => events.refuse());
  expect(await screen.findByRole("alert")).toHaveTextContent(/worker lost.*The worker died\./);
});

test("what was written stays where it was not accepted", async () => {
  const problem = { status: 402, code: "quota_exceeded", detail: "The quota is used up." };
  server.use(http.post("/v1/sessions/s1/runs", () => HttpResponse.json(problem, { status: 402 })));
  await send("Go on");
  expect(await screen.findByRole("alert")).toHaveTextContent("The quota is used up.");
  expect(screen.getByLabelText("Message")).toHaveValue("Go on");
});
