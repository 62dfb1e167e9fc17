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
 * Checks once, before the first count, that this process uses the counter's layout. A shard knows only its own layout.
 * If the shape key is missing or holds an older layout (a new counter, a lost key, an old version), all shards are
 * read.
 */
export class Agreement {
  /** True once the layout is known to be the counter's. */
  isReached = false;
  readonly #shaped: Shaped;
  #turn: Promise<unknown> | undefined;

  constructor(shaped: Shaped) {
    this.#shaped = shaped;
  }

  /**
   * One request serves all waiting callers. Resolves to the error that prevents counting, or undefined. Never rejects.
   */
  reach(): Promise<unknown> {
    // In Workers each request asks for itself. "count" and "make" change nothing when they run a second time.
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

/** The layout may have been written, but no event was sent. */
function beforeAnyCount(error: unknown): unknown {
  if (!(error instanceof OrielError)) return error;
  const { code, cause, transient, retryAfterMs } = error;
  return new OrielError(code, OrielError.detailOf(error), { cause, transient, retryAfterMs, applied: "no" });
}

/** Before a read or a drain: rejects with MISMATCH unless the counter's layout is this one or an older one. */
export async function checkLayout({ store, shapeKey, layout }: Shaped, signal?: AbortSignal): Promise<void> {
  await store.run(shape, shapeKey, { layout, use: "look" }, { signal });
}
