export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The path with a query behind it; what is empty or not there is left out. */
export function withQuery(path: string, query: Query): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") given.set(name, String(value));
  }
  return given.size > 0 ? `${path}?${given}` : path;
}

/** A path of a file as a part of an address: its slashes stay, all else is escaped. */
export const escapedPath = (path: string): string =>
  path.split("/").map(encodeURIComponent).join("/");
