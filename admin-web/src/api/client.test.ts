import { http, HttpResponse } from "msw";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { aWebSession } from "../test/factories.ts";
import { server } from "../test/server.ts";
import { api } from "./client.ts";
import { ApiProblem, Unreachable } from "./problem.ts";
import { csrfToken, markSignedIn, signedIn } from "./signed-in.ts";

const SESSION = aWebSession();

const at = (path: string) => new URL(path, "http://hango.test").href;

// Node has no page whose address the client's paths could be on.
vi.stubGlobal("location", new URL("http://hango.test/admin/"));

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

test("a change carries the session's token, the version it is meant for, and JSON", async () => {
  markSignedIn(SESSION);
  let seen: Headers | undefined;
  server.use(
    http.put(at("/v1/thing"), ({ request }) => {
      seen = request.headers;
      return HttpResponse.json({ version: 4 }, { headers: { etag: '"4"' } });
    }),
  );
  const answer = await api.putVersioned(at("/v1/thing"), { a: 1 }, { ifMatch: '"3"' });
  expect(answer).toEqual({ value: { version: 4 }, etag: '"4"' });
  expect(seen?.get("x-csrf-token")).toBe("t0k3n");
  expect(seen?.get("if-match")).toBe('"3"');
  expect(seen?.get("content-type")).toBe("application/json");
});

test("a problem becomes an ApiProblem with its code, its faults and when to ask again", async () => {
  server.use(
    http.get(at("/v1/thing"), () =>
      HttpResponse.json(
        {
          status: 429,
          code: "rate_limited",
          detail: "Wait a little.",
          request_id: "r1",
          errors: [{ at: "x", code: "y", detail: "z" }],
        },
        { status: 429, headers: { "retry-after": "7" } },
      ),
    ),
  );
  const error = await api.get(at("/v1/thing")).catch((problem: unknown) => problem);
  expect(error).toBeInstanceOf(ApiProblem);
  expect(error).toMatchObject({
    status: 429,
    code: "rate_limited",
    message: "Wait a little.",
    retryAfter: 7,
    requestId: "r1",
    faults: [{ at: "x", code: "y", detail: "z" }],
  });
});

test("a proxy's page of HTML is a problem too", async () => {
  server.use(
    http.get(at("/v1/thing"), () => HttpResponse.html("<h1>Bad gateway</h1>", { status: 502 })),
  );
  await expect(api.get(at("/v1/thing"))).rejects.toMatchObject({ status: 502, code: "unknown" });
});

test("no answer at all is said in words", async () => {
  server.use(http.get(at("/v1/thing"), () => HttpResponse.error()));
  await expect(api.get(at("/v1/thing"))).rejects.toBeInstanceOf(Unreachable);
});

test("401 ends the session, and what is known of it stays", async () => {
  markSignedIn(SESSION);
  server.use(http.get(at("/v1/thing"), () => HttpResponse.json({ status: 401 }, { status: 401 })));
  await expect(api.get(at("/v1/thing"))).rejects.toMatchObject({ status: 401 });
  expect(signedIn.get()).toEqual({ status: "expired", session: SESSION });
  expect(csrfToken()).toBe("t0k3n");
});

test("after the same user has signed in again in another tab, a change is sent with the new token", async () => {
  markSignedIn(SESSION);
  const seen: (string | null)[] = [];
  server.use(
    http.get("*/v1/web-session", () => HttpResponse.json(aWebSession({ csrf_token: "new" }))),
    http.put(at("/v1/thing"), ({ request }) => {
      const token = request.headers.get("x-csrf-token");
      seen.push(token);
      return token === "new"
        ? HttpResponse.json({ done: true })
        : HttpResponse.json({ code: "cross_site" }, { status: 403 });
    }),
  );
  expect(await api.put(at("/v1/thing"), {})).toEqual({ done: true });
  expect(seen).toEqual(["t0k3n", "new"]);
});
