import type { ReactNode } from "react";
import { short, signed, whole } from "../../lib/numbers.ts";
import { Badge } from "../../ui/Badge.tsx";
import { classes } from "../../ui/classes.ts";
import type { Flag } from "./flags.ts";
import type { Row } from "./rows.ts";
import style from "./PartList.module.css";

type Common = {
  index: number;
  top: number;
  height: number;
  isActive: boolean;
  /** Take the keyboard's focus with this drawing: the user has come here by a key. */
  focus: boolean;
  onFocus: () => void;
};

type FrameProps = Common & {
  className: string | undefined;
  label?: string;
  canFocus?: boolean;
  onClick?: () => void;
  children: ReactNode;
};

/** A row where the list wants it. The outside system of the ref is the keyboard's focus. */
function Frame({ index, top, height, isActive, focus, onFocus, ...rest }: FrameProps) {
  const { className, label, canFocus = true, onClick, children } = rest;
  return (
    <div
      ref={(element) => {
        if (focus && canFocus && element !== document.activeElement)
          element?.focus({ preventScroll: true });
      }}
      role="row"
      aria-rowindex={index + 1}
      aria-label={label}
      tabIndex={canFocus ? (isActive ? 0 : -1) : undefined}
      className={classes(style.row, className)}
      style={{ height, transform: `translateY(${top}px)` }}
      onFocus={onFocus}
      onClick={onClick}
    >
      {children}
    </div>
  );
}

export function HeadingRow({
  row,
  ...common
}: Common & { row: Extract<Row, { type: "heading" }> }) {
  const difference = row.after - row.before;
  return (
    <Frame {...common} canFocus={false} className={style.heading}>
      <span role="rowheader" className={style.headingName} aria-colspan={3}>
        {row.label} <span className={style.count}>{whole(row.parts)}</span>
      </span>
      <span role="gridcell" className={style.headingSum} aria-colspan={2}>
        {difference !== 0 && (
          <>
            <s>{whole(row.before)}</s>{" "}
            <span className={style.difference}>{signed(difference)}</span>{" "}
          </>
        )}
        {whole(row.after)} tokens
      </span>
    </Frame>
  );
}

export function BorderRow(common: Common) {
  return (
    <Frame {...common} canFocus={false} className={style.border}>
      <span role="gridcell" aria-colspan={5} className={style.borderText}>
        the cached prefix ends here
      </span>
    </Frame>
  );
}

type FoldProps = Common & { row: Extract<Row, { type: "fold" }>; onUnfold: (key: string) => void };

export function FoldRow({ row, onUnfold, ...common }: FoldProps) {
  return (
    <Frame {...common} className={style.fold} onClick={() => onUnfold(row.key)}>
      <span role="gridcell" aria-colspan={5}>
        ⋯ {whole(row.parts)} unchanged since the last call · {whole(row.tokens)} tokens · show
      </span>
    </Frame>
  );
}

type PartProps = Common & {
  row: Extract<Row, { type: "part" }>;
  checked: boolean;
  changed: boolean;
  tokens: number;
  flags: readonly Flag[];
  refused: string | undefined;
  canToggle: boolean;
  onToggle: (part: string) => void;
  onOpen: (part: string) => void;
};

export function PartRow({ row, checked, changed, tokens, flags, refused, ...rest }: PartProps) {
  const { canToggle, onToggle, onOpen, ...common } = rest;
  const { part, group, upTo } = row;
  const marks = flags.map((each) => each.text).join(", ");
  return (
    <Frame
      {...common}
      label={`${part.label}, ${whole(tokens)} tokens, ${checked ? "sent" : "left out"}${marks && `, ${marks}`}`}
      className={classes(
        style.part,
        style[group],
        !checked && style.ghost,
        changed && style.unsaved,
        part.cached_prefix && style.cached,
        refused !== undefined && style.refused,
      )}
      onClick={() => onOpen(part.id)}
    >
      <span role="gridcell" className={style.check} onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={-1}
          checked={checked}
          disabled={!canToggle}
          aria-label={`Send ${part.label}`}
          onChange={() => onToggle(part.id)}
        />
      </span>
      <span role="gridcell" className={style.upTo} title="Tokens up to and with this part">
        {checked ? short(upTo) : ""}
      </span>
      <span role="gridcell" className={style.label} title={part.id}>
        {part.label}
      </span>
      <span role="gridcell" className={style.middle}>
        <span className={style.flags}>
          {flags.map((each) => (
            <Badge key={each.text} tone={each.tone} title={each.about}>
              {each.text}
            </Badge>
          ))}
          {refused !== undefined && (
            <Badge tone="bad" title={refused}>
              refused
            </Badge>
          )}
        </span>
        <span className={style.preview} dir="auto">
          {part.preview}
        </span>
      </span>
      <span role="gridcell" className={style.tokens}>
        {part.rough && "~"}
        {whole(tokens)}
      </span>
    </Frame>
  );
}
