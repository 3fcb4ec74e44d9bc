/** Which messages are fetched together. Numbers of messages begin at 1 and have no gaps. No DOM. */

export const CHUNK = 50;

/** The chunks that hold the rows from `first` to `last`, counted from 0. */
export function chunksBetween(first: number, last: number): number[] {
  const from = Math.floor(first / CHUNK);
  const to = Math.floor(last / CHUNK);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
}

export const placeOf = (row: number) => ({ chunk: Math.floor(row / CHUNK), at: row % CHUNK });

/** The number of the chunk's first message. */
export const firstOf = (chunk: number): number => chunk * CHUNK + 1;
