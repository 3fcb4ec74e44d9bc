/** Tokens of parts and groups under a draft, before the server has said. No DOM. */
import type { GroupName, Part, Snapshot } from "../../api/types.ts";
import { AS_IT_IS, type ByPart, same, type Wanted } from "./model.ts";

/** In the order in which the provider reads them, and so caches them. */
export const SENDING_ORDER: readonly GroupName[] = ["tools", "system", "messages"];

const CHARACTERS_PER_TOKEN = 4; // a rule of thumb for a text that the server has not seen yet

/** How each part would be sent: what is wanted of it, or what is wanted of its partner. */
export type View = {
  readonly saved: ByPart<Wanted>;
  readonly draft: ByPart<Wanted>;
  /** Parts that have to go along with others, each with the one that it goes with. */
  readonly along: ByPart<string>;
  /** Tokens of new texts, as far as the server's price tells them. */
  readonly priced: ByPart<number>;
};

export const wantedOf = (view: View, part: string): Wanted =>
  view.draft.get(part) ?? view.saved.get(part) ?? AS_IT_IS;

export const isChanged = (view: View, part: string): boolean =>
  view.draft.has(part) && !same(wantedOf(view, part), view.saved.get(part) ?? AS_IT_IS);

/** What the part would cost in the request that the draft asks for. */
export function tokensUnder(view: View, part: Part): number {
  if (view.along.has(part.id)) return 0;
  if (!isChanged(view, part.id)) return part.included ? part.tokens : 0;
  const { excluded, replacement } = wantedOf(view, part.id);
  if (excluded) return 0;
  if (replacement === null) return part.tokens_before ?? part.tokens;
  if (replacement === view.saved.get(part.id)?.replacement) return part.tokens;
  return view.priced.get(part.id) ?? guessed(replacement);
}

const guessed = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/**
 * What the new texts of the parts cost, from what the server says that the draft saves in all.
 * Of several new texts each gets its share by length: their sum is the server's.
 */
export function pricedTexts(
  view: Omit<View, "priced">,
  parts: readonly Part[],
  savedPerCall: number,
): ByPart<number> {
  const unpriced: View = { ...view, priced: new Map() };
  const texts = new Map<string, number>();
  let known = 0; // what the parts without a new text save
  let before = 0; // what stands now where the new texts will be
  for (const part of parts) {
    const now = part.included ? part.tokens : 0;
    const { excluded, replacement } = wantedOf(unpriced, part.id);
    const isNew = isChanged(unpriced, part.id) && !excluded && !view.along.has(part.id);
    if (isNew && replacement !== null && replacement !== view.saved.get(part.id)?.replacement) {
      texts.set(part.id, guessed(replacement));
      before += now;
    } else known += now - tokensUnder(unpriced, part);
  }
  const all = Math.max(0, before - (savedPerCall - known));
  const guess = [...texts.values()].reduce((sum, each) => sum + each, 0);
  return new Map([...texts].map(([part, own]) => [part, Math.round((all * own) / (guess || 1))]));
}

export type Sums = Record<GroupName, number> & { readonly total: number };

/** The groups and the whole under the draft; without one, exactly what the server says. */
export function sumsUnder(view: View, snapshot: Snapshot): Sums {
  const sum = (name: GroupName) =>
    snapshot.groups[name].parts.reduce(
      (left, part) => left + tokensUnder(view, part) - (part.included ? part.tokens : 0),
      snapshot.groups[name].tokens.after,
    );
  const groups = { system: sum("system"), tools: sum("tools"), messages: sum("messages") };
  const before = SENDING_ORDER.reduce((left, name) => left + snapshot.groups[name].tokens.after, 0);
  const after = groups.system + groups.tools + groups.messages;
  return { ...groups, total: snapshot.totals.after + after - before };
}

/** The bar of the window: one piece for each group, in tokens. */
export type Piece = {
  readonly name: GroupName | "framing" | "free" | "reserve";
  readonly tokens: number;
};

export function pieces(sums: Sums, totals: Snapshot["totals"]): Piece[] {
  const free = totals.window - totals.reserved_output - sums.total;
  return [
    ...SENDING_ORDER.map((name) => ({ name, tokens: sums[name] })),
    { name: "framing", tokens: totals.framing },
    { name: "free", tokens: Math.max(0, free) },
    { name: "reserve", tokens: totals.reserved_output },
  ];
}
