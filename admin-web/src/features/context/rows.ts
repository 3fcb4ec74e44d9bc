/** The rows of the list: ordered, filtered, folded, with what stands between them. No DOM. */
import type { GroupName, Part, Snapshot } from "../../api/types.ts";
import { SENDING_ORDER, tokensUnder, type View } from "./tokens.ts";

export const ORDERS = ["position", "size", "kind"] as const;
export type Order = (typeof ORDERS)[number];

export const SHOWN = ["all", "new", "changed", "left-out"] as const;
export type Shown = (typeof SHOWN)[number];

/** What the last call sent: the hash of each part's content, by its id. */
export type LastCall = ReadonlyMap<string, string>;
export type Novelty = "new" | "changed" | null;

export type Row =
  | { type: "heading"; key: string; label: string; parts: number; before: number; after: number }
  | { type: "part"; key: string; part: Part; group: GroupName; upTo: number; novelty: Novelty }
  | { type: "border"; key: "border" }
  | { type: "fold"; key: string; parts: number; tokens: number; group: GroupName; last: string };

type PartRow = Extract<Row, { type: "part" }>;

export type Wish = {
  order: Order;
  shown: Shown;
  text: string;
  view: View;
  lastCall: LastCall | null;
  /** Keys of the folds that the user has opened. */
  opened: ReadonlySet<string>;
};

const HEADINGS: Record<GroupName, string> = {
  tools: "Tools",
  system: "System",
  messages: "Messages",
};

/** All rows of a snapshot. */
export function rowsOf(snapshot: Snapshot, wish: Wish): Row[] {
  const all = partRows(snapshot, wish);
  const found = all.filter((row) => isFound(row.part, wish.text) && isShown(row, wish));
  if (wish.order === "size") return [...found].sort((a, b) => b.part.tokens - a.part.tokens);
  if (wish.order === "kind") return byKind(found, wish.view);
  const rows = wish.shown === "new" && wish.text === "" ? folded(all, wish) : found;
  return withBorder(byGroup(snapshot, rows, wish.view), all);
}

/** Every part in sending order, with the tokens up to and with it. */
function partRows(snapshot: Snapshot, { view, lastCall }: Wish): PartRow[] {
  let upTo = 0;
  return SENDING_ORDER.flatMap((group) =>
    snapshot.groups[group].parts.map((part): PartRow => {
      upTo += tokensUnder(view, part);
      return { type: "part", key: part.id, part, group, upTo, novelty: noveltyOf(part, lastCall) };
    }),
  );
}

/** Whether the last call had this part, and with this content. Nothing is new without a last call. */
export function noveltyOf(part: Part, lastCall: LastCall | null): Novelty {
  if (!lastCall || !part.included) return null;
  const hash = lastCall.get(part.id);
  return hash === undefined ? "new" : hash === part.sha256 ? null : "changed";
}

function isFound(part: Part, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    wanted === "" ||
    [part.id, part.label, part.preview].some((each) => each.toLowerCase().includes(wanted))
  );
}

function isShown({ part, novelty }: PartRow, { shown, view }: Wish): boolean {
  switch (shown) {
    case "all":
      return true;
    case "new":
      return novelty !== null;
    case "changed":
      return view.draft.has(part.id) || view.saved.has(part.id) || part.override !== "none";
    case "left-out":
      return tokensUnder(view, part) === 0 || !part.included;
  }
}

/** Runs of what the last call had already, each as one row until it is opened. */
function folded(all: readonly PartRow[], { opened }: Wish): Row[] {
  const rows: Row[] = [];
  let run: PartRow[] = [];
  const end = () => {
    const first = run[0];
    if (!first) return;
    const key = `fold:${first.key}`;
    const tokens = run.reduce((sum, { part }) => sum + (part.included ? part.tokens : 0), 0);
    const { group } = first;
    const last = run.at(-1)?.key ?? first.key;
    const fold: Row = { type: "fold", key, parts: run.length, tokens, group, last };
    rows.push(...(opened.has(key) ? run : [fold]));
    run = [];
  };
  for (const row of all) {
    if (row.novelty !== null || row.group !== run[0]?.group) end();
    if (row.novelty === null) run.push(row);
    else rows.push(row);
  }
  end();
  return rows;
}

function byGroup(snapshot: Snapshot, rows: readonly Row[], view: View): Row[] {
  return SENDING_ORDER.flatMap((name): Row[] => {
    const { parts, tokens } = snapshot.groups[name];
    const own = rows.filter((row) => "group" in row && row.group === name);
    if (own.length === 0 && parts.length > 0) return [];
    const after = parts.reduce((sum, part) => sum + tokensUnder(view, part), 0);
    return [heading(`group:${name}`, HEADINGS[name], parts.length, tokens.before, after), ...own];
  });
}

const heading = (
  key: string,
  label: string,
  parts: number,
  before: number,
  after: number,
): Row => ({
  type: "heading",
  key,
  label,
  parts,
  before,
  after,
});

/** The line below which nothing is cached, where a cached part stands above it in the list. */
function withBorder(rows: Row[], all: readonly PartRow[]): Row[] {
  const last = all.findLast(({ part }) => part.cached_prefix)?.key;
  if (last === undefined) return rows;
  const places = new Map(all.map((row, index) => [row.key, index]));
  const end = places.get(last) ?? 0;
  const place = (row: Row) => places.get(row.type === "fold" ? row.last : row.key);
  const at = rows.findLastIndex((row) => (place(row) ?? Infinity) <= end);
  if (at < 0) return rows;
  return rows.toSpliced(at + 1, 0, { type: "border", key: "border" });
}

function byKind(rows: readonly PartRow[], view: View): Row[] {
  const groups = new Map<string, PartRow[]>();
  for (const row of rows) {
    const own = groups.get(kindOf(row));
    if (own) own.push(row);
    else groups.set(kindOf(row), [row]);
  }
  const cost = (own: readonly PartRow[]) => own.reduce((sum, { part }) => sum + part.tokens, 0);
  return [...groups]
    .sort(([, a], [, b]) => cost(b) - cost(a))
    .flatMap(([label, own]) => {
      const before = own.reduce((sum, { part }) => sum + (part.tokens_before ?? part.tokens), 0);
      const after = own.reduce((sum, { part }) => sum + tokensUnder(view, part), 0);
      const heaviest = [...own].sort((a, b) => b.part.tokens - a.part.tokens);
      return [heading(`kind:${label}`, label, own.length, before, after), ...heaviest];
    });
}

function kindOf({ part, group }: PartRow): string {
  if (group !== "messages") return HEADINGS[group];
  if (part.kind === "summary") return "Summary";
  if (part.synthetic) return "Made for this request";
  if (part.preview.startsWith("[tool_result")) return "Tool results";
  return part.role === "assistant" ? "Assistant" : "User";
}

/** The heaviest parts of the request, heaviest first. */
export function heaviest(snapshot: Snapshot, view: View, most: number): Part[] {
  return SENDING_ORDER.flatMap((name) => snapshot.groups[name].parts)
    .filter((part) => tokensUnder(view, part) > 0)
    .sort((a, b) => tokensUnder(view, b) - tokensUnder(view, a))
    .slice(0, most);
}
