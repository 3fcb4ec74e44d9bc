import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { Try } from "../../api/types.ts";
import { aTry } from "../../test/factories.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { TryPanel } from "./TryPanel.tsx";

const queued = aTry({ status: "queued", answer: null, usage: null, cost: null, finished_at: null });
const wish = { exclude: ["message:5"], replace: { "system:agent": "Be brief." }, beyond: [] };

/** What the server says of the one try, and what it was asked for. */
let now: Try;
let bodies: unknown[];
let onces: (string | null)[];

beforeEach(() => {
  sessionStorage.clear();
  now = queued;
  bodies = [];
  onces = [];
  server.use(
    http.post("/v1/sessions/s1/context/try", async ({ request }) => {
      bodies.push(await request.json());
      onces.push(request.headers.get("idempotency-key"));
      return HttpResponse.json(now, { status: 202 });
    }),
    http.get("/v1/tries/:id", () => HttpResponse.json(now)),
    http.delete("/v1/tries/:id", () => {
      now = { ...queued, status: "cancelled" };
      return HttpResponse.json(now);
    }),
    http.get("/v1/sessions/s1/context/tries", () => HttpResponse.json({ items: [], next: null })),
  );
});

async function start() {
  const user = userEvent.setup();
  renderPage(<TryPanel sessionId="s1" wish={wish} candidates={[]} />);
  await user.click(screen.getByRole("button", { name: "Try this request" }));
  return user;
}

test("sends the selection, tells that it goes on, and shows what came of it", async () => {
  await start();
  expect(await screen.findByRole("button", { name: "Cancel" })).toBeVisible();
  expect(screen.getAllByText("Waits for a worker")[0]).toBeInTheDocument();
  expect(bodies).toEqual([{ exclude: ["message:5"], replace: { "system:agent": "Be brief." } }]);
  now = aTry({
    answer: {
      role: "assistant",
      content: [
        { type: "text", text: "<b>An answer.</b>" },
        { type: "tool_use", name: "read_file", input: { path: "a" } },
      ],
    },
  });
  const result = await screen.findByRole("region", { name: "The try" });
  expect(await within(result).findByText("<b>An answer.</b>")).toBeVisible();
  expect(within(result).getByRole("group", { name: "Tool call: read_file" })).toBeVisible();
  expect(within(result).getByText(/not carried out/)).toBeVisible();
  expect(within(result).getByText("100 in, 20 out")).toBeVisible();
  expect(within(result).getByText("$0.0012")).toBeVisible();
  expect(within(result).getByRole("status")).toHaveTextContent("Answered");
});

test("can be cancelled", async () => {
  const user = await start();
  await user.click(await screen.findByRole("button", { name: "Cancel" }));
  expect(await screen.findByText("Cancelled.")).toBeVisible();
});

test.each([
  ["timed_out", null, "The model did not answer in time."],
  ["failed", "worker_lost", "The worker was lost."],
  ["failed", "provider_error", "The call failed."],
] as const)("a try that ended %s (%s) says so", async (status, code, said) => {
  now = { ...queued, status, error: code && { code, message: "As it is.", retryable: true } };
  await start();
  expect(await screen.findByText(said)).toBeVisible();
});

test.each([
  [402, { title: "The quota is used up", left: { tokens: 12 } }, /12 tokens are left/],
  [429, { detail: "Slowly." }, /Try again in 7 s/],
  [503, { detail: "The broker does not answer." }, /Nothing was begun/],
  [422, { errors: [{ at: "exclude[0]", code: "bad_part", detail: "No part." }] }, /No part/],
])("a refusal with %i says what to do", async (status, body, said) => {
  server.use(
    http.post("/v1/sessions/s1/context/try", () =>
      HttpResponse.json(body, { status, headers: { "retry-after": "7" } }),
    ),
  );
  await start();
  expect(await screen.findByRole("alert")).toHaveTextContent(said);
});

test("asked again after a lost connection, it begins once", async () => {
  let isDown = true;
  server.use(
    http.post("/v1/sessions/s1/context/try", ({ request }) => {
      onces.push(request.headers.get("idempotency-key"));
      return isDown ? HttpResponse.error() : HttpResponse.json(queued, { status: 202 });
    }),
  );
  const user = await start();
  expect(await screen.findByText("hango cannot be reached.")).toBeVisible();
  isDown = false;
  await user.click(screen.getByRole("button", { name: "Try this request" }));
  await waitFor(() => expect(onces).toHaveLength(2));
  expect(onces[0]).toBe(onces[1]);
  expect(onces[0]).toHaveLength(32);
});

test("two tries are compared, the differences of their answers marked", async () => {
  const first = aTry({ id: "t1" });
  const second = aTry({ id: "t2", excluded: ["message:5"] });
  server.use(
    http.get("/v1/sessions/s1/context/tries", () =>
      HttpResponse.json({ items: [second, first], next: null }),
    ),
    http.get("/v1/tries/t2/diff", ({ request }) => {
      expect(new URL(request.url).searchParams.get("with")).toBe("t1");
      return HttpResponse.json({
        request: {
          same: false,
          tokens: { before: 100, after: 60 },
          parts: [
            {
              part: "message:5",
              kind: "message",
              change: "left_out",
              tokens: { before: 40, after: 0 },
            },
          ],
          parameters: [],
          unchanged: 9,
        },
        answer: {
          change: "text",
          similarity: 0.5,
          text: [
            { op: "equal", before: "It is ", after: "It is " },
            { op: "replace", before: "five", after: "six" },
          ],
          tool_calls: { same: 0, before: [], after: [] },
        },
      });
    }),
  );
  const user = userEvent.setup();
  renderPage(<TryPanel sessionId="s1" wish={wish} candidates={[]} />);
  const boxes = await screen.findAllByRole("checkbox", { name: /Compare the try/ });
  expect(screen.getByRole("button", { name: "Compare two" })).toBeDisabled();
  for (const each of boxes.toReversed()) await user.click(each);
  await user.click(screen.getByRole("button", { name: "Compare two" }));
  const dialog = await screen.findByRole("dialog", { name: "Two tries" });
  expect(await within(dialog).findByText("five")).toHaveProperty("tagName", "DEL");
  expect(within(dialog).getByText("six")).toHaveProperty("tagName", "INS");
  expect(within(dialog).getByText(/100 → 60 tokens \(−40\)/)).toBeVisible();
  expect(within(dialog).getByText("left out")).toBeVisible();
});

test("keeps a message until it is sent, and for its own session alone", async () => {
  const user = userEvent.setup();
  const open = (sessionId: string) =>
    renderPage(<TryPanel sessionId={sessionId} wish={wish} candidates={[]} />);
  const field = () => screen.getByLabelText("Message");

  const first = open("s1");
  await user.type(field(), "What else?");
  first.unmount();
  server.use(
    http.get("/v1/sessions/s2/context/tries", () => HttpResponse.json({ items: [], next: null })),
  );
  const other = open("s2");
  expect(field()).toHaveValue("");
  other.unmount();

  const again = open("s1");
  expect(field()).toHaveValue("What else?");
  await user.click(screen.getByRole("button", { name: "Try this request" }));
  await screen.findByRole("button", { name: "Cancel" });
  again.unmount();
  open("s1");
  expect(field()).toHaveValue("");
});
