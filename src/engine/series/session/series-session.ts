import type { OneAtATime } from "../../../base/async/beside.ts";
import type { Place } from "../../../base/place.ts";
import type { Store } from "../../../store/contract.ts";
import type { ServerTime } from "../../journal/replica/last-seen.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import { ExactQueries } from "../pending-query.ts";
import type { SeriesSettings } from "../series-options.ts";
import { CommitLoop } from "./commit-loop.ts";
import { deleteJournal } from "./journal-delete.ts";

/** One process's side of a series: the loop that talks to the store. */
export class SeriesSession implements OneAtATime {
  readonly loop: CommitLoop;
  readonly exact: ExactQueries;
  readonly #store: Store;
  readonly #key: string;

  /** `time`: the estimate of the server's clock, shared by the sessions of a series. */
  constructor(store: Store, name: string, settings: SeriesSettings, time: ServerTime, place: Place) {
    this.#store = store;
    this.#key = store.keyOf(name);
    this.loop = new CommitLoop(store, this.#key, settings, time, place);
    this.exact = new ExactQueries(this.loop, settings.nan);
  }

  get isBusy(): boolean {
    return this.loop.isBusy;
  }

  lose(): void {
    this.loop.lose();
  }

  close(): Promise<void> {
    return this.loop.close();
  }

  /** Deletes the journal as it is now. Events recorded by others meanwhile begin a new one. */
  async delete(): Promise<void> {
    const { reader, view } = this.loop.online;
    try {
      await deleteJournal(this.#store, this.#key, reader);
    } catch (error) {
      throw corruptAt(this.#key, error);
    } finally {
      view.age.forget();
    }
    this.loop.forgetBuffer();
  }
}
