/** Content blocks of the Messages API in words: what each is, and what it says. No DOM. */
import { base64Bytes, imageSize } from "./images.ts";
import { bytes, whole } from "./numbers.ts";

export type AnyBlock = { type: string } & Record<string, unknown>;

export type Described = {
  /** Names the block, for its heading and for screen readers. */
  readonly title: string;
  /** The argument that tells most about a call, on one line. */
  readonly headline: string;
  readonly text: string;
  readonly tone: "plain" | "call" | "result" | "error" | "thinking";
};

export const isBlock = (value: unknown): value is AnyBlock =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

export function describe(block: AnyBlock): Described {
  const of = (title: string, text: string, tone: Described["tone"] = "plain", headline = "") => ({
    title,
    headline,
    text,
    tone,
  });
  switch (block.type) {
    case "text":
      return of("Text", worded(block.text));
    case "thinking":
      return of("Thinking", worded(block.thinking) || "(not shown by the provider)", "thinking");
    case "redacted_thinking":
      return of("Thinking, not readable", data(block.data), "thinking");
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use":
      return of(
        `Tool call: ${worded(block.name)}`,
        json(block.input),
        "call",
        headlineOf(block.input),
      );
    case "image":
      return of("Image", imageText(block.source));
    case "document":
      return of("Document", documentText(block));
    default:
      return block.type.endsWith("tool_result")
        ? resultOf(block, of)
        : of(block.type.replaceAll("_", " "), json(block));
  }
}

function resultOf(
  block: AnyBlock,
  of: (title: string, text: string, tone: Described["tone"]) => Described,
): Described {
  return block.is_error === true
    ? of("Tool result: error", contentText(block.content), "error")
    : of("Tool result", contentText(block.content), "result");
}

/** Text of a tool's result, which is a text or blocks. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === undefined) return "(empty)";
  if (!Array.isArray(content)) return json(content);
  return content.map((each) => (isBlock(each) ? describe(each).text : json(each))).join("\n\n");
}

const HEADLINE_CHARACTERS = 80;

/** The first argument that is a text. */
function headlineOf(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const first: unknown = Object.values(input).find((each) => typeof each === "string");
  const line = worded(first ?? "")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > HEADLINE_CHARACTERS ? `${line.slice(0, HEADLINE_CHARACTERS)}…` : line;
}

function imageText(source: unknown): string {
  if (!isBlock(source)) return json(source);
  if (typeof source.data !== "string") return `Not in the message: ${json(source)}`;
  const size = imageSize(source.data);
  const pixels = size ? `${whole(size.width)} × ${whole(size.height)} pixels` : "size not readable";
  return `${worded(source.media_type)}, ${pixels}, ${data(source.data)}`;
}

function documentText(block: AnyBlock): string {
  const { source } = block;
  const title = typeof block.title === "string" ? `${block.title}\n` : "";
  if (!isBlock(source)) return title + json(source);
  if (source.type === "text") return title + worded(source.data);
  if (source.type === "content") return title + contentText(source.content);
  if (typeof source.data !== "string") return `${title}Not in the message: ${json(source)}`;
  return `${title}${worded(source.media_type)}, ${data(source.data)}`;
}

const data = (base64: unknown): string =>
  typeof base64 === "string" ? bytes(base64Bytes(base64)) : json(base64);

const worded = (value: unknown): string => (typeof value === "string" ? value : json(value));

const json = (value: unknown): string =>
  value === undefined ? "" : JSON.stringify(value, null, 2);
