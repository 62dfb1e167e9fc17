import { OrielError } from "../../../base/errors.ts";
import type { Store } from "../../../entries/index.ts";
import { type RegisteredStructure, type Registry, readRegistry } from "../../../store/registry/read-registry.ts";
import type { Found } from "../find.ts";
import { openView } from "../views/open-view.ts";
import type { Overview, Reading, View, ViewOptions } from "../views/view.ts";

/** A structure with the numbers that were read last. */
export interface Row {
  /** Kind and name. */
  key: string;
  kind: string;
  name: string;
  structure: RegisteredStructure;
  overview?: Overview;
  /** Why the last read failed. */
  failure?: string;
  /** The rates of the last reads without a break, the latest last. */
  rates?: readonly number[];
}

/** Structures that are read at once. */
const BATCH = 50;
/** Rates that are kept of each row. */
export const MAX_RATES = 8;

/** The structures of a registry and their numbers. Only rows that are asked for are read and have numbers. */
export class Rows {
  readonly #store: Store;
  readonly #options: Omit<ViewOptions, "isOverview">;
  readonly #isWanted: (structure: RegisteredStructure) => boolean;
  readonly #rows = new Map<string, Row>();
  readonly #views = new Map<string, View>();
  registry: Registry = { nowMs: 0, structures: [], processes: [] };

  constructor(
    store: Store,
    options: Omit<ViewOptions, "isOverview">,
    isWanted: (structure: RegisteredStructure) => boolean,
  ) {
    this.#store = store;
    this.#options = options;
    this.#isWanted = isWanted;
  }

  get all(): Row[] {
    return [...this.#rows.values()];
  }

  /** Reads the registry. A structure keeps its numbers, but is opened anew if its settings have changed. */
  async list(): Promise<void> {
    this.registry = await readRegistry(this.#store);
    const listed = this.registry.structures.filter(this.#isWanted);
    const keys = new Set(listed.map(keyOf));
    for (const key of this.#rows.keys()) if (!keys.has(key)) this.#rows.delete(key);
    for (const structure of listed) {
      const { kind, name } = structure;
      const key = keyOf(structure);
      const before = this.#rows.get(key);
      if (before && JSON.stringify(before.structure.settings) !== JSON.stringify(structure.settings))
        await this.#close(`${key}`);
      this.#rows.set(key, { ...before, key, kind, name, structure });
    }
  }

  /**
   * Reads the numbers of these rows in their order, until `signal` aborts. The others are closed and lose their numbers, which
   * would be out of date at the next look.
   */
  async read(rows: readonly Row[], signal?: AbortSignal): Promise<void> {
    const keys = new Set(rows.map(({ key }) => key));
    for (const { key, kind, name, structure } of this.all)
      if (!keys.has(key)) this.#rows.set(key, { key, kind, name, structure });
    for (const key of [...this.#views.keys()]) if (!keys.has(key)) await this.#close(key);
    for (let first = 0; first < rows.length && !signal?.aborted; first += BATCH)
      await Promise.all(rows.slice(first, first + BATCH).map((row) => this.#readRow(row)));
  }

  /** Everything about one structure. The caller closes it. */
  open({ structure }: Row): { found: Found; view: View } {
    const found = { ...structure, structure, advice: "" };
    return { found, view: openView(this.#store, found, { ...this.#options, isOverview: false }) };
  }

  async close(): Promise<void> {
    for (const key of [...this.#views.keys()]) await this.#close(key);
  }

  async #readRow({ key, structure }: Row): Promise<void> {
    let reading: Reading | undefined;
    let failure: string | undefined;
    try {
      const found = { ...structure, structure, advice: "" };
      const view = this.#views.get(key) ?? openView(this.#store, found, { ...this.#options, isOverview: true });
      this.#views.set(key, view);
      reading = await view.read();
    } catch (error) {
      failure = error instanceof OrielError ? `${error.code} ${error.message}` : String(error);
    }
    const row = this.#rows.get(key);
    if (!row) return;
    // After a failure the earlier numbers are not shown as if they were new.
    const { name, kind, rates = [] } = row;
    const rate = reading?.overview.rate;
    const numbers = reading && {
      overview: reading.overview,
      ...(rate !== undefined && { rates: [...rates, rate].slice(-MAX_RATES) }),
    };
    this.#rows.set(key, {
      ...{ key, kind, name, structure: row.structure },
      ...numbers,
      ...(failure !== undefined && { failure }),
    });
  }

  async #close(key: string): Promise<void> {
    const view = this.#views.get(key);
    this.#views.delete(key);
    await view?.close().catch(() => {}); // a view that cannot be closed has failed before, and the row says so
  }
}

function keyOf({ kind, name }: RegisteredStructure): string {
  return `${kind} ${name}`;
}
