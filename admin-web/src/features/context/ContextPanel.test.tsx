import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import { markSignedIn, signedIn } from "../../api/signed-in.ts";
import type { Override, Snapshot, StoredSet } from "../../api/types.ts";
import { aSnapshot, aStoredSet, aWebSession, part } from "../../test/factories.ts";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { ContextPanel } from "./ContextPanel.tsx";

const snapshot = aSnapshot({
  tools: [part.cachedPrefix(part.tool("read_file", { tokens: 50 }))],
  system: [part.system("agent", { tokens: 100 })],
  messages: [
    part.message(1, { tokens: 5 }),
    part.message(2, { tokens: 300 }),
    part.message(3, { tokens: 30, preview: "<img src=x onerror=alert(1)>" }),
  ],
});

/** A hango with one session: what it stores is what it was PUT. */
class Hango {
  shown: Snapshot = snapshot;
  sets: Record<string, StoredSet> = { agents: aStoredSet(), sessions: aStoredSet() };
  puts: { target: string; ifMatch: string | null; overrides: Override[] }[] = [];

  start(): void {
    server.use(
      http.get("/v1/sessions/s1/context", ({ request }) => {
        const full = new URL(request.url).searchParams.get("full");
        if (full === null) return HttpResponse.json(this.shown);
        const text = `All of ${full}`;
        const content = { role: "user", content: [{ type: "text", text }] };
        return HttpResponse.json({ content, text, before: null, omitted_characters: 0 });
      }),
      http.get("/v1/:target/:id/context-overrides", ({ params }) => this.answer(params.target)),
      http.post("/v1/:target/:id/context-overrides/preview", async ({ request }) => {
        const { overrides } = (await request.json()) as { overrides: Override[] };
        const price = {
          saved_per_call: 300,
          prefix_rebilled: 0,
          pays_after_calls: 0,
          prefix_lost: false,
        };
        const out = overrides.some((each) => each.part === "message:2");
        const added = out ? [{ part: "message:3", goes_with: "message:2", call: "c" }] : [];
        return HttpResponse.json({ ...aStoredSet(overrides), added, price });
      }),
      http.put("/v1/:target/:id/context-overrides", async ({ request, params }) => {
        const target = String(params.target);
        const { overrides } = (await request.json()) as { overrides: Override[] };
        const ifMatch = request.headers.get("if-match");
        this.puts.push({ target, ifMatch, overrides });
        const now = this.sets[target] ?? aStoredSet();
        if (ifMatch !== `"${now.version}"`)
          return HttpResponse.json({ status: 412, code: "changed" }, { status: 412 });
        this.sets[target] = aStoredSet(overrides, { version: now.version + 1 });
        return this.answer(target);
      }),
      http.get("/v1/sessions/s1/runs", () => HttpResponse.json({ items: [], next: null })),
      http.get("/v1/agents/a1", () => HttpResponse.json({ owner_id: "u1" })),
    );
  }

  private answer(target: unknown) {
    const set = this.sets[String(target)] ?? aStoredSet();
    return HttpResponse.json(set, { headers: { etag: `"${set.version}"` } });
  }
}

let hango: Hango;
beforeEach(() => {
  hango = new Hango();
  hango.start();
  markSignedIn(aWebSession());
});

async function openPanel() {
  const user = userEvent.setup();
  renderPage(<ContextPanel sessionId="s1">{() => <p>The try stands here.</p>}</ContextPanel>);
  const list = await screen.findByRole("grid", { name: "Parts of the next call" });
  return { user, list };
}
const row = (name: string) => screen.getByRole("row", { name: new RegExp(`^${name},`) });
const box = (name: string) => screen.getByRole("checkbox", { name: `Send ${name}` });
const bar = () => screen.findByRole("region", { name: "Unsaved changes" });

test("shows every part with its tokens, and is silent when all is well", async () => {
  const { list } = await openPanel();
  expect(list).toHaveAttribute("aria-rowcount", "9");
  expect(within(row("#2 assistant")).getByText("300")).toBeVisible();
  expect(box("read_file")).toBeChecked();
  expect(screen.getByText(/the cached prefix ends here/)).toBeVisible();
  expect(screen.queryAllByRole("note")).toEqual([]);
  expect(screen.queryAllByRole("alert")).toEqual([]);
  expect(screen.queryByRole("region", { name: "Unsaved changes" })).toBeNull();
});

test("content is text, whatever it looks like", async () => {
  await openPanel();
  expect(within(row("#3 user")).getByText("<img src=x onerror=alert(1)>")).toBeVisible();
  expect(document.querySelector("img")).toBeNull();
});

test("a choice is priced with what goes along, saved as a whole set, and can be undone", async () => {
  const { user } = await openPanel();
  await user.click(box("#2 assistant"));
  const unsaved = await bar();
  expect(unsaved).toHaveTextContent("1 left out");
  expect(await within(unsaved).findByText(/≈ −300 tokens per call/)).toBeVisible();
  expect(row("#3 user")).toHaveAccessibleName(/left out, goes with #2/);
  expect(box("#3 user")).not.toBeChecked();

  await user.click(within(unsaved).getByRole("button", { name: "Save" }));
  expect(await screen.findByText(/It acts from the next run/)).toBeVisible();
  expect(hango.puts).toEqual([
    { target: "sessions", ifMatch: '"1"', overrides: [{ part: "message:2", action: "exclude" }] },
  ]);
  expect(screen.queryByRole("region", { name: "Unsaved changes" })).toBeNull();

  await user.click(screen.getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(hango.puts.at(-1)).toMatchObject({ ifMatch: '"2"', overrides: [] }));
});

test("when somebody else saved first both versions are shown, and nothing is lost", async () => {
  const { user } = await openPanel();
  await user.click(box("#2 assistant"));
  const theirs: Override = { part: "message:1", action: "exclude" };
  hango.sets.sessions = aStoredSet([theirs], { version: 5 });
  await user.click(within(await bar()).getByRole("button", { name: "Save" }));

  const dialog = await screen.findByRole("dialog", { name: /Somebody else has saved/ });
  await waitFor(() => expect(within(dialog).getByText("#1")).toBeVisible());
  await user.click(within(dialog).getByRole("button", { name: /Keep mine/ }));
  await user.click(within(await bar()).getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(hango.puts.at(-1)).toEqual({
      target: "sessions",
      ifMatch: '"5"',
      overrides: [theirs, { part: "message:2", action: "exclude" }],
    }),
  );
});

test("the keyboard alone: arrows go, space chooses, Enter opens", async () => {
  const { user } = await openPanel();
  row("read_file").focus();
  await user.keyboard("{ArrowDown}");
  expect(row("agent")).toHaveFocus();
  await user.keyboard("{End} ");
  expect(box("#3 user")).not.toBeChecked();
  expect(row("#3 user")).toHaveFocus();
  await user.keyboard("{Home}{Enter}");
  const sheet = await screen.findByRole("dialog", { name: "read_file" });
  expect(await within(sheet).findByText("All of tool:read_file")).toBeVisible();
});

test("a text that was written goes into the selection, and outlives the sheet until then", async () => {
  const { user } = await openPanel();
  const open = async () => {
    await user.click(row("#1 user"));
    const sheet = await screen.findByRole("dialog", { name: "#1 user" });
    await user.click(await within(sheet).findByRole("tab", { name: "Edit" }));
    return within(sheet);
  };
  let sheet = await open();
  await user.clear(sheet.getByLabelText("Sent in its place"));
  await user.type(sheet.getByLabelText("Sent in its place"), "Short.");
  await user.click(sheet.getByRole("button", { name: "Close" }));
  sheet = await open();
  expect(sheet.getByLabelText("Sent in its place")).toHaveValue("Short.");
  await user.click(sheet.getByRole("button", { name: "Use this text" }));
  expect(await bar()).toHaveTextContent("1 replaced");
});

test("a refused set says why at its part, and offers what would do instead", async () => {
  server.use(
    http.post("/v1/sessions/s1/context-overrides/preview", () =>
      HttpResponse.json(
        {
          status: 422,
          code: "overrides_refused",
          errors: [{ at: "overrides[0]", code: "x", detail: "Leave the question in." }],
          alternatives: [{ part: "message:1", action: "replace", replacement: "[left out]" }],
        },
        { status: 422 },
      ),
    ),
  );
  const { user } = await openPanel();
  await user.click(box("#1 user"));
  expect(await screen.findByText("#1: Leave the question in.")).toBeVisible();
  expect(within(await bar()).getByRole("button", { name: "Save" })).toBeDisabled();
  await user.click(screen.getByRole("button", { name: /Send #1 as/ }));
  expect(await bar()).toHaveTextContent("1 replaced");
});

test("an expired session keeps the selection", async () => {
  const { user } = await openPanel();
  await user.click(box("#2 assistant"));
  server.use(
    http.put("/v1/sessions/s1/context-overrides", () =>
      HttpResponse.json({ status: 401, detail: "Sign in." }, { status: 401 }),
    ),
  );
  await user.click(within(await bar()).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(signedIn.get().status).toBe("expired"));
  expect(await bar()).toHaveTextContent("1 left out");
});

test("what is out of the ordinary is said in words", async () => {
  hango.shown = {
    ...snapshot,
    would_compact: true,
    sendable: false,
    overrides: {
      active: 2,
      stale: 1,
      base_changed: 1,
      suspended: "It would start with an answer.",
    },
  };
  await openPanel();
  for (const said of [/would compact/, /nothing to send/, /1 stale/, /changed base/])
    expect(screen.getByText(said)).toBeVisible();
  expect(screen.getByRole("alert")).toHaveTextContent("It would start with an answer.");
  expect(screen.getByText("2 overrides active")).toBeVisible();
});

test("a failure says what the server said, and can be tried again", async () => {
  let isDown = true;
  server.use(
    http.get("/v1/sessions/s1/context", () =>
      isDown
        ? HttpResponse.json(
            { detail: "The database does not answer.", request_id: "r1" },
            { status: 503 },
          )
        : HttpResponse.json(snapshot),
    ),
  );
  const user = userEvent.setup();
  renderPage(<ContextPanel sessionId="s1">{() => null}</ContextPanel>);
  expect(screen.getByText(/Loading the context/)).toBeVisible();
  expect(await screen.findByRole("alert")).toHaveTextContent("The database does not answer.");
  isDown = false;
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByRole("grid")).toBeVisible();
});
