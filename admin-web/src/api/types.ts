/** Short names for the answers of the API; the generated document is the source. */
import type { components } from "./schema.d.ts";

type Schemas = components["schemas"];

/** Every field there: hango's answers always hold all of theirs, the document only says `may`. */
type Whole<T> = T extends readonly (infer Item)[]
  ? Whole<Item>[]
  : T extends object
    ? { [Name in keyof T]-?: Whole<Exclude<T[Name], undefined>> }
    : T;

export type WebSession = Whole<Schemas["WebSession"]>;
export type Snapshot = Schemas["ContextSnapshot"];
export type Part = Schemas["ContextPart"];
export type PartContent = Schemas["ContextPartContent"];
export type Totals = Schemas["ContextTotals"];
export type GroupName = "system" | "tools" | "messages";

export type Override = Schemas["Override"];
export type StoredSet = Whole<Omit<Schemas["StoredSet"], "overrides">> & { overrides: Override[] };
export type PastSet = Whole<Omit<Schemas["PastSet"], "overrides">> & { overrides: Override[] };
export type Preview = StoredSet & { price: Whole<Schemas["Price"]> };
export type Price = Preview["price"];
export type Partner = StoredSet["added"][number];

export type Block = { type: string } & Record<string, unknown>;
export type TryWish = Partial<Schemas["TryCreate"]>;
export type Try = Whole<Omit<Schemas["Try"], "answer">> & {
  answer: { role: string; content: Block[] } | null;
};

export type Session = Whole<Schemas["Session"]>;
export type Agent = Whole<Schemas["Agent"]>;
export type Run = Whole<Schemas["Run"]>;
export type Call = Whole<Schemas["Call"]>;
export type CallParts = Whole<Schemas["CallParts"]>;

export type TryDiff = Whole<Schemas["TryDiff"]>;

export type AblationWish = Partial<Schemas["AblationWish"]> & { parts: string[] };
export type AblationPlan = Whole<Schemas["AblationPlan"]>;
export type Ablation = Whole<Schemas["Ablation"]>;
export type AblationRow = Ablation["parts"][number];

/** A page of a list; `next` is the cursor of the one behind it. */
export type Page<T> = { items: T[]; next: string | null };

export type ListedSession = Whole<Schemas["ListedSession"]>;
export type Message = Whole<Omit<Schemas["Message"], "content">> & { content: Block[] };
export type CallDiff = Whole<Schemas["CallDiff"]>;
export type SentPart = CallParts["parts"][number];
export type FileEntry = Whole<Schemas["FileEntry"]>;
export type SessionFile = Whole<Schemas["File"]>;
export type Skill = Whole<Schemas["Skill"]>;
export type SkillEntry = Whole<Schemas["SkillEntry"]>;
export type Imported = Whole<Omit<Schemas["Import"], "report">> & { report: ImportReport };

/** How often each thing happened, by its name. */
export type Counts = Record<string, number>;
export type ImportReport = {
  format: string;
  messages: number;
  dropped: Counts;
  repaired: Counts;
  kept_not_understood: Counts;
};

export type Usage = Whole<Schemas["Usage"]>;
export type Figures = Usage["total"];
export type UsageRow = Usage["items"][number];
export type Estimate = Whole<Schemas["Estimate"]>;
export type Standing = Whole<Schemas["Standing"]>;
export type Key = Whole<Schemas["Key"]>;
export type NewKey = Whole<Schemas["NewKey"]>;
export type Me = Whole<Schemas["Me"]>;
export type User = Whole<Schemas["User"]>;
export type AuditEvent = Whole<Schemas["AuditEvent"]>;
