import type { Books } from "../books.ts";

/** What one process is given. */
export interface Orders {
  url: string;
  id: number;
  seed: number;
  client: "ioredis 6" | "ioredis 5" | "node-redis 5";
  scripting: "eval" | "functions";
  /** Of each structure: alike in all processes. */
  modes: Record<string, object>;
  /** Of the drain. */
  database: string;
}

/** What a process knows of one structure when it ends. */
export interface Told {
  acknowledged: (string | number)[];
  kept: (string | number)[];
  refused: (string | number)[];
  unknown: (string | number)[];
  violations: string[];
  /** Whatever else the judge asks about it. */
  notes: Record<string, unknown>;
}

export type Report = Record<string, Told>;

/** When something was known to be so, on the clock that all processes of a machine share. */
export interface Span {
  key: string | number;
  fromMs: number;
  toMs: number;
}

/** The limits that processes and judge go by. */
export const LIMIT = 150;
export const LEASE_MS = 300;
export const DEADLINE_MS = 250;
export const END = "storm:end";

/** Of the machine: no SIGSTOP halts it, and every process reads the same. */
export const machineMs = () => Number(process.hrtime.bigint()) / 1e6;

export function toldOf(books: Books<string | number>, notes: Told["notes"]): Told {
  const { acknowledged, kept, refused, unknown, violations } = books;
  const sets = { acknowledged, kept, refused, unknown };
  const lists = Object.fromEntries(Object.entries(sets).map(([name, keys]) => [name, [...keys]]));
  return { ...(lists as Omit<Told, "violations" | "notes">), violations, notes };
}
