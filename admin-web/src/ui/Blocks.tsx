import style from "./Blocks.module.css";

export type AnyBlock = { type: string } & Record<string, unknown>;

type Props = { blocks: readonly AnyBlock[] };

/** The blocks of a message as text: nothing in them is ever taken for markup. */
export function Blocks({ blocks }: Props) {
  return (
    <div className={style.blocks}>
      {blocks.map((block, index) => (
        <section key={index} className={style.block} aria-label={titleOf(block)}>
          {block.type !== "text" && <h4 className={style.title}>{titleOf(block)}</h4>}
          <pre className={style.text} dir="auto" tabIndex={0}>
            {textOf(block)}
          </pre>
        </section>
      ))}
    </div>
  );
}

/** What kind of block it is, with the name that it goes by. */
function titleOf(block: AnyBlock): string {
  switch (block.type) {
    case "text":
      return "Text";
    case "tool_use":
    case "server_tool_use":
      return `Tool call: ${worded(block.name)}`;
    case "tool_result":
      return block.is_error === true ? "Tool result: error" : "Tool result";
    case "thinking":
      return "Thinking";
    case "redacted_thinking":
      return "Thinking, not readable";
    default:
      return block.type;
  }
}

function textOf(block: AnyBlock): string {
  switch (block.type) {
    case "text":
      return worded(block.text);
    case "thinking":
      return worded(block.thinking);
    case "tool_use":
    case "server_tool_use":
      return json(block.input);
    case "tool_result":
      return resultText(block.content);
    default:
      return json(block);
  }
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return json(content);
  return content.map((each) => (isBlock(each) ? textOf(each) : json(each))).join("\n\n");
}

export const isBlock = (value: unknown): value is AnyBlock =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const worded = (value: unknown): string => (typeof value === "string" ? value : json(value));

const json = (value: unknown): string =>
  value === undefined ? "" : JSON.stringify(value, null, 2);
