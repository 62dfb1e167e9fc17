import { Counters, placeOf } from "../counter/counters.ts";
import { extendsLayout } from "../counter/format/layout.ts";
import type { ReadPlace } from "../counter/read.ts";
import { readShard } from "../counter/read-shard.ts";
import { type Look, look } from "../counter/steps/look.ts";
import { ledgerText, part } from "../counter/steps/part.ts";
import { rebase } from "../counter/steps/rebase.ts";
import { setAside } from "../counter/steps/set-aside.ts";
import { argumentError, checkKnown } from "../errors.ts";
import { Place, placed } from "../place.ts";
import { bornOf, diagnose, firstPure, type Seen, type ShardDiagnosis, wasLost } from "./diagnosis.ts";
import { withJsonCounts } from "./json-counts.ts";
import { diagnoseLayout, type LayoutDiagnosis, setLayoutAside } from "./shape-key.ts";
import type { Sink } from "./sql/sink.ts";

const LOOKS = 5;
const TRIES = 5;

export interface RepairOptions {
  /** Of a shard that was set back: what to do with the events that the table may have. Default: such a shard is left. */
  inDoubt?: "drop" | "keep";
  /** Go on where the table lacks what the store gave away: those counts are lost. Default: such a shard is left. */
  acceptMissing?: boolean;
  /**
   * Give what cannot be read, or has another layout, another name, and begin anew; also the key of the layout. Default: such a
   * shard is left. One of a newer layout always is: give its `addedDimensions`.
   */
  setAside?: boolean;
  /** Of generations that do not add up: count what their rows say. Default: left. Reads all of the counter. */
  mendSums?: boolean;
}

/** JSON.stringify takes it: its bigints become numbers up to 2^53 - 1, above it decimal text. */
export interface ShardRepair {
  shard: number;
  before: ShardDiagnosis;
  after: ShardDiagnosis;
  isRepaired: boolean;
  /** The key under which lies what was set aside. */
  aside?: string;
  /** Events that were left out, as the table has or may have them. */
  dropped: bigint;
}

/**
 * Shows how the shards of a counter and their table stand to each other, and makes shards that do not fit follow the table.
 * It only reads the table. Counters and drains may go on meanwhile: each shard changes in one step, and only if it is as it
 * was seen.
 */
export class CountersDoctor {
  readonly #place: ReadPlace;
  readonly #sink: Pick<Sink, "ledger">;
  readonly #at: Place;

  constructor(counters: Counters, sink: Pick<Sink, "ledger">) {
    placed("CountersDoctor", () => {
      if (!(counters instanceof Counters)) throw argumentError("counters", counters, "Counters");
      if (typeof sink?.ledger !== "function") throw argumentError("sink", sink, "a sink of oriel/sql");
    });
    this.#place = placeOf(counters);
    this.#sink = sink;
    this.#at = new Place("CountersDoctor", this.#place.shape.name, this.#place.store);
  }

  /** All shards; writes nothing. */
  diagnose(): Promise<ShardDiagnosis[]> {
    return this.#at.runOuter("diagnose", () => this.#diagnose(), "no");
  }

  async #diagnose(): Promise<ShardDiagnosis[]> {
    const seen = await this.#see(this.#place.keys.map((_, shard) => shard));
    return seen.map((one) => diagnose(one, this.#place.layout));
  }

  /** The layout in the one key of all shards; writes nothing. */
  layout(): Promise<LayoutDiagnosis> {
    return this.#at.runOuter("layout", () => diagnoseLayout(this.#place), "no");
  }

  /** Repairs the shards that do not fit, as far as the options allow. What was done is not undone by a later failure. */
  async repair(options: RepairOptions = {}): Promise<ShardRepair[]> {
    try {
      checkKnown(options, ["inDoubt", "acceptMissing", "setAside", "mendSums"]);
      const repairs: ShardRepair[] = [];
      if (options.setAside) await setLayoutAside(this.#place);
      for (const before of await this.#diagnose()) {
        if (before.verdict !== "fits") repairs.push(await this.#repair(before, options));
        // One that the table takes just now has added up.
        else if (
          options.mendSums &&
          before.storeGeneration === before.tableGeneration &&
          (await this.#mend(before.shard))
        )
          repairs.push(withJsonCounts({ shard: before.shard, before, after: before, isRepaired: true, dropped: 0n }));
      }
      return repairs;
    } catch (error) {
      throw this.#at.outer("repair", error);
    }
  }

  /** Shards and their ledger of one moment: the store's are the same before and after the table was read. */
  async #see(shards: readonly number[]): Promise<Seen[]> {
    const { store, keys, shape } = this.#place;
    const lookAt = (shard: number) => store.run(look, keys[shard]!, null);
    const stable = new Map<number, Seen>();
    for (let left = [...shards], tries = 1; left.length > 0; tries++) {
      const first = await Promise.all(left.map(lookAt));
      const ledger = new Map((await this.#sink.ledger(shape)).map((row) => [row.shard, row]));
      const second = await Promise.all(left.map(lookAt));
      for (const [i, shard] of left.entries())
        if (stateOf(first[i]!) === stateOf(second[i]!) || tries === LOOKS)
          stable.set(shard, { shard, key: keys[shard]!, look: second[i]!, ledger: ledger.get(shard) });
      left = left.filter((shard) => !stable.has(shard));
    }
    return shards.map((shard) => stable.get(shard)!);
  }

  async #repair(before: ShardDiagnosis, options: RepairOptions): Promise<ShardRepair> {
    const { shard } = before;
    let [dropped, aside]: [bigint, string | undefined] = [0n, undefined];
    let after = before;
    for (let tries = 1; tries <= TRIES && after.verdict !== "fits"; tries++) {
      if (after.verdict === "damaged" || after.verdict === "other-layout") {
        if (!options.setAside || after.note === (await this.#ledgerNote(shard))) break;
        aside = (await this.#setAside(after)) ?? aside;
      } else {
        if (after.verdict === "table-behind" && !options.acceptMissing) break;
        const done = await this.#follow(shard, options);
        if (done === undefined) break;
        dropped += done;
      }
      after = diagnose((await this.#see([shard]))[0]!, this.#place.layout);
    }
    const isRepaired = after.verdict === "fits";
    return withJsonCounts({ shard, before, after, isRepaired, dropped, ...(aside !== undefined && { aside }) });
  }

  /** A row of the ledger that cannot be read is repaired in SQL, by hand. */
  async #ledgerNote(shard: number): Promise<string | undefined> {
    return (await this.#sink.ledger(this.#place.shape)).find((row) => row.shard === shard)?.damaged;
  }

  async #setAside({ key, shard, layout: stored = "" }: ShardDiagnosis): Promise<string | undefined> {
    const { store, layout: own } = this.#place;
    // Nothing is wrong with it: whoever repairs has not given the dimensions that were added.
    if (extendsLayout(stored, own)) return undefined;
    const { type, layout, born } = await store.run(look, this.#place.keys[shard]!, null);
    const aside = `${key}:aside:${Date.now()}`;
    const isDone = await store.run(setAside, key, { aside, seen: `${type} ${layout ?? "-"} ${born ?? "-"}` });
    return isDone ? aside : undefined;
  }

  /** Events that were left out; undefined where the operator has to say what is to be done. */
  async #follow(shard: number, { inDoubt }: RepairOptions): Promise<bigint | undefined> {
    const { store, keys, layout } = this.#place;
    const key = keys[shard]!;
    let [{ look: seen, ledger }] = (await this.#see([shard])) as [Seen];
    const isBehind = (ledger?.generation ?? 0) < Number(seen.acknowledged ?? 0) + Number(seen.base ?? 0);
    let leftOut: number | undefined;
    let dropped = 0n;
    if (!isBehind && !wasLost(seen, ledger)) {
      // What is counted from now on is not in doubt.
      const pure = await store.run(part, key, { layout, ledger: ledgerText(ledger ?? { generation: 0, nonce: "" }) });
      seen = await store.run(look, key, null);
      const doubtful = seen.generations.filter(({ number }) => number < pure);
      if (firstPure(seen, ledger) !== pure) return 0n; // looked at again
      const events = doubtful.reduce((sum, { sum: own }) => sum + BigInt(own), 0n);
      if (events > 0n && inDoubt === undefined) return undefined;
      if (inDoubt !== "keep" && doubtful.length > 0) {
        leftOut = doubtful.at(-1)!.number;
        dropped = events;
      }
    }
    const isDone = await store.run(rebase, key, {
      layout,
      seen: stateText(seen),
      ledger: ledger?.generation ?? 0,
      leftOut,
      ledgerBornMs: bornOf(ledger),
      sums: [],
    });
    return isDone ? dropped : 0n;
  }

  /** Ended generations that their rows do not add up to get the sum of their rows; false where all add up. */
  async #mend(shard: number): Promise<boolean> {
    const { store, keys, layout } = this.#place;
    const [{ look: seen, ledger }] = (await this.#see([shard])) as [Seen];
    const { counts, sums, base } = await readShard(store, keys[shard]!, layout, "whole");
    const wrong = [...sums].flatMap(([generation, sum]) => {
      const rows = [...(counts.get(generation)?.values() ?? [])].reduce((total, count) => total + count, 0n);
      return sum === `${rows}` || generation - base >= Number(seen.current)
        ? []
        : [`${generation - base}`, sum, `${rows}`];
    });
    if (wrong.length === 0) return false;
    return store.run(rebase, keys[shard]!, {
      layout,
      seen: stateText(seen),
      ledger: ledger?.generation ?? 0,
      leftOut: undefined,
      ledgerBornMs: bornOf(ledger),
      sums: wrong,
    });
  }
}

/** The shard as a rebase wants to find it. */
function stateText({ born, base, acknowledged }: Look): string {
  return `${born ?? ""} ${base ?? "0"} ${acknowledged ?? "0"}`;
}

function stateOf({ type, layout, acknowledged, base, born, generations }: Look): string {
  return JSON.stringify([type, layout, acknowledged, base, born, generations.map(({ nonce }) => nonce ?? "")]);
}
