import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll } from "vitest";
import { server } from "./server.ts";

configure({ asyncUtilTimeout: 5000 }); // a busy machine is slow, and not wrong

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());

// jsdom has no top layer: a dialog is shown and hidden, and that is all that the tests look at.
HTMLDialogElement.prototype.showModal = function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close = function (this: HTMLDialogElement) {
  this.open = false;
};

// jsdom knows no media queries: the tests' screen is a wide and light one.
window.matchMedia = (media: string) =>
  Object.assign(new EventTarget(), {
    media,
    matches: media.includes("min-width"),
    onchange: null,
    addListener: () => undefined,
    removeListener: () => undefined,
  });
window.scrollTo = () => undefined;
