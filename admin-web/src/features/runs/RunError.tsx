import type { Run } from "../../api/types.ts";
import { Notice } from "../../ui/Notice.tsx";

/** Why a run has failed, where it has. */
export function RunError({ run: { error } }: { run: Run }) {
  if (!error) return null;
  return (
    <Notice tone="bad" title={`The run failed: ${error.code.replaceAll("_", " ")}.`}>
      {error.detail} {error.retryable && "The same may well succeed when it is tried again."}
    </Notice>
  );
}
