import { endsWithRequest } from "../async/of-request.ts";
import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { newerOf } from "./format/layout.ts";
import { look } from "./steps/look.ts";
import { shape } from "./steps/shape.ts";
import { agree } from "./steps/shard.ts";

export interface Shaped {
  readonly store: Store;
  readonly keys: readonly string[];
  readonly shapeKey: string;
  readonly layout: string;
}

/**
 * Whether a process counts by the layout that the counter has: asked once, before its first count, as a shard knows its own
 * layout only. Where no key holds the layout, or an older one (it is new, lost, or of a version that had none), all shards are
 * asked.
 */
export class Agreement {
  /** True once the layout was found to be the counter's. */
  isReached = false;
  readonly #shaped: Shaped;
  #turn: Promise<unknown> | undefined;

  constructor(shaped: Shaped) {
    this.#shaped = shaped;
  }

  /** Asks, for all who wait together; resolves to why nothing can be counted, and never rejects. */
  reach(): Promise<unknown> {
    // In Workers each asks for itself: it is asked with "count" and "make", which do no more a second time.
    if (endsWithRequest) this.#turn = undefined;
    this.#turn ??= this.#ask()
      .then(() => {
        this.isReached = true;
        return undefined;
      }, beforeAnyCount)
      .finally(() => {
        this.#turn = undefined;
      });
    return this.#turn;
  }

  async #ask(): Promise<void> {
    const { store, keys, shapeKey, layout } = this.#shaped;
    if (await store.run(shape, shapeKey, { layout, use: "count" })) return;
    const looks = await Promise.all(keys.map((key) => store.run(look, key, null)));
    let newest = layout;
    for (const { layout: own } of looks) {
      agree(own, newest, true);
      newest = newerOf(own, newest);
    }
    await store.run(shape, shapeKey, { layout: newest, use: "make" });
  }
}

/** The layout may have been written, and no event was sent. */
function beforeAnyCount(error: unknown): unknown {
  if (!(error instanceof OrielError)) return error;
  const { code, cause, transient, retryAfterMs } = error;
  return new OrielError(code, OrielError.detailOf(error), { cause, transient, retryAfterMs, applied: "no" });
}

/** For who reads or drains: rejects with MISMATCH where the counter's layout is neither this one nor older. */
export async function checkLayout({ store, shapeKey, layout }: Shaped, signal?: AbortSignal): Promise<void> {
  await store.run(shape, shapeKey, { layout, use: "look" }, { signal });
}
