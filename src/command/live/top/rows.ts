import { type Answers, errorText, ROWS_AT_ONCE } from "../../../operate/dashboard/answers.ts";
import type { RowNumbers } from "../../../operate/dashboard/protocol.ts";
import type { Listed } from "../../../operate/kinds/scope.ts";

/** A structure with the numbers that were read last. */
export interface Row {
  structure: Listed;
  numbers?: RowNumbers | undefined;
}

/** Sums in the trend of each row. */
export const TREND_PARTS = 8;

/** The structures of a registry and their numbers. Only rows that are asked for are read and have numbers. */
export class Rows {
  readonly answers: Answers;
  readonly spanMs: number;
  readonly #isWanted: (structure: Listed) => boolean;
  all: readonly Row[] = [];

  constructor(answers: Answers, spanMs: number, isWanted: (structure: Listed) => boolean) {
    this.answers = answers;
    this.spanMs = spanMs;
    this.#isWanted = isWanted;
  }

  /** Lists the structures. Those that were listed before keep their numbers. */
  async list(): Promise<void> {
    const before = new Map(this.all.map(({ structure, numbers }) => [structure.id, numbers]));
    const listed = (await this.answers.scope.structures()).filter(this.#isWanted);
    this.all = listed.map((structure) => ({ structure, numbers: before.get(structure.id) }));
  }

  /**
   * Reads the numbers of these rows in their order, until `signal` aborts. The others lose their numbers, which would be out
   * of date at the next look.
   */
  async read(rows: readonly Row[], signal?: AbortSignal): Promise<void> {
    const ids = rows.map(({ structure }) => structure.id);
    this.all = this.all.map((row) => (ids.includes(row.structure.id) ? row : { structure: row.structure }));
    for (let first = 0; first < ids.length && !signal?.aborted; first += ROWS_AT_ONCE) {
      const some = ids.slice(first, first + ROWS_AT_ONCE);
      const read = await this.answers
        .rows(some, this.spanMs, TREND_PARTS)
        .catch((error: unknown) =>
          Object.fromEntries(some.map((id): [string, RowNumbers] => [id, { error: errorText(error) }])),
        );
      this.all = this.all.map(({ structure, numbers }) => ({ structure, numbers: read[structure.id] ?? numbers }));
    }
  }
}
