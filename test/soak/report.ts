import { writeSync } from "node:fs";

/** The report of a process, one JSON array a line. Times are ms since 1970 by the clock of the shared machine. */
export type Report =
  /** About to send these events: [series, first value, count] repeated. */
  | ["sent", round: number, atMs: number, calls: number[]]
  /** The outcome of each call of the round: a acknowledged, n not applied, ? unknown. */
  | ["done", round: number, atMs: number, states: string]
  /** The heap after a garbage collection, the process's pages, and the number of open series. */
  | ["memory", atMs: number, heldBytes: number, rssBytes: number, series: number]
  /** Comparisons of a resident copy with a cold read since the last report. */
  | ["compared", count: number]
  | ["wrong", text: string];

/**
 * Returns when the line has left the process, so that SIGKILL cannot lose it. It has standard output for itself, so that it
 * blocks when the reader is slow.
 */
export function send(report: Report): void {
  const bytes = Buffer.from(`${JSON.stringify(report)}\n`);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** Undefined for a line cut off by a kill. Its event had not begun. */
export function read(line: string): Report | undefined {
  try {
    return JSON.parse(line) as Report;
  } catch {
    return undefined;
  }
}
