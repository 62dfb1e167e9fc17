import type { Books } from "../books.ts";

/** The orders of one process. */
export interface Orders {
  url: string;
  id: number;
  seed: number;
  client: "ioredis 6" | "ioredis 5" | "node-redis 6";
  scripting: "eval" | "functions";
  /** Options of each structure, the same in all processes. */
  modes: Record<string, object>;
  /** Options of the drain. */
  database: string;
}

/** The knowledge of a process about one structure at its end. */
export interface Reported {
  acknowledged: (string | number)[];
  kept: (string | number)[];
  refused: (string | number)[];
  unknown: (string | number)[];
  violations: string[];
  /** Other notes for the judge. */
  notes: Record<string, unknown>;
}

export type Report = Record<string, Reported>;

/** The time at which a fact was known, by the clock that all processes of a machine share. */
export interface Span {
  key: string | number;
  fromMs: number;
  toMs: number;
}

/** The limits that processes and judge use. */
export const LIMIT = 150;
export const LEASE_MS = 300;
export const DEADLINE_MS = 250;
export const END = "storm:end";

/** The machine's monotonic clock. SIGSTOP does not stop it, and every process reads the same. */
export const machineMs = () => Number(process.hrtime.bigint()) / 1e6;

export function toldOf(books: Books<string | number>, notes: Reported["notes"]): Reported {
  const { acknowledged, kept, refused, unknown, violations } = books;
  const sets = { acknowledged, kept, refused, unknown };
  const lists = Object.fromEntries(Object.entries(sets).map(([name, keys]) => [name, [...keys]]));
  return { ...(lists as Omit<Reported, "violations" | "notes">), violations, notes };
}
