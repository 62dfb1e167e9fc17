import { Beside } from "../../base/async/beside.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import { untilEnded } from "../../base/async/within.ts";
import type { Clock } from "../../base/time.ts";
import { checkKind } from "../journal/format/chunk.ts";
import { isUnreachable } from "../series/refused.ts";
import type { SeriesSettings } from "../series/series-options.ts";
import type { CommitLoop } from "../series/session/commit-loop.ts";

/** A shard that could not be reached is tried again after this time. */
const RETRY_MS = 1000;

/** This process's side of one shard, which is a journal of its own. */
export class Shard {
  readonly #loops: Beside<CommitLoop>;
  readonly #monotonic: Clock;
  readonly #checkNames: (() => Promise<unknown>) | undefined;
  #isUp = true;
  #triedMs = 0;

  /**
   * `makeLoop`: makes a loop that calls `ended` as `SeriesSettings` says. `checkNames`: of a group; rejects if it has other labels.
   */
  constructor(
    makeLoop: (ended: (error: unknown) => void) => CommitLoop,
    monotonic: Clock,
    checkNames?: () => Promise<unknown>,
  ) {
    this.#loops = new Beside(() => makeLoop(this.#see));
    this.#monotonic = monotonic;
    this.#checkNames = checkNames;
  }

  get loop(): CommitLoop {
    return this.#loops.free;
  }

  /** False if the shard could not be reached lately. It is tried again in the background, so that no event need wait for it. */
  get isUp(): boolean {
    if (this.#isUp || this.#monotonic() - this.#triedMs < RETRY_MS) return this.#isUp;
    this.#triedMs = this.#monotonic();
    if (endsWithRequest) return true;
    this.loop.online.probe().then(() => this.#see(undefined), this.#see);
    return false;
  }

  /** Rejects with MISMATCH if its events have other values, another clock or other labels. */
  async checkKind(kind: Pick<SeriesSettings, "valueType" | "clock">): Promise<void> {
    const { header } = await this.loop.online.reader.open("header");
    if (header) checkKind(header, kind);
    await this.#checkNames?.();
  }

  async close(): Promise<void> {
    await Promise.all(this.#loops.close().map((loop) => untilEnded(loop.close())));
  }

  readonly #see = (error: unknown): void => {
    this.#isUp = !isUnreachable(error);
    this.#triedMs = this.#monotonic();
  };
}
