import type { WindowStats } from "../../../src/entries/index.ts";

export interface SharedOrders {
  client: "Redis" | "cluster" | "HTTP";
  urls: readonly string[];
  /** A stand-in for a REST server, in front of the first server. */
  rest: { url: string; token: string };
  /** Of the process: it records values of its own. */
  id: number;
}

/** A printed answer. */
export interface Asked {
  /** The server's time before the call. */
  askedMs: number;
  stats: WindowStats;
}

export const MAX_AGE_MS = 100;
export const QUESTION = { span: "10m", percentiles: [50, 99], maxAge: MAX_AGE_MS } as const;
