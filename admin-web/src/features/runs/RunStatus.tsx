import type { Run } from "../../api/types.ts";
import { Badge } from "../../ui/Badge.tsx";
import { shown } from "./status.ts";

export function RunStatus({ run }: { run: Run }) {
  const { name, tone } = shown(run);
  return <Badge tone={tone}>{name}</Badge>;
}
