import type { Beside } from "../async/beside.ts";
import { argumentError } from "../errors.ts";
import { checkValue, columnOf, timesOf } from "../stats/values.ts";
import { instantMs } from "../time.ts";
import type { Recorded } from "./recorded.ts";
import type { SeriesSettings } from "./series-options.ts";
import type { Batch } from "./session/batch.ts";
import type { Journal } from "./session/journal.ts";

/** Checks what callers record, and hands it to a journal. */
export class Recorder {
  readonly #journals: Beside<Journal>;
  readonly #settings: SeriesSettings;

  constructor(journals: Beside<Journal>, settings: SeriesSettings) {
    this.#journals = journals;
    this.#settings = settings;
  }

  put(value: number): Batch {
    const journal = this.#journals.free;
    journal.checkOpen();
    checkValue(value, this.#settings.valueType, this.#settings.nan);
    this.#checkDated(undefined);
    const batch = journal.outbox.put(value);
    journal.wake();
    return batch;
  }

  putAt(value: number, at: number | Date): Promise<Recorded> {
    const journal = this.#journals.free;
    journal.checkOpen();
    const { valueType, nan } = this.#settings;
    checkValue(value, valueType, nan);
    const column = columnOf([value], valueType, nan);
    const recorded = journal.outbox.addMany(column, Float64Array.of(instantMs("at", at)));
    journal.wake();
    return recorded;
  }

  async putMany(values: ArrayLike<number>, at: number | Date | ArrayLike<number> | undefined): Promise<Recorded> {
    const journal = this.#journals.free;
    journal.checkOpen();
    const { valueType, nan } = this.#settings;
    const column = columnOf(values, valueType, nan);
    this.#checkDated(at);
    const recorded = journal.outbox.addMany(column, at === undefined ? undefined : timesOf(at, column.length));
    journal.wake();
    return recorded;
  }

  #checkDated(at: unknown): void {
    if (this.#settings.clock === 1 && at === undefined)
      throw argumentError("at", at, 'given, because the series has clock: "event"');
  }
}
