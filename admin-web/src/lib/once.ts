/** A random name, so that a request sent twice is carried out once. Works without TLS too. */
export const newOnce = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
