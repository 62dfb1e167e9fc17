import { gathering } from "../../base/async/gathering.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import { type Site, siteOf } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { spreadKeys } from "../../store/keys.ts";
import type { Settings, StructureKind } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { isUnreachable } from "../series/refused.ts";
import type { SeriesSettings } from "../series/series-options.ts";
import type { Degraded } from "../stats/window-stats.ts";
import { Agreement } from "./agreement.ts";
import type { Shard } from "./shard.ts";
import type { Agreed } from "./steps/agree.ts";

/** The servers of a sharded structure: the store of a cluster, or a list of stores, one for each server. */
export interface Servers {
  readonly stores: readonly Store[];
  readonly isList: boolean;
  readonly site: Site;
}

/** `what`: the structure, in errors. Throws ARGUMENT for a list that has a store twice. */
export function serversOf(what: string, store: Store | readonly Store[], name: string): Servers {
  const isList = Array.isArray(store);
  const stores: readonly Store[] = isList ? [...(store as readonly Store[])] : [store as Store];
  const site = siteOf(what, stores[0]!, name);
  for (const [i, each] of stores.entries()) {
    siteOf(what, each, name);
    site.checked(undefined, () => {
      if (stores.indexOf(each) < i)
        throw argumentError(`store ${i + 1} of the list`, each, "another server than those before");
    });
  }
  return { stores, isList, site };
}

/** The answers of shards, and the share of the shards that have none. */
export interface Answers<Part> {
  parts: readonly Part[];
  missingShare: number;
  /** Why a shard has none, if one could not be reached. Others are on servers that this process does not know. */
  failure: OrielError | undefined;
}

/** Makes this process's side of a shard, whose loops call `beforeAppend` as `SeriesSettings` says. */
export type MakeShard = (store: Store, key: string, beforeAppend: SeriesSettings["beforeAppend"]) => Shard;

const NOTHING_ELSE: Agreed = { spreads: [], isPlain: false };
/** Ends the keys of shards. */
const WHAT = "shard";

/** This process's side of all shards of a structure: it chooses the next one to record in, and asks all of them. */
export class Shards {
  /** Those in which this process records. */
  readonly own: readonly Shard[];
  readonly #stores: readonly Store[];
  readonly #isList: boolean;
  readonly #name: string;
  readonly #settings: SeriesSettings;
  readonly #agreement: Agreement;
  readonly #make: MakeShard;
  /** By their stores and keys. */
  readonly #open = new Map<string, Shard>();
  /** The shards of each number that was listed. */
  readonly #spreads = new Map<number, readonly Shard[]>();
  #turn: Shard | undefined;
  /** Index of the shard of the next turn. */
  #next: number | undefined;
  /** The last answer of each server that lists the spreads. */
  readonly #agreed: Agreed[] = [];

  /** `number`: of own shards. `labels`: of a group. */
  constructor(
    { stores, isList }: Servers,
    name: string,
    number: number,
    settings: SeriesSettings,
    labels: readonly string[],
    make: MakeShard,
  ) {
    this.#stores = stores;
    this.#isList = isList;
    this.#name = name;
    this.#settings = settings;
    const checkPlain = (server: number) => this.#plainOn(server).checkKind(settings);
    const checkShards = () => Promise.all(this.own.map((shard) => shard.checkKind(settings)));
    this.#agreement = new Agreement(stores, isList, name, number, settings, labels, checkPlain, checkShards);
    this.#make = make;
    this.own = this.#shardsOf(number);
  }

  /** The shard of all events that are recorded before the loops send what they have. Shards that cannot be reached are left out. */
  chosen(): Shard {
    if (this.#turn) return this.#turn;
    const { length } = this.own;
    const first = this.#next ?? this.#settings.entropy() % length;
    let shard = this.own[first]!;
    for (let i = 1; i < length && !shard.isUp; i++) shard = this.own[(first + i) % length]!;
    this.#next = (this.own.indexOf(shard) + 1) % length;
    this.#turn = shard;
    void gathering().then(() => {
      this.#turn = undefined;
    });
    return shard;
  }

  /** Throws UNAVAILABLE if a question can no longer be asked. */
  checkAskable(): void {
    for (const { loop } of this.own) loop.checkAskable();
  }

  /** Asks all shards at once. Rejects if none can be reached, or not the `needed` one, and with any other error. */
  async ask<Part>(ask: (shard: Shard) => Promise<Part>, needed?: Shard): Promise<Answers<Part>> {
    const asked = (shard: Shard): Promise<Part | OrielError> => {
      const answer = ask(shard).catch((error) => {
        if (isUnreachable(error) && shard !== needed) return error;
        throw error;
      });
      answer.catch(() => {}); // all are awaited below
      return answer;
    };
    const own = this.own.map(asked);
    const looked = await this.#agreement.look();
    const { shards, unknown } = this.#listed(looked);
    const others = shards.slice(own.length);
    if (others.length > 0) this.own[0]!.loop.checkOpen();
    const answers = await Promise.all([...own, ...others.map(asked)]);
    const failures = answers.filter((answer) => answer instanceof OrielError);
    if (failures.length === answers.length) throw failures[0];
    // Each server of a list has a shard too, which says the same.
    if (looked[0] instanceof OrielError && !this.#isList) failures.push(looked[0]);
    const missing = failures.length + unknown;
    const parts = answers.filter((answer) => !(answer instanceof OrielError)) as Part[];
    return { parts, missingShare: missing / (parts.length + missing), failure: failures[0] };
  }

  /** Deletes the events of all shards; none if some are on servers that this process does not know. */
  async delete(): Promise<void> {
    for (const { loop } of this.own) loop.checkOpen();
    const { shards, unknown } = this.#listed(await this.#agreement.read());
    checkWhole({ missingShare: unknown / (shards.length + unknown), failure: undefined });
    await Promise.all(shards.map((shard) => shard.loop.delete()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((shard) => shard.close()));
  }

  /** All shards of the listed spreads, own ones first, and how many there may be that this process does not know. */
  #listed(looked: readonly (Agreed | OrielError)[]): { shards: readonly Shard[]; unknown: number } {
    const shards = new Set(this.own);
    let unknown = 0;
    for (const [i, agreed] of looked.entries()) {
      if (!(agreed instanceof OrielError)) this.#agreed[i] = agreed;
      const { spreads, isPlain } = this.#agreed[i] ?? NOTHING_ELSE;
      for (const { shards: number, position } of spreads) {
        if (position === 0 && !this.#isList) for (const shard of this.#shardsOf(number)) shards.add(shard);
        else if (position === 0 || !this.#isList) unknown = Math.max(unknown, number);
        else unknown = Math.max(unknown, number - this.own.length);
      }
      if (isPlain) shards.add(this.#plainOn(i));
    }
    return { shards: [...shards], unknown };
  }

  #shardsOf(number: number): readonly Shard[] {
    let shards = this.#spreads.get(number);
    if (!shards) {
      const of = (store: Store, count: number) =>
        spreadKeys(store, this.#name, WHAT, count).map((key) => this.#shardAt(store, key));
      shards = this.#isList ? this.#stores.flatMap((store) => of(store, 1)) : of(this.#stores[0]!, number);
      this.#spreads.set(number, shards);
    }
    return shards;
  }

  /** The events of a server without shards. */
  #plainOn(server: number): Shard {
    const store = this.#stores[server]!;
    return this.#shardAt(store, store.keyOf(this.#name));
  }

  #shardAt(store: Store, key: string): Shard {
    const id = `${this.#stores.indexOf(store)} ${key}`;
    let shard = this.#open.get(id);
    if (!shard) {
      shard = this.#make(store, key, () => this.#agreement.beforeRecording());
      this.#open.set(id, shard);
    }
    return shard;
  }
}

/** Announces a sharded structure as one of `kind`, whose shards are a setting. */
export function registerSharded(
  kind: StructureKind,
  { stores }: Servers,
  name: string,
  instance: object,
  shards: number,
  [shared, own]: readonly [Settings, Settings],
): void {
  const servers = stores.length > 1 ? stores.length : undefined;
  register(stores[0]!, kind, name, instance, { ...shared, shards }, { ...own, servers });
}

/** Whether an answer may lack events, and why. */
export interface Degradable {
  degraded: boolean;
  degradedBy?: Degraded;
  missingShare?: number;
}

export function degrade<Answer extends Degradable>(answer: Answer, missingShare: number): Answer {
  if (missingShare > 0) Object.assign(answer, { degraded: true, degradedBy: "shards", missingShare });
  return answer;
}

/** Throws if a part is missing from an answer that cannot say so. */
export function checkWhole({ missingShare, failure }: Pick<Answers<unknown>, "missingShare" | "failure">): void {
  if (missingShare === 0) return;
  const percent = Math.ceil(100 * missingShare);
  if (!failure)
    throw new OrielError("MISMATCH", `${percent} % of the shards are on servers that this process does not know`);
  throw new OrielError("UNAVAILABLE", `${percent} % of the shards cannot be reached`, {
    transient: true,
    cause: failure,
  });
}
