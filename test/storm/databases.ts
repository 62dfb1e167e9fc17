import type { Sink } from "../../src/entries/sql.ts";
import { STAGES, type Stage } from "../drain/stages.ts";

/** Embedded databases. The others take seconds to start. */
const WITHIN = ["SQLite", "recorded Oracle"];
const isLong = process.env.ORIEL_SEEDS !== undefined;

/** The databases of all storms' drains, each started at its first use. */
class Databases {
  readonly #stages = new Map<string, Promise<Stage>>();
  #count = 0;

  has(sink: unknown): boolean {
    return sink === undefined || isLong || WITHIN.includes(sink as string);
  }

  /** Drains into its own tables. */
  async sink(name: string): Promise<Sink> {
    let stage = this.#stages.get(name);
    if (!stage) {
      stage = STAGES[name]!();
      this.#stages.set(name, stage);
    }
    const number = ++this.#count;
    return (await stage).sink({ table: `counts_${number}`, ledgerTable: `ledger_${number}` });
  }

  async close(): Promise<void> {
    for (const stage of this.#stages.values()) await (await stage).stop();
  }
}

export const databases = new Databases();
