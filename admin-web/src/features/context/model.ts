/** What is saved, what the user wants instead, and what follows from it. No DOM, no network. */
import type { Versioned } from "../../api/client.ts";
import type { Fault } from "../../api/problem.ts";
import type { Override, Part, Partner, StoredSet } from "../../api/types.ts";

export type Target = "agent" | "session";
export const TARGETS: readonly Target[] = ["agent", "session"];

/** Both stored sets, each with the ETag that a change of it is meant for. */
export type Sets = Record<Target, Versioned<StoredSet>>;

/** What is to become of a part. A text is kept while the part is left out, so that it can return. */
export type Wanted = { readonly excluded: boolean; readonly replacement: string | null };

export type ByPart<T> = ReadonlyMap<string, T>;

/** The parts that the user has touched; the others stay as they are saved. */
export type Draft = ByPart<Wanted>;

/** A draft, and the sets on which it was begun: a save is refused when they are no longer so. */
export type Selection = { readonly draft: Draft; readonly base: Sets | null };

export const AS_IT_IS: Wanted = { excluded: false, replacement: null };
export const NOTHING_CHANGED: Selection = { draft: new Map(), base: null };

export type Change =
  | { type: "toggle"; part: string; partners: ByPart<readonly string[]> }
  | { type: "replace"; part: string; text: string }
  | { type: "restore"; part: string }
  | { type: "discard" }
  | { type: "saved"; target: Target; answer: Versioned<StoredSet> }
  | { type: "rebase" };

/** The selection after one thing that the user did, or that the server answered. */
export function changed(selection: Selection, sets: Sets, change: Change): Selection {
  if (change.type === "discard") return NOTHING_CHANGED;
  const saved = savedIn(sets);
  const draft = new Map(selection.draft);
  switch (change.type) {
    case "toggle":
      toggle(draft, saved, change.part, change.partners);
      break;
    case "replace":
      draft.set(change.part, { excluded: false, replacement: change.text });
      break;
    case "restore":
      draft.set(change.part, AS_IT_IS);
      break;
    case "saved":
      for (const part of selection.draft.keys()) {
        if (targetOf(part) === change.target) draft.delete(part);
      }
  }
  for (const [part, wanted] of draft) {
    if (identical(wanted, saved.get(part) ?? AS_IT_IS)) draft.delete(part);
  }
  if (draft.size === 0) return NOTHING_CHANGED;
  return { draft, base: baseAfter(selection.base, sets, change) };
}

function baseAfter(base: Sets | null, sets: Sets, change: Change): Sets {
  if (!base || change.type === "rebase") return sets;
  return change.type === "saved" ? { ...base, [change.target]: change.answer } : base;
}

/** A part that returns brings back those without which it could not be sent. */
function toggle(
  draft: Map<string, Wanted>,
  saved: ByPart<Wanted>,
  part: string,
  partners: ByPart<readonly string[]>,
): void {
  const now = (each: string) => draft.get(each) ?? saved.get(each) ?? AS_IT_IS;
  const goesAlong = [...(partners.get(part) ?? [])].some((each) => now(each).excluded);
  if (!now(part).excluded && !goesAlong) {
    draft.set(part, { ...now(part), excluded: true });
    return;
  }
  for (const each of closure(part, partners)) {
    if (now(each).excluded) draft.set(each, { ...now(each), excluded: false });
  }
}

/** The part with all that leave and return together with it. */
function closure(part: string, partners: ByPart<readonly string[]>): Set<string> {
  const found = new Set([part]);
  for (const each of found) partners.get(each)?.forEach((other) => found.add(other));
  return found;
}

/** Whose set an override of the part goes into; null: nobody's, the chain alone makes it. */
export function targetOf(part: string): Target | null {
  if (part.startsWith("system:") || part.startsWith("tool:")) return "agent";
  return part === "summary" || part.startsWith("message:") ? "session" : null;
}

export const canReplace = (part: Pick<Part, "id" | "kind" | "stale">): boolean =>
  part.kind !== "tool" && targetOf(part.id) !== null && !part.stale;

/** What the stored sets say of each part that they name. */
export function savedIn(sets: Sets): ByPart<Wanted> {
  const all = TARGETS.flatMap((target) => sets[target].value.overrides);
  return new Map(
    all.map((each) => [
      each.part,
      { excluded: each.action === "exclude", replacement: each.replacement ?? null },
    ]),
  );
}

const identical = (a: Wanted, b: Wanted): boolean =>
  a.excluded === b.excluded && a.replacement === b.replacement;

/** Whether both come to the same request. */
export const same = (a: Wanted, b: Wanted): boolean =>
  a.excluded === b.excluded && (a.excluded || a.replacement === b.replacement);

/** The parts of the draft that are really to become something else. */
export function unsaved(draft: Draft, saved: ByPart<Wanted>): Draft {
  return new Map([...draft].filter(([part, to]) => !same(to, saved.get(part) ?? AS_IT_IS)));
}

/** The whole set to PUT: what stands, changed by the draft. Entries keep their place and reason. */
export function setToSave(target: Target, stored: readonly Override[], draft: Draft): Override[] {
  const kept = stored.flatMap((each) => {
    const wanted = draft.get(each.part);
    return wanted ? entry(each.part, wanted, each) : [each];
  });
  const known = new Set(stored.map((each) => each.part));
  const added = [...draft]
    .filter(([part]) => targetOf(part) === target && !known.has(part))
    .flatMap(([part, wanted]) => entry(part, wanted));
  return [...kept, ...added];
}

function entry(part: string, wanted: Wanted, stored?: Override): Override[] {
  const was = stored && {
    excluded: stored.action === "exclude",
    replacement: stored.replacement ?? null,
  };
  if (stored && was && same(was, wanted)) return [stored];
  if (wanted.excluded) return [{ part, action: "exclude" }];
  if (wanted.replacement === null) return [];
  return [{ part, action: "replace", replacement: wanted.replacement }];
}

export type Wish = {
  readonly exclude: readonly string[];
  readonly replace: Readonly<Record<string, string>>;
  /** Parts that a try cannot bring back: they are left out by what is saved. */
  readonly beyond: readonly string[];
};

/** The draft as a try's body: what is saved applies to a try by itself. */
export function wishOf(draft: Draft, saved: ByPart<Wanted>): Wish {
  const exclude: string[] = [];
  const replace: Record<string, string> = {};
  const beyond: string[] = [];
  for (const [part, wanted] of unsaved(draft, saved)) {
    if (wanted.excluded) exclude.push(part);
    else if (wanted.replacement !== null) replace[part] = wanted.replacement;
    else beyond.push(part);
  }
  return { exclude, replace, beyond };
}

/** By part, those that leave with it: as stored, and as the preview of the draft says. */
export function partnersIn(parts: readonly Part[], added: readonly Partner[]): ByPart<string[]> {
  const found = new Map<string, string[]>();
  const join = (a: string, b: string) => found.set(a, [...(found.get(a) ?? []), b]);
  for (const part of parts) part.paired_with?.forEach((other) => join(part.id, other));
  for (const { part, goes_with } of added) {
    join(part, goes_with);
    join(goes_with, part);
  }
  return found;
}

/** What the server said of single entries of a set, by the part that each is about. */
export function faultsByPart(sent: readonly Override[], faults: readonly Fault[]): ByPart<Fault> {
  const found = new Map<string, Fault>();
  for (const fault of faults) {
    const index = /^overrides\[(\d+)\]/.exec(fault.at)?.[1];
    const part = index === undefined ? undefined : sent[Number(index)]?.part;
    if (part !== undefined) found.set(part, fault);
  }
  return found;
}

export type Conflict = {
  readonly part: string;
  readonly was: Wanted;
  readonly theirs: Wanted;
  /** Null: the draft does not touch this part. */
  readonly mine: Wanted | null;
};

/** What others have saved since the draft was begun, beside what the draft wants. */
export function conflicts(base: Sets, current: Sets, draft: Draft): Conflict[] {
  const [before, after] = [savedIn(base), savedIn(current)];
  const named = new Set([...before.keys(), ...after.keys(), ...draft.keys()]);
  return [...named].flatMap((part) => {
    const was = before.get(part) ?? AS_IT_IS;
    const theirs = after.get(part) ?? AS_IT_IS;
    const mine = draft.get(part) ?? null;
    const untouched = same(was, theirs) && (mine === null || same(mine, was));
    return untouched ? [] : [{ part, was, theirs, mine }];
  });
}

/** In two or three words. */
export const saidOf = (wanted: Wanted): string =>
  wanted.excluded ? "left out" : wanted.replacement === null ? "as it is" : "replaced";
