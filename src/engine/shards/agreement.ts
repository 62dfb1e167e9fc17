import { gathering } from "../../base/async/gathering.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import { OrielError } from "../../base/errors.ts";
import type { Clock } from "../../base/time.ts";
import { IN_USE_MS } from "../../generated/layouts/shards.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { fnv1a } from "../../store/keys.ts";
import { isUnreachable, unsent } from "../series/refused.ts";
import type { SeriesSettings } from "../series/series-options.ts";
import { type Agree, type Agreed, agree, type Listed } from "./steps/agree.ts";

/** A process notes its spread this often while it records. So others see that the spread is in use. */
const RENEW_MS = IN_USE_MS / 3;
/** A spread is listed for the retention and this time after it was noted last. */
const SLACK_MS = 3_600_000;
/** A process that could not note its spread for so long records no more. Half of the slack is left for what is under way. */
const MAX_UNNOTED_MS = SLACK_MS / 2;

/**
 * This process's side of the list of spreads, in which all processes of a series find where its events are.
 *
 * Law: a process notes its spread before it records, and a query reads the list while it reads the events. So a query knows of
 * every shard that has an event which was acknowledged before the query began.
 */
export class Agreement {
  readonly #stores: readonly Store[];
  readonly #isList: boolean;
  readonly #key: string;
  readonly #shards: number;
  readonly #kind: number;
  readonly #retentionMs: number;
  readonly #keepMs: number;
  readonly #replicas: number;
  readonly #checkPlain: ((server: number) => Promise<void>) | undefined;
  readonly #checkShards: (() => Promise<unknown>) | undefined;
  /** It goes on while the machine sleeps, as the list's time does. */
  readonly #clock: Clock;
  /** By server: the spreads that it has listed, and when it did so last. */
  readonly #listed: Map<string, Listed & { atMs: number }>[] = [];
  /** When the spread was noted on every server, by this process or another one. */
  #notedMs = Number.NEGATIVE_INFINITY;
  #noting: Promise<void> | undefined;
  #looking: Promise<readonly (Agreed | OrielError)[]> | undefined;

  /**
   * `stores`: one, whose primaries share the shards, or the servers of a list, with a shard each. `labels`: of a group. `checkPlain`
   * rejects if the events without shards on a server are of another kind: the list does not have them. `checkShards` does so for the
   * process's own shards, and says which kind they are of.
   */
  constructor(
    stores: readonly Store[],
    isList: boolean,
    name: string,
    shards: number,
    {
      valueType,
      clock,
      retentionMs,
      replicas,
    }: Pick<SeriesSettings, "valueType" | "clock" | "retentionMs" | "replicas">,
    labels: readonly string[] = [],
    checkPlain?: (server: number) => Promise<void>,
    checkShards?: () => Promise<unknown>,
  ) {
    this.#kind = fnv1a(new TextEncoder().encode([valueType, clock, ...labels].join(" ")));
    this.#stores = stores;
    this.#isList = isList;
    this.#key = stores[0]!.keyOf(name);
    this.#shards = shards;
    this.#retentionMs = retentionMs;
    this.#keepMs = retentionMs + SLACK_MS;
    this.#replicas = replicas;
    this.#checkPlain = checkPlain;
    this.#checkShards = checkShards;
    this.#clock = stores[0]!.leaseClock;
  }

  /**
   * Undefined if the process may record now. Else a promise to wait for, which rejects if the store refuses the spread or cannot be
   * reached.
   */
  beforeRecording(): Promise<void> | undefined {
    const agoMs = this.#clock() - this.#notedMs;
    if (agoMs < RENEW_MS) return undefined;
    // In Workers each request notes for itself. A second note changes nothing.
    if (endsWithRequest) this.#noting = undefined;
    this.#noting ??= this.#note()
      .catch((error) => {
        throw unsent(error);
      })
      .finally(() => {
        this.#noting = undefined;
      });
    this.#noting.catch(() => {}); // a call that does not wait leaves it to the next one
    return agoMs >= MAX_UNNOTED_MS ? this.#noting : undefined;
  }

  /** Reads the list of each server. */
  read(): Promise<readonly Agreed[]> {
    return this.#agree({ keepMs: 0, isFirst: false });
  }

  /**
   * The same, or why a server cannot be reached. Rejects with any other error. The queries of one turn share it. It is sent behind the
   * last of them.
   */
  look(): Promise<readonly (Agreed | OrielError)[]> {
    const look = () => {
      this.#looking = undefined;
      return this.#agreeWithSome({ keepMs: 0, isFirst: false });
    };
    if (endsWithRequest) return look();
    this.#looking ??= gathering().then(look);
    return this.#looking;
  }

  /**
   * A process that has noted its spread once is not refused any more: others may name more shards meanwhile.
   *
   * Law: while a server is away, a process may begin if another one had noted the same spread on every server, and may record for as long as
   * that one. The server that is away lists the spread then, and its processes agree about the kind. A spread that others have noted
   * on some servers only proves nothing: a process that knows only the one that is away would not find the events.
   */
  async #note(): Promise<void> {
    const begunMs = this.#clock();
    const isFirst = this.#notedMs === Number.NEGATIVE_INFINITY;
    // If one server of a list refuses, none has noted it.
    if (isFirst) {
      const looked = await this.#agreeWithSome({ keepMs: 0, isFirst }).catch((error) => this.#explain(error));
      const checks = looked.map((each, i) =>
        !(each instanceof OrielError) && each.isPlain ? this.#checkPlain?.(i) : undefined,
      );
      await Promise.all(checks);
      this.#checkProved(looked);
    }
    const noted = await this.#agreeWithSome({ keepMs: this.#keepMs, isFirst });
    if (!noted.some((each) => each instanceof OrielError)) this.#notedMs = begunMs;
    else this.#notedMs = Math.max(this.#notedMs, begunMs - this.#checkProved(noted));
  }

  /** The list has no more than a hash of a kind. If the shards themselves are of another one, their error says of which. */
  async #explain(error: unknown): Promise<never> {
    if ((error as OrielError).code !== "MISMATCH") throw error;
    await this.#checkShards?.().catch((better) => {
      throw isUnreachable(better) ? error : better;
    });
    throw error;
  }

  /** How long ago a process had noted the spread on every server, if one is away. Throws its error if that is too long. */
  #checkProved(answers: readonly (Agreed | OrielError)[]): number {
    const failure = answers.find((each) => each instanceof OrielError);
    if (!failure) return 0;
    const ages = answers.flatMap((each, i) => {
      const { spreads } = each instanceof OrielError ? { spreads: [] } : each;
      return spreads.filter(
        ({ shards, position, wholeAgoMs }) =>
          shards === this.#shards && position === this.#position(i) && wholeAgoMs >= 0,
      );
    });
    const agoMs = Math.min(...ages.map(({ wholeAgoMs }) => wholeAgoMs));
    if (agoMs >= MAX_UNNOTED_MS) throw failure;
    return agoMs;
  }

  #position(i: number): number {
    return this.#isList ? i + 1 : 0;
  }

  #agree(how: Pick<Agree, "keepMs" | "isFirst">): Promise<readonly Agreed[]> {
    return Promise.all(this.#stores.map((_, i) => this.#ask(i, how)));
  }

  /** The same, or why a server cannot be reached. */
  #agreeWithSome(how: Pick<Agree, "keepMs" | "isFirst">): Promise<readonly (Agreed | OrielError)[]> {
    const asked = this.#stores.map((_, i) =>
      this.#ask(i, how).catch((error) => {
        if (isUnreachable(error)) return error as OrielError;
        throw error;
      }),
    );
    return Promise.all(asked);
  }

  async #ask(i: number, how: Pick<Agree, "keepMs" | "isFirst">): Promise<Agreed> {
    const agoMs = this.#clock() - this.#notedMs;
    const wholeAgoMs = agoMs < MAX_UNNOTED_MS ? agoMs : -1;
    const spread = { shards: this.#shards, position: this.#position(i), kind: this.#kind, wholeAgoMs };
    try {
      // Without the spread, a replica's copies of the events would not be found.
      const options = how.keepMs > 0 && this.#replicas > 0 ? { replicas: this.#replicas } : undefined;
      return this.#remembered(i, await this.#stores[i]!.run(agree, this.#key, { ...spread, ...how }, options));
    } catch (error) {
      throw asCorrupt(`${this.#key}:shards`, error);
    }
  }

  /** The answer of a server, with the spreads that it has listed before and may have lost, as long as they can have events. */
  #remembered(i: number, { isPlain, spreads }: Agreed): Agreed {
    this.#listed[i] ??= new Map();
    const listed = this.#listed[i];
    const nowMs = this.#clock();
    for (const spread of spreads) listed.set(`${spread.shards} ${spread.position}`, { ...spread, atMs: nowMs });
    for (const [key, one] of listed) {
      if (one.atMs < nowMs) listed.set(key, { ...one, wholeAgoMs: -1 });
      if (nowMs - one.atMs > this.#retentionMs) listed.delete(key);
    }
    return { isPlain, spreads: [...listed.values()] };
  }
}
