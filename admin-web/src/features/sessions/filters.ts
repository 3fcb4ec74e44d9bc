/** What the list of sessions shows, as the page's address says it. No DOM. */

export type Filters = {
  readonly query: string;
  readonly agent: string;
  readonly archived: "false" | "true" | "";
  readonly overrides: "" | "true" | "false";
};

export const filtersOf = (search: URLSearchParams): Filters => ({
  query: search.get("query") ?? "",
  agent: search.get("agent") ?? "",
  archived: oneOf(search.get("archived"), ["false", "true", ""]),
  overrides: oneOf(search.get("overrides"), ["", "true", "false"]),
});

/** The address after one filter was changed. */
export function withFilter(search: URLSearchParams, name: keyof Filters, value: string) {
  const next = new URLSearchParams(search);
  const isDefault = value === filtersOf(new URLSearchParams())[name];
  if (isDefault) next.delete(name);
  else next.set(name, value);
  return next;
}

export const asQuery = ({ query, agent, archived, overrides }: Filters) => ({
  query: query.trim(),
  agent_id: agent,
  archived,
  overrides,
});

/** Whether more than the page's own choice is left out. */
export const isNarrowed = ({ query, agent, archived, overrides }: Filters): boolean =>
  query.trim() !== "" || agent !== "" || overrides !== "" || archived === "true";

/** The first one where it is none of them: somebody changed the address by hand. */
function oneOf<const Known extends string>(
  value: string | null,
  known: readonly [Known, ...Known[]],
): Known {
  return known.find((each) => each === value) ?? known[0];
}
