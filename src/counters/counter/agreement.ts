import { endsWithRequest } from "../../base/async/of-request.ts";
import { Calendar, hasSameTimes } from "../../base/calendar.ts";
import { OrielError } from "../../base/errors.ts";
import { SHAPE } from "../../generated/layouts/counter.ts";
import { shapeScript } from "../../generated/scripts/counter.ts";
import type { Operation, Store } from "../../store/contract.ts";
import { extendsLayout, newerOf, withZoneOf, zoneOf } from "./format/layout.ts";
import { look } from "./steps/reads.ts";
import { agree, change, shardAt } from "./steps/shard.ts";

export interface Shaped {
  readonly store: Store;
  readonly keys: readonly string[];
  readonly shapeKey: string;
  /** It names the time zone as the counter does, once that is known. */
  layout: string;
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
    const { store, keys, shapeKey } = this.#shaped;
    if (await inItsZone(this.#shaped, () => store.run(shape, shapeKey, { layout: this.#shaped.layout, use: "count" })))
      return;
    const looks = await Promise.all(keys.map((key) => store.run(look, key, null)));
    for (const { layout: own } of looks) adoptZone(this.#shaped, own);
    let newest = this.#shaped.layout;
    for (const { layout: own } of looks) {
      agree(own, newest, true);
      newest = newerOf(own, newest);
    }
    await inItsZone(this.#shaped, () =>
      store.run(shape, shapeKey, { layout: withZoneOf(newest, this.#shaped.layout), use: "make" }),
    );
  }
}

/** The layout may have been written, but no event was sent. */
function beforeAnyCount(error: unknown): unknown {
  if (!(error instanceof OrielError)) return error;
  const { code, cause, transient, retryAfterMs } = error;
  return new OrielError(code, OrielError.detailOf(error), { cause, transient, retryAfterMs, applied: "no" });
}

/** Before a read or a drain: rejects with MISMATCH unless the counter's layout is this one or an older one. */
export async function checkLayout(shaped: Shaped, signal?: AbortSignal): Promise<void> {
  const { store, shapeKey } = shaped;
  await inItsZone(shaped, () => store.run(shape, shapeKey, { layout: shaped.layout, use: "look" }, { signal }));
}

/**
 * Runs work with the layout, and once more if it met the same layout under another name of its time zone: names of one
 * zone are as good as each other, but the counter keeps the first.
 */
export async function inItsZone<T>(shaped: Shaped, work: () => Promise<T>): Promise<T> {
  const { layout } = shaped;
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OrielError) || error.code !== "MISMATCH") throw error;
    await adoptStoredZone(shaped);
    if (shaped.layout === layout) throw error;
    return work();
  }
}

/** Names the time zone as the stored layout does, if that is the only difference. */
export async function adoptStoredZone(shaped: Shaped): Promise<void> {
  const { layout } = await shaped.store.run(look, shaped.shapeKey, null);
  adoptZone(shaped, layout);
}

/** Whether pairs of names are of one zone. To compare two costs some ten ms, and counters of a process mostly have the same. */
const comparedZones = new Map<string, boolean>();
const MAX_COMPARED = 64;

/** Throws ARGUMENT if the runtime does not know one of them. */
function isSameZone(one: string, other: string): boolean {
  const pair = `${one}|${other}`;
  const known = comparedZones.get(pair);
  if (known !== undefined) return known;
  const isSame = hasSameTimes(new Calendar(one), new Calendar(other));
  if (comparedZones.size >= MAX_COMPARED) comparedZones.clear();
  comparedZones.set(pair, isSame);
  return isSame;
}

/** Names the time zone as `stored` does, if that is the only difference. */
function adoptZone(shaped: Shaped, stored: string | undefined): void {
  const { layout } = shaped;
  if (stored === undefined || stored === layout || stored.split("|").length < 5) return;
  const named = withZoneOf(layout, stored);
  const isLike = named === stored || extendsLayout(named, stored) || extendsLayout(stored, named);
  if (!isLike || named === layout) return;
  try {
    if (isSameZone(zoneOf(layout), zoneOf(stored))) shaped.layout = named;
  } catch {
    // This runtime does not know the stored zone, so nobody can say that it is the same.
  }
}

export interface ShapeUse {
  layout: string;
  /**
   * "look" is for a read and refuses a layout older than the counter's. "count" is for an addition and accepts an older
   * one. "make" writes the layout if there is none or an older one. The others write nothing.
   */
  use: "look" | "count" | "make";
}

/** Compares a layout with the counter's. True if this layout or a newer one is stored. Law in lua/counter/shape.lua. */
export const shape: Operation<ShapeUse, boolean> = {
  name: "counter/shape",
  script: shapeScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, use }) => [layout, use],
  decode: (reply) => reply[0] === SHAPE.stored,
  local(keys, key, { layout, use }) {
    const shard = shardAt(keys, key, layout, use !== "look");
    const own = shard.get("@layout");
    if (own !== undefined && own.length >= layout.length) return true;
    if (use !== "make") return false;
    change(keys, key, shard, 256, () => shard.set("@layout", layout));
    return true;
  },
};
