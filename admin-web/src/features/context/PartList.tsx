import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useState } from "react";
import { useMedia } from "../../lib/media.ts";
import { EmptyState } from "../../ui/states.tsx";
import type { Flag } from "./flags.ts";
import { BorderRow, FoldRow, HeadingRow, PartRow } from "./ListRows.tsx";
import type { Row } from "./rows.ts";
import { isChanged, tokensUnder, type View, wantedOf } from "./tokens.ts";
import style from "./PartList.module.css";

const HEIGHT = { wide: 34, narrow: 62 };
const BETWEEN = 34; // of headings, folds and the cache's border
const NARROW = "(max-width: 48rem)";
const ROWS_A_PAGE = 15;

type Props = {
  rows: readonly Row[];
  view: View;
  flagsOf: (row: Extract<Row, { type: "part" }>) => Flag[];
  refused: (part: string) => string | undefined;
  canToggle: (part: string) => boolean;
  onToggle: (part: string) => void;
  onOpen: (part: string) => void;
  onUnfold: (key: string) => void;
};

/** The request as a list. One row has the focus; only what is in sight is in the document. */
export function PartList(props: Props) {
  const { rows } = props;
  const narrow = useMedia(NARROW);
  const [activeKey, setActiveKey] = useState<string | null>(null);
  const [offset, setOffset] = useState(0);
  const [takesFocus, setTakesFocus] = useState(false);
  const activeAt = rows.findIndex((row) => row.key === activeKey);
  const active = activeAt < 0 ? firstStop(rows) : activeAt;

  const list = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) =>
      rows[index]?.type !== "part" ? BETWEEN : narrow ? HEIGHT.narrow : HEIGHT.wide,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 12,
    scrollMargin: offset,
    scrollPaddingStart: 8,
    scrollPaddingEnd: 120, // the bar of what is not saved
    // The row that has the focus stays in the document wherever the list is scrolled to.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), active])]
        .filter((index) => index >= 0 && index < rows.length)
        .sort((a, b) => a - b),
  });

  const goTo = (index: number) => {
    const row = rows[index];
    if (!row) return;
    setTakesFocus(true);
    setActiveKey(row.key);
    list.scrollToIndex(index);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[active];
    const to = destination(event.key, active, rows);
    if (to !== null) goTo(to);
    else if (event.key === " " && row?.type === "part") props.onToggle(row.part.id);
    else if (event.key === "Enter" && row?.type === "part") props.onOpen(row.part.id);
    else if ((event.key === "Enter" || event.key === " ") && row?.type === "fold")
      props.onUnfold(row.key);
    else return;
    event.preventDefault();
  };

  if (rows.length === 0)
    return <EmptyState title="No part is shown">Nothing fits the filter above.</EmptyState>;

  return (
    <div
      ref={(element) => {
        // Where the list begins on the page; what stands above it can grow and shrink.
        const top = element ? element.getBoundingClientRect().top + window.scrollY : offset;
        if (Math.abs(top - offset) > 1) setOffset(top);
      }}
      role="grid"
      aria-label="Parts of the next call"
      aria-rowcount={rows.length}
      aria-colcount={5}
      className={style.list}
      style={{ height: list.getTotalSize() }}
      onKeyDown={onKeyDown}
      onBlur={() => setTakesFocus(false)}
    >
      {list.getVirtualItems().map((item) => {
        const row = rows[item.index];
        if (!row) return null;
        const isActive = item.index === active;
        const common = {
          index: item.index,
          top: item.start - offset,
          height: item.size,
          isActive,
          focus: isActive && takesFocus,
          onFocus: () => setActiveKey(row.key),
        };
        switch (row.type) {
          case "heading":
            return <HeadingRow key={row.key} {...common} row={row} />;
          case "border":
            return <BorderRow key={row.key} {...common} />;
          case "fold":
            return <FoldRow key={row.key} {...common} row={row} onUnfold={props.onUnfold} />;
          case "part": {
            const { id } = row.part;
            const isOut = wantedOf(props.view, id).excluded || props.view.along.has(id);
            return (
              <PartRow
                key={row.key}
                {...common}
                row={row}
                checked={!isOut}
                changed={isChanged(props.view, id) || props.view.along.has(id)}
                tokens={tokensUnder(props.view, row.part) || row.part.tokens}
                flags={props.flagsOf(row)}
                refused={props.refused(id)}
                canToggle={props.canToggle(id)}
                onToggle={props.onToggle}
                onOpen={props.onOpen}
              />
            );
          }
        }
      })}
    </div>
  );
}

const isStop = (row: Row | undefined): boolean => row?.type === "part" || row?.type === "fold";

const firstStop = (rows: readonly Row[]): number => Math.max(0, rows.findIndex(isStop));

/** The row that a key leads to; null: the key leads nowhere. Headings are passed over. */
function destination(key: string, from: number, rows: readonly Row[]): number | null {
  switch (key) {
    case "ArrowDown":
    case "j":
      return step(rows, from + 1, 1) ?? from;
    case "ArrowUp":
    case "k":
      return step(rows, from - 1, -1) ?? from;
    case "PageDown":
      return (
        step(rows, Math.min(rows.length - 1, from + ROWS_A_PAGE), 1) ??
        step(rows, rows.length - 1, -1)
      );
    case "PageUp":
      return step(rows, Math.max(0, from - ROWS_A_PAGE), -1) ?? step(rows, 0, 1);
    case "Home":
      return step(rows, 0, 1);
    case "End":
      return step(rows, rows.length - 1, -1);
    default:
      return null;
  }
}

function step(rows: readonly Row[], from: number, by: 1 | -1): number | null {
  for (let index = from; index >= 0 && index < rows.length; index += by) {
    if (isStop(rows[index])) return index;
  }
  return null;
}
