import type { KeyboardEvent } from "react";
import type { Part } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import style from "./PartSheet.module.css";

type Props = {
  part: Part;
  /** What stands there now. */
  text: string;
  /** What has been written, while it is not taken yet. */
  draft: string;
  onDraft: (text: string) => void;
  onReplace: (text: string) => void;
};

/** Another text for a part. It goes into the selection; nothing is saved here. */
export function Editor({ part, text, draft, onDraft, onReplace }: Props) {
  const isEmpty = draft.trim() === "";
  const isSame = draft === text;
  const take = () => {
    if (!isEmpty && !isSame) onReplace(draft);
  };
  return (
    <div className={style.editor}>
      <Field
        label="Sent in its place"
        hint={hintFor(part)}
        error={isEmpty && "Write what stands in its place, or leave the part out."}
      >
        {(control) => (
          <textarea
            {...control}
            dir="auto"
            spellCheck={false}
            value={draft}
            onChange={(event) => onDraft(event.target.value)}
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take();
            }}
          />
        )}
      </Field>
      <div className={style.actions}>
        <Button look="primary" disabled={isEmpty || isSame} onClick={take}>
          Use this text
        </Button>
        <Button disabled={isSame} onClick={() => onDraft(text)}>
          Take back
        </Button>
        <span>{whole(draft.length)} characters</span>
      </div>
    </div>
  );
}

function hintFor(part: Part): string {
  if (part.kind === "system") return "Acts in every session of the agent, once it is saved.";
  if (part.preview.startsWith("[tool_result")) return "Becomes the content of the tool's result.";
  if (part.role === "assistant")
    return "Replaces its text; tool calls and thinking stay as they are.";
  return "Acts in this session alone, once it is saved.";
}
