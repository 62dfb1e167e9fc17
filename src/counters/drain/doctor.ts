import { ofThisCopy } from "../../base/copies.ts";
import { argumentError, checkKnown } from "../../base/errors.ts";
import { atSite, runOuter, Site } from "../../base/site.ts";
import { adoptStoredZone } from "../counter/agreement.ts";
import { Counters, targetOf } from "../counter/counters.ts";
import { extendsLayout } from "../counter/format/layout.ts";
import type { ReadTarget } from "../counter/read.ts";
import { readShard } from "../counter/read-shard.ts";
import { ledgerText, part } from "../counter/steps/generations.ts";
import { type Look, look } from "../counter/steps/reads.ts";
import { rebase, setAside } from "../counter/steps/repairs.ts";
import { bornOf } from "../counter/table.ts";
import {
  diagnose,
  firstPure,
  otherLayout,
  type Seen,
  type ShardDiagnosis,
  wasLost,
  withJsonCounts,
} from "./diagnosis.ts";
import type { Sink } from "./sql/sink.ts";

/** What `CountersDoctor.diagnose` reads. */
export interface DiagnoseOptions {
  /**
   * Also compare the sums of ended generations with their rows (verdict "sum"). Reads the whole counter. Default false.
   */
  sums?: boolean | undefined;
}

const LOOKS = 5;
const TRIES = 5;

/** What `CountersDoctor.repair` may do with events whose fate is unknown. */
export interface RepairOptions {
  /**
   * For a shard that was set back: drop or keep the events that the table may have. Default: the shard is not repaired.
   */
  inDoubt?: "drop" | "keep" | undefined;
  /**
   * Continue although the table lacks acknowledged generations. Their counts are lost. Default: the shard is not
   * repaired.
   */
  acceptMissing?: boolean | undefined;
  /**
   * Rename shards that cannot be read or have another layout, and the key of the layout, and start empty ones. Default:
   * they are not repaired. A shard with a newer layout is never renamed: pass its `addedDimensions` instead.
   */
  setAside?: boolean | undefined;
  /** The other counter that was drained into the table is no more. Default: the shard is not repaired. */
  otherIsGone?: boolean | undefined;
  /** Correct the sums of generations from their rows. Reads the whole counter. Default false. */
  mendSums?: boolean | undefined;
}

/** Works with JSON.stringify: bigints become numbers up to 2^53 - 1, and decimal text above it. */
export interface ShardRepair {
  shard: number;
  before: ShardDiagnosis;
  after: ShardDiagnosis;
  isRepaired: boolean;
  /** The new key of a shard that was set aside. */
  aside?: string;
  /** Dropped events, because the table has or may have them. */
  dropped: bigint;
}

/**
 * Compares the shards of a counter with their table, and makes shards that do not fit continue from the table. It only
 * reads the table. Counters and drains may run at the same time: each shard changes in one step, and only if it has not
 * changed since it was read.
 */
export class CountersDoctor {
  readonly #target: ReadTarget;
  readonly #sink: Pick<Sink, "ledger">;
  readonly #at: Site;

  constructor(counters: Counters, sink: Pick<Sink, "ledger">) {
    atSite("CountersDoctor", () => {
      if (!(counters instanceof Counters))
        throw argumentError("counters", counters, ofThisCopy("Counters", counters, "Counters"));
      if (typeof sink?.ledger !== "function") throw argumentError("sink", sink, "a sink of oriel/sql");
    });
    this.#target = targetOf(counters);
    this.#sink = sink;
    this.#at = new Site("CountersDoctor", this.#target.shape.name, this.#target.store);
  }

  /** Diagnoses all shards. Writes nothing. */
  diagnose(options: DiagnoseOptions = {}): Promise<ShardDiagnosis[]> {
    const diagnose = async () => {
      checkKnown(options, ["sums"]);
      const found = await this.#diagnose();
      return options.sums ? Promise.all(found.map((one) => this.#withSum(one))) : found;
    };
    return runOuter(this.#at, "diagnose", diagnose, "no");
  }

  async #withSum(found: ShardDiagnosis): Promise<ShardDiagnosis> {
    if (found.verdict !== "fits" || !isSettled(found)) return found;
    const [wrong] = await this.#wrongSums(found.shard);
    if (!wrong) return found;
    const [number, sum, rows] = wrong;
    return { ...found, verdict: "sum", note: `@n:${number} is ${sum}, but its rows add up to ${rows}` };
  }

  async #diagnose(): Promise<ShardDiagnosis[]> {
    await adoptStoredZone(this.#target);
    const seen = await this.#see(this.#target.keys.map((_, shard) => shard));
    return seen.map((one) => diagnose(one, this.#target.layout));
  }

  /** Diagnoses the key that holds the layout of all shards. Writes nothing. */
  layout(): Promise<LayoutDiagnosis> {
    return runOuter(this.#at, "layout", () => diagnoseLayout(this.#target), "no");
  }

  /** Repairs shards that do not fit, as far as the options allow. A later failure does not undo finished repairs. */
  repair(options: RepairOptions = {}): Promise<ShardRepair[]> {
    return runOuter(this.#at, "repair", async () => {
      checkKnown(options, ["inDoubt", "acceptMissing", "otherIsGone", "setAside", "mendSums"]);
      const repairs: ShardRepair[] = [];
      if (options.setAside) await setLayoutAside(this.#target);
      for (const before of await this.#diagnose()) {
        if (before.verdict !== "fits") repairs.push(await this.#repair(before, options));
        else if (options.mendSums && isSettled(before) && (await this.#mend(before.shard)))
          repairs.push(withJsonCounts({ shard: before.shard, before, after: before, isRepaired: true, dropped: 0n }));
      }
      return repairs;
    });
  }

  /** Reads shards and their ledger at one instant: the shards are the same before and after the ledger is read. */
  async #see(shards: readonly number[]): Promise<Seen[]> {
    const { store, keys, shape } = this.#target;
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
        if (after.verdict === "other-counter" && !options.otherIsGone) break;
        const done = await this.#follow(shard, options);
        if (done === undefined) break;
        dropped += done;
      }
      after = diagnose((await this.#see([shard]))[0]!, this.#target.layout);
    }
    const isRepaired = after.verdict === "fits";
    return withJsonCounts({ shard, before, after, isRepaired, dropped, ...(aside !== undefined && { aside }) });
  }

  /** A damaged row of the ledger must be repaired in SQL, by hand. */
  async #ledgerNote(shard: number): Promise<string | undefined> {
    return (await this.#sink.ledger(this.#target.shape)).find((row) => row.shard === shard)?.damaged;
  }

  async #setAside({ key, shard, layout: stored = "" }: ShardDiagnosis): Promise<string | undefined> {
    const { store, layout: own } = this.#target;
    // The shard is intact. The operator has not passed the added dimensions.
    if (extendsLayout(stored, own)) return undefined;
    const { type, layout, born } = await store.run(look, this.#target.keys[shard]!, null);
    const aside = `${key}:aside:${Date.now()}`;
    const isDone = await store.run(setAside, key, { aside, seen: `${type} ${layout ?? "-"} ${born ?? "-"}` });
    return isDone ? aside : undefined;
  }

  /** Returns the number of dropped events, or undefined if the operator must choose an option. */
  async #follow(shard: number, { inDoubt }: RepairOptions): Promise<bigint | undefined> {
    const { store, keys, layout } = this.#target;
    const key = keys[shard]!;
    let [{ look: seen, ledger }] = (await this.#see([shard])) as [Seen];
    const isBehind = (ledger?.generation ?? 0) < Number(seen.acknowledged ?? 0) + Number(seen.base ?? 0);
    let leftOut: number | undefined;
    let dropped = 0n;
    if (!isBehind && !wasLost(seen, ledger)) {
      // Counts from now on are certainly not in the table.
      const pure = await store.run(part, key, { layout, ledger: ledgerText(ledger ?? { generation: 0, nonce: "" }) });
      seen = await store.run(look, key, null);
      const doubtful = seen.generations.filter(({ number }) => number < pure);
      if (firstPure(seen, ledger) !== pure) return 0n; // the caller tries again
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

  /** Ended generations with a wrong sum. Each has its number in the fields, the stored sum, and the sum of its rows. */
  async #wrongSums(shard: number, seen?: Look): Promise<[number: string, sum: string, rows: string][]> {
    const { store, keys, layout } = this.#target;
    const current = Number((seen ?? (await store.run(look, keys[shard]!, null))).current ?? 1);
    const { counts, sums, base } = await readShard(store, keys[shard]!, layout, "whole");
    return [...sums].flatMap(([generation, sum]): [string, string, string][] => {
      const rows = [...(counts.get(generation)?.values() ?? [])].reduce((total, count) => total + count, 0n);
      return sum === `${rows}` || generation - base >= current ? [] : [[`${generation - base}`, sum, `${rows}`]];
    });
  }

  /** Sets wrong sums of ended generations to the sums of their rows. False if all sums were right. */
  async #mend(shard: number): Promise<boolean> {
    const { store, keys, layout } = this.#target;
    const [{ look: seen, ledger }] = (await this.#see([shard])) as [Seen];
    const wrong = (await this.#wrongSums(shard, seen)).flat();
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

/** Whether no generation is on its way to the table. One that is was added up before, so its sum is right. */
function isSettled({ storeGeneration, tableGeneration }: ShardDiagnosis): boolean {
  return storeGeneration === tableGeneration;
}

/** The shard as a rebase wants to find it. */
function stateText({ born, base, acknowledged }: Look): string {
  return `${born ?? ""} ${base ?? "0"} ${acknowledged ?? "0"}`;
}

function stateOf({ type, layout, acknowledged, base, born, generations }: Look): string {
  return JSON.stringify([type, layout, acknowledged, base, born, generations.map(({ nonce }) => nonce ?? "")]);
}

/** The key that holds the layout of all shards. Every process reads it before it counts, reads or drains. */
export interface LayoutDiagnosis {
  key: string;
  /** The stored layout. Undefined: none, and the next process that counts writes it. */
  layout: string | undefined;
  verdict: "fits" | "other-layout" | "damaged";
  /** Describes the problem; empty if there is none. */
  note: string;
}

async function diagnoseLayout(target: ReadTarget): Promise<LayoutDiagnosis> {
  await adoptStoredZone(target);
  const { store, shapeKey: key, layout } = target;
  const { type, layout: own } = await store.run(look, key, null);
  const found = { key, layout: own };
  if (type !== "none" && (type !== "hash" || own === undefined))
    return { ...found, verdict: "damaged", note: type === "hash" ? "it has no @layout" : `the key holds a ${type}` };
  if (own === undefined || own === layout || extendsLayout(layout, own)) return { ...found, verdict: "fits", note: "" };
  return { ...found, verdict: "other-layout", note: otherLayout(own, layout) };
}

/** Renames a key that holds another layout or cannot be read. A key with a newer layout is intact and stays. */
async function setLayoutAside(target: ReadTarget): Promise<void> {
  const { key, verdict, layout = "" } = await diagnoseLayout(target);
  if (verdict === "fits" || extendsLayout(layout, target.layout)) return;
  const { type, layout: stored, born } = await target.store.run(look, key, null);
  const seen = `${type} ${stored ?? "-"} ${born ?? "-"}`;
  await target.store.run(setAside, key, { aside: `${key}:aside:${Date.now()}`, seen });
}
