/** What can be asked for of the audit trail, and how an entry's details read. No DOM. */
import type { paths } from "../../api/schema.d.ts";
import type { AuditEvent } from "../../api/types.ts";

type Query = NonNullable<paths["/v1/audit"]["get"]["parameters"]["query"]>;
type Action = NonNullable<Query["action"]>;

export const ACTIONS = [
  "context.override",
  "context.try",
  "context.try_cancel",
  "run.start",
  "run.cancel",
  "session.create",
  "session.update",
  "session.delete",
  "import.create",
  "agent.create",
  "agent.update",
  "agent.delete",
  "memory.write",
  "memory.delete",
  "skill.write",
  "skill.delete",
  "tool.write",
  "tool.delete",
  "mcp.write",
  "mcp.refresh",
  "mcp.delete",
  "file.write",
  "file.delete",
  "attachment.create",
  "attachment.delete",
  "key.create",
  "key.revoke",
  "user.create",
  "user.update",
  "quota.update",
  "tenant.create",
  "tenant.update",
  "web.sign_in",
  "web.sign_out",
] as const satisfies readonly Action[];

const PAGES: Readonly<Record<string, string>> = { agent: "/agents", session: "/sessions" };

/** The page of what was acted on, where it has one and is still there. */
export function pageOf(event: AuditEvent): string | null {
  const list = PAGES[event.target_kind];
  return list && !event.action.endsWith(".delete") ? `${list}/${event.target_id}` : null;
}

/** "fields: name, model" */
export function detailOf({ detail }: AuditEvent): string {
  if (typeof detail !== "object" || detail === null) return "";
  return Object.entries(detail)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${worded(value)}`)
    .join("; ");
}

function worded(value: unknown): string {
  if (Array.isArray(value)) return value.map(worded).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
