import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { expect, test, vi } from "vitest";
import { renderPage } from "../../test/render.tsx";
import { server } from "../../test/server.ts";
import { NewKey } from "./NewKey.tsx";

test("a new key is shown this once, to be copied", async () => {
  let wanted: unknown;
  server.use(
    http.post("/v1/keys", async ({ request }) => {
      wanted = await request.json();
      return HttpResponse.json({ id: "k1", name: "CI", key: "hk_secret" }, { status: 201 });
    }),
  );
  const user = userEvent.setup(); // with a clipboard of its own
  const onClose = vi.fn();
  renderPage(<NewKey isAdmin={false} onClose={onClose} />);
  expect(screen.getByRole("button", { name: "Make" })).toBeDisabled();
  await user.type(screen.getByLabelText("Name"), " CI ");
  await user.click(screen.getByRole("button", { name: "Make" }));

  expect(await screen.findByLabelText("The key")).toHaveTextContent("hk_secret");
  expect(wanted).toEqual({ name: "CI" });
  await user.click(screen.getByRole("button", { name: "Copy the key" }));
  expect(await screen.findByText("Copied.")).toBeVisible();
  expect(await navigator.clipboard.readText()).toBe("hk_secret");
  await user.click(screen.getByRole("button", { name: "I have it" }));
  expect(onClose).toHaveBeenCalledOnce();
});
