import { writeSync } from "node:fs";

/** What a process tells of itself, one JSON array a line. Times are ms since 1970 of the one machine that all run on. */
export type Report =
  /** About to hand these in, [series, first value, count] after one another. */
  | ["sent", round: number, atMs: number, calls: number[]]
  /** What became of each call of the round: a acknowledged, n not applied for certain, ? nobody knows. */
  | ["done", round: number, atMs: number, states: string]
  /** What is still held after a garbage collection, the process's pages, and how many series are open. */
  | ["memory", atMs: number, heldBytes: number, rssBytes: number, series: number]
  /** Comparisons of a resident copy with a cold read since the last report. */
  | ["compared", count: number]
  | ["wrong", text: string];

/**
 * Returns when the line has left the process: SIGKILL takes nothing back. Standard output is not used by others here,
 * so that it blocks where the reader is slow.
 */
export function tell(report: Report): void {
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

/** Undefined for a line that its writer was killed in; what it would have said had not begun. */
export function read(line: string): Report | undefined {
  try {
    return JSON.parse(line) as Report;
  } catch {
    return undefined;
  }
}
