import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { expect, test } from "vitest";
import type { Ablation, AblationRow } from "../../api/types.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { AblationDialog } from "./AblationDialog.tsx";

const aRow = (changes: Partial<AblationRow>): AblationRow => ({
  part: null,
  state: "waiting",
  tokens: { before: 100, after: 100 },
  added: [],
  same_as: null,
  try_id: null,
  change: null,
  similarity: null,
  beyond_noise: null,
  cost: null,
  latency_ms: null,
  error: null,
  ...changes,
});
const estimate = {
  tries: 3,
  likely: { micro_dollars: 20_000 },
  most: { micro_dollars: 90_000 },
  needed: { micro_dollars: 10_000 },
};
const anAblation = (changes: Partial<Ablation>): Ablation => ({
  id: "a1",
  session_id: "s1",
  status: "running",
  model: "m",
  created_at: "2026-11-30T20:00:00Z",
  finished_at: null,
  cancel_requested_at: null,
  max_cost: estimate.most,
  estimate,
  cost: { micro_dollars: 0 },
  progress: { done: 1, total: 3 },
  baselines: [aRow({})],
  parts: [aRow({ part: "message:5", state: "running" })],
  noise: null,
  error: null,
  ...changes,
});

test("the price is shown and confirmed, then the table fills", async () => {
  let now = anAblation({});
  let body: unknown;
  server.use(
    http.get("/v1/sessions/s1/context/ablations", () =>
      HttpResponse.json({ items: [], next: null }),
    ),
    http.post("/v1/sessions/s1/context/ablations/preview", () =>
      HttpResponse.json({
        estimate,
        baselines: [],
        parts: [aRow({ part: "tool:x", state: "refused" })],
      }),
    ),
    http.post("/v1/sessions/s1/context/ablations", async ({ request }) => {
      body = await request.json();
      return HttpResponse.json(now, { status: 202 });
    }),
    http.get("/v1/ablations/a1", () => HttpResponse.json(now)),
  );
  const user = userEvent.setup();
  const shown: string[] = [];
  renderPage(
    <AblationDialog
      sessionId="s1"
      wish={{ exclude: [], replace: {}, beyond: [] }}
      candidates={[
        { id: "tool:x", label: "x", tokens: 5 },
        { id: "message:5", label: "#5", tokens: 40 },
      ]}
      onShowTry={(id) => shown.push(id)}
      onClose={() => undefined}
    />,
  );
  expect(await screen.findByText("3 calls, likely $0.0200, $0.0900 at most.")).toBeVisible();
  expect(screen.getByText("cannot be left out")).toBeVisible();
  await user.click(screen.getByRole("checkbox", { name: /^x/ }));
  await waitFor(() => expect(screen.getByRole("button", { name: "Start" })).toBeEnabled());
  await user.click(screen.getByRole("button", { name: "Start" }));
  expect(await screen.findByText(/1 of 3 calls/)).toBeVisible();
  expect(body).toMatchObject({ parts: ["message:5"], max_cost: { micro_dollars: 90_000 } });

  now = anAblation({
    status: "succeeded",
    progress: { done: 3, total: 3 },
    noise: { change: "text", similarity: 0.9 },
    parts: [
      aRow({
        part: "message:5",
        state: "succeeded",
        tokens: { before: 100, after: 60 },
        try_id: "t9",
        change: "text",
        similarity: 0.4,
        beyond_noise: true,
      }),
    ],
  });
  const verdict = await screen.findByText("another text, more than by chance");
  const row = within(verdict.closest("tr") ?? document.body);
  expect(row.getByText("−40")).toBeVisible();
  await user.click(row.getByRole("button", { name: "Show the answer" }));
  expect(shown).toEqual(["t9"]);
});
