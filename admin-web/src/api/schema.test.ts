import { readFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";

const here = (path: string) => new URL(path, import.meta.url);

test("the types are those of the API's own document: npm run types", async () => {
  const fresh = astToString(await openapiTS(here("../../../docs/reference/openapi.json")));
  const written = await readFile(here("./schema.d.ts"), "utf8");
  expect(written.endsWith(fresh)).toBe(true);
});
