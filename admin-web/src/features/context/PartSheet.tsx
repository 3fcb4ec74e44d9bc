import { useQuery } from "@tanstack/react-query";
import type { Part, PartContent } from "../../api/types.ts";
import { whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { type AnyBlock, Blocks, isBlock } from "../../ui/Blocks.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { ErrorState, LoadingState } from "../../ui/states.tsx";
import { type Tab, Tabs } from "../../ui/Tabs.tsx";
import { Editor } from "./Editor.tsx";
import type { Flag } from "./flags.ts";
import { canReplace, type Wanted } from "./model.ts";
import { partQuery } from "./queries.ts";
import style from "./PartSheet.module.css";

type Props = {
  sessionId: string;
  part: Part;
  /** Changes with the stored sets: the content that is sent may then be another. */
  etags: string;
  flags: readonly Flag[];
  wanted: Wanted;
  isOut: boolean;
  canToggle: boolean;
  onToggle: () => void;
  /** A text that was written and not taken yet; it outlives the sheet. */
  edit: string | undefined;
  onEdit: (text: string) => void;
  onReplace: (text: string) => void;
  onRestore: () => void;
  onStep: ((by: 1 | -1) => void) | null;
  onClose: () => void;
};

/** One part in full: as it is sent, raw, as it was; and the editor of what stands in its place. */
export function PartSheet({ sessionId, part, etags, flags, onClose, ...rest }: Props) {
  const found = useQuery({ ...partQuery(sessionId, part.id, etags), enabled: !part.stale });
  return (
    <Dialog
      shape="sheet"
      title={part.label}
      about={
        <>
          <code>{part.id}</code> · {whole(part.tokens)} tokens
          {part.tokens_before != null && `, ${whole(part.tokens_before)} before`}
        </>
      }
      onClose={onClose}
    >
      <div className={style.sheet}>
        <div className={style.actions}>
          <Button small onClick={rest.onToggle} disabled={!rest.canToggle}>
            {rest.isOut ? "Send it again" : "Leave it out"}
          </Button>
          {rest.wanted.replacement !== null && (
            <Button small onClick={rest.onRestore}>
              Back to the original
            </Button>
          )}
          {rest.onStep && (
            <span className={style.steps}>
              <Button small aria-label="Part before" onClick={() => rest.onStep?.(-1)}>
                ↑
              </Button>
              <Button small aria-label="Part behind" onClick={() => rest.onStep?.(1)}>
                ↓
              </Button>
            </span>
          )}
        </div>
        <Provenance part={part} flags={flags} />
        {part.stale ? (
          <p>There is no such part now, so that there is nothing to show.</p>
        ) : found.isPending ? (
          <LoadingState what="the part" />
        ) : found.isError ? (
          <ErrorState what="The part" error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Tabs key={part.id} label="Views of the part" tabs={tabsOf(part, found.data, rest)} />
        )}
      </div>
    </Dialog>
  );
}

function tabsOf(
  part: Part,
  content: PartContent,
  { wanted, edit, onEdit, onReplace }: Pick<Props, "wanted" | "edit" | "onEdit" | "onReplace">,
): Tab[] {
  const { before } = content;
  const text = wanted.replacement ?? content.text;
  const tabs: Tab[] = [
    { id: "sent", name: "As sent", content: <Shown content={content.content} /> },
  ];
  if (before != null)
    tabs.push({ id: "before", name: "Before the override", content: <Shown content={before} /> });
  tabs.push({
    id: "raw",
    name: "Raw",
    content: (
      <>
        {content.omitted_characters > 0 && (
          <p>
            {whole(content.omitted_characters)} characters of image or document data are left out.
          </p>
        )}
        <pre className={style.raw} tabIndex={0}>
          {JSON.stringify(content.content, null, 2)}
        </pre>
      </>
    ),
  });
  if (canReplace(part))
    tabs.push({
      id: "edit",
      name: "Edit",
      content: (
        <Editor
          part={part}
          text={text}
          draft={edit ?? text}
          onDraft={onEdit}
          onReplace={onReplace}
        />
      ),
    });
  return tabs;
}

/** A message's blocks, a system block's text, a tool's definition. */
function Shown({ content }: { content: unknown }) {
  return <Blocks blocks={blocksOf(content)} />;
}

function blocksOf(content: unknown): AnyBlock[] {
  if (typeof content !== "object" || content === null) return [];
  if ("role" in content && "content" in content) {
    if (typeof content.content === "string") return [{ type: "text", text: content.content }];
    return Array.isArray(content.content) ? content.content.filter(isBlock) : [];
  }
  if (isBlock(content) && content.type === "text") return [content];
  if ("input_schema" in content && "description" in content) {
    const { description, input_schema } = content;
    return [
      { type: "text", text: description },
      { type: "tool_use", name: "its input", input: input_schema },
    ];
  }
  return [{ ...content, type: "definition" }];
}

function Provenance({ part, flags }: { part: Part; flags: readonly Flag[] }) {
  return (
    <dl className={style.facts}>
      <dt>From</dt>
      <dd>
        {part.contributor}
        {part.origin != null && `: ${part.origin}`}
      </dd>
      {part.cached_prefix && (
        <>
          <dt>Cache</dt>
          <dd>Stands in the cached prefix: a change of it bills the prefix once more.</dd>
        </>
      )}
      {flags.map((each) => (
        <div key={each.text} className={style.fact}>
          <dt>
            <Badge tone={each.tone}>{each.text}</Badge>
          </dt>
          <dd>{each.about}</dd>
        </div>
      ))}
      <dt>Hash</dt>
      <dd>
        <code className={style.hash}>{part.sha256 || "none"}</code>
      </dd>
    </dl>
  );
}
