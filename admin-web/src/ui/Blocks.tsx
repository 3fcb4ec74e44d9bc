import { type AnyBlock, describe } from "../lib/blocks.ts";
import { classes } from "./classes.ts";
import { LongText } from "./LongText.tsx";
import style from "./Blocks.module.css";

export { type AnyBlock, isBlock } from "../lib/blocks.ts";

type Props = {
  blocks: readonly AnyBlock[];
  /** So many characters of each are drawn until more is wanted. */
  atFirst?: number;
};

/** The blocks of a message as text: nothing in them is ever taken for markup. */
export function Blocks({ blocks, atFirst = Infinity }: Props) {
  return (
    <div className={style.blocks}>
      {blocks.map((block, index) => (
        <BlockText key={index} block={block} atFirst={atFirst} />
      ))}
    </div>
  );
}

function BlockText({ block, atFirst }: { block: AnyBlock; atFirst: number }) {
  const { title, headline, text, tone } = describe(block);
  return (
    <div role="group" className={classes(style.block, style[tone])} aria-label={title}>
      {block.type !== "text" && (
        <h3 className={style.title}>
          {title} {headline && <span className={style.headline}>{headline}</span>}
        </h3>
      )}
      <LongText text={text} label={title} atFirst={atFirst} />
    </div>
  );
}
