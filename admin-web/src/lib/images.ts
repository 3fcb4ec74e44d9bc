/** What the first bytes of an image tell: its size in pixels. Nothing is decoded or shown. */

export type Size = { readonly width: number; readonly height: number };

const HEAD_CHARACTERS = 88_000; // of base64: a JPEG may have 64 KiB of notes before its size

/** Pixels of a PNG, GIF, JPEG or WebP in base64; null where they cannot be read. */
export function imageSize(base64: string): Size | null {
  let bytes: Uint8Array;
  try {
    const head = base64.slice(0, HEAD_CHARACTERS);
    bytes = Uint8Array.from(atob(head), (each) => each.charCodeAt(0));
  } catch {
    return null; // no base64
  }
  const view = new DataView(bytes.buffer);
  try {
    return png(view) ?? gif(view) ?? webp(view) ?? jpeg(view);
  } catch (error) {
    if (error instanceof RangeError) return null; // it ends before its size
    throw error;
  }
}

/** How many bytes a text in base64 stands for. */
export const base64Bytes = (base64: string): number =>
  Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

const word = (view: DataView, at: number, length: number): string =>
  String.fromCharCode(...new Uint8Array(view.buffer, at, length));

const png = (view: DataView): Size | null =>
  view.getUint32(0) === 0x89504e47
    ? { width: view.getUint32(16), height: view.getUint32(20) }
    : null;

const gif = (view: DataView): Size | null =>
  word(view, 0, 3) === "GIF"
    ? { width: view.getUint16(6, true), height: view.getUint16(8, true) }
    : null;

function webp(view: DataView): Size | null {
  if (word(view, 0, 4) !== "RIFF" || word(view, 8, 4) !== "WEBP") return null;
  const kind = word(view, 12, 4);
  if (kind === "VP8X") return { width: 1 + three(view, 24), height: 1 + three(view, 27) };
  if (kind === "VP8 ")
    return {
      width: view.getUint16(26, true) & 0x3fff,
      height: view.getUint16(28, true) & 0x3fff,
    };
  const bits = view.getUint32(21, true); // VP8L: 14 bits each, less one
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

const three = (view: DataView, at: number): number =>
  view.getUint16(at, true) + (view.getUint8(at + 2) << 16);

/** The size stands in the first start-of-frame segment (ITU T.81, B.2.2). */
function jpeg(view: DataView): Size | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (view.getUint8(at) !== 0xff) return null;
  }
}
