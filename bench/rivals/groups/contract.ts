import { type Calls, METHODS, type P99s, type RowsBy } from "../../groups/calls.ts";

export interface GroupsAnswer {
  ms: number;
  p99s: P99s;
}

/** A way to ask for the p99 of each row. */
export interface GroupsAsk {
  readonly name: string;
  /** Which rows it can answer. */
  readonly rows: readonly RowsBy[];
  ask(by: RowsBy): Promise<GroupsAnswer>;
}

/** The calls of one window, kept in one way. */
export interface GroupsWindow {
  /** Records calls `from` to before `to` one by one, and waits until all are kept. Without it all are there from the start. */
  record?(from: number, to: number): Promise<void> | void;
  readonly asks: readonly GroupsAsk[];
  close(): Promise<void> | void;
}

/** A way to keep calls by route and method. */
export interface GroupsRival {
  readonly name: string;
  /** Whether it keeps calls in Redis, under names that begin with the one given. */
  readonly isInRedis?: boolean;
  /** Whether its answers are estimates. */
  readonly isEstimate?: boolean;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  open(calls: Calls, redisUrl: string, name: string): Promise<GroupsWindow>;
}

/** Measures a question. `read` turns its answer into numbers afterwards. */
export async function timed<T>(ask: () => Promise<T>, read: (answer: T) => P99s): Promise<GroupsAnswer> {
  const startMs = performance.now();
  const answer = await ask();
  return { ms: performance.now() - startMs, p99s: read(answer) };
}

/** By what a database groups its rows. */
export const COLUMNS = { route: ["route"], group: ["route", "method"] } as const;

/** The answer of a database, by column. */
export interface RowColumns {
  route: number[];
  method?: number[];
  p99s: number[];
}

export function p99sOfColumns({ route, method, p99s }: RowColumns): P99s {
  return new Map(route.map((its, i) => [method ? its * METHODS.length + method[i]! : its, p99s[i]!]));
}
