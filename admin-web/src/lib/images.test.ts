// @vitest-environment node
import { expect, test } from "vitest";
import { base64Bytes, imageSize } from "./images.ts";

const of = (...bytes: (number | string)[]) =>
  btoa(bytes.map((each) => (typeof each === "string" ? each : String.fromCharCode(each))).join(""));

const zeros = (count: number) => "\0".repeat(count);

test.each([
  ["PNG", of(0x89, "PNG\r\n\x1a\n", zeros(8), 0, 0, 2, 128, 0, 0, 1, 224), 640, 480],
  ["GIF", of("GIF89a", 0x2c, 1, 200, 0, zeros(8)), 300, 200],
  [
    "JPEG",
    of(0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 200, 1, 44, zeros(9)),
    300,
    200,
  ],
  ["WebP", of("RIFF", zeros(4), "WEBPVP8X", zeros(8), 43, 1, 0, 199, 0, 0), 300, 200],
  ["lossy WebP", of("RIFF", zeros(4), "WEBPVP8 ", zeros(10), 44, 1, 200, 0), 300, 200],
])("the size of a %s is read", (_name, data, width, height) => {
  expect(imageSize(data)).toEqual({ width, height });
});

test.each(["", "?!", "iVBORw0KGgo=", of(0xff, 0xd8, 0xff), of("hello, this is no image at all")])(
  "what is no image has no size: %s",
  (data) => {
    expect(imageSize(data)).toBeNull();
  },
);

test("padding of base64 is no byte", () => {
  expect(base64Bytes("aGk=")).toBe(2);
  expect(base64Bytes("aGV5")).toBe(3);
});
