import { setupServer } from "msw/node";

/** The network of the tests: each says what it answers, anything else is an error. */
export const server = setupServer();
