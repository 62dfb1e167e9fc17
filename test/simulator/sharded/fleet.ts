import { ShardedSeries } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { SLOTS, slotOf, spreadKeys } from "../../../src/store/keys.ts";
import { law } from "../subject.ts";
import { CALM, Network, type Weather } from "../world/network.ts";
import { SimProcess } from "../world/process.ts";
import { Random } from "../world/random.ts";
import { SimStore } from "../world/store.ts";
import { World } from "../world/world.ts";
import { type Answered, Books } from "./books.ts";
import { byteLengthOf, ClusterStore } from "./cluster-store.ts";
import { Curves } from "./curves.ts";
import { Cuts, keysAway, planCuts, type Side } from "./faults.ts";
import type { FleetOutcome, FleetPlan } from "./plan.ts";
import { Primary, type Ran } from "./primary.ts";
import { Recorder } from "./recorder.ts";

const START_MS = 1_700_000_000_000;
const NAME = "latency";
const WEATHER: Weather = {
  ...{ lostRequest: 0.002, lostReply: 0.005, repeated: 0.005, repeatedLateMs: 4000 },
  ...{ slow: 0.01, slowMs: 1500 },
};
/** Wires of recorders lose and repeat messages, those of askers do not: so it is known which shards an answer must have. */
const SIDES = [WEATHER, WEATHER, CALM, CALM];
/** The part of the schedule in which the fleet grows. */
const GROWS = { from: 0.35, to: 0.6 };
/** A process that ends waits so long for its last calls. */
const LAST_CALLS_MS = 5000;
const SETTLING_MS = 20_000;
const NEVER_MS = 1e9;
/** Longer than any schedule. */
const SPAN_MS = 1_800_000;
/** A window that ended so long ago has ended on each server. */
const PAST_MS = 1000;

/** Ten thousand processes that record in shards, with faults, in virtual time. */
export async function playFleet(plan: FleetPlan): Promise<FleetOutcome> {
  const usual = { ...law };
  const wall = { now: Date.now, random: Math.random, setTimeout: globalThis.setTimeout };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  if (!plan.seals) Object.assign(law, { sealAfterMs: NEVER_MS, idleMs: NEVER_MS });
  else Object.assign(law, { minSealedBytes: 256, minIdleBytes: 256 });
  const fleet = new Fleet(plan);
  const chances = fleet.random.fork();
  Date.now = () => fleet.world.nowMs;
  Math.random = () => chances.u32() / 2 ** 32;
  globalThis.setTimeout = ((run: () => void, delayMs: number) => {
    // What never rings would keep its process in memory.
    if (delayMs < NEVER_MS) fleet.world.after(delayMs, run);
    return {};
  }) as never;
  try {
    return await fleet.play();
  } finally {
    Date.now = wall.now;
    Math.random = wall.random;
    globalThis.setTimeout = wall.setTimeout;
    Error.stackTraceLimit = stackTraceLimit;
    Object.assign(law, usual);
  }
}

/** A process that records. */
interface Running {
  readonly process: SimProcess;
  readonly side: Side;
  readonly keys: readonly string[];
  /** It has given way to another one. */
  isEnding: boolean;
}

class Fleet {
  readonly world = new World(START_MS);
  readonly random: Random;
  readonly books: Books;
  readonly #plan: FleetPlan;
  readonly #primaries: readonly Primary[];
  readonly #networks: readonly (readonly Network[])[];
  readonly #cuts: Cuts;
  readonly #curves: Curves;
  readonly #primaryOf: (key: string) => number;
  /** The keys of the shards, before and after. */
  readonly #keys: readonly (readonly string[])[];
  readonly #endMs: number;
  #killed = 0;
  #paused = 0;
  #answers = 0;
  #late = 0;

  constructor(plan: FleetPlan) {
    this.#plan = plan;
    this.random = new Random(plan.seed);
    this.books = new Books(this.world);
    this.#endMs = START_MS + 1000 * plan.seconds;
    this.#curves = new Curves(START_MS, plan);
    const places = new Map<string, number>();
    this.#primaryOf = (key) => {
      let place = places.get(key);
      if (place === undefined) {
        place = Math.floor((slotOf(key) * plan.primaries) / SLOTS);
        places.set(key, place);
      }
      return place;
    };
    this.#primaries = Array.from({ length: plan.primaries }, (_, i) => {
      const ran = (ran: Ran) => {
        const bin = this.#curves.at(this.world.nowMs);
        if (bin) bin.steps[i]!++;
        this.books.saw(ran);
      };
      return new Primary(this.world, this.random.int(-30, 30), ran);
    });
    this.#networks = SIDES.map((weather) =>
      this.#primaries.map(() => new Network(this.world, { ...weather }, this.random.fork())),
    );
    this.#cuts = new Cuts(this.world, this.#networks);
    const names = { keyOf: (name: string) => `oriel:{${name}}` } as Store;
    this.#keys = plan.shards.map((shards) => spreadKeys(names, NAME, "shard", shards));
  }

  async play(): Promise<FleetOutcome> {
    const { world, books, random } = this;
    const { seed, recorders, askers, primaries, seconds } = this.#plan;
    for (let i = 0; i < recorders; i++) this.#startRecorder(i % 2, this.#keys[0]!);
    for (let i = 0; i < askers; i++) void this.#ask(i);
    planCuts(world, this.#cuts, random, primaries, 1000 * seconds);
    await world.run(this.#endMs + SETTLING_MS);
    const reader = new ShardedSeries(this.#store(this.#process("last"), 2), NAME, this.#options(1));
    void reader.values({ span: SPAN_MS }).then(
      (values) => books.judgeAll(values),
      (error) => world.violation(`the last reader failed with ${error}`),
    );
    await world.run(world.nowMs + SETTLING_MS);
    return {
      ...{ seed, violations: world.violations, seconds: this.#curves.seconds() },
      ...{ acknowledged: books.acknowledged, failed: books.failed },
      ...{ mismatched: books.mismatched, copies: books.copies },
      ...{ answers: this.#answers, exact: books.exact, bounded: books.bounded, late: this.#late },
      ...{ killed: this.#killed, paused: this.#paused, virtualEvents: world.eventCount },
    };
  }

  get #isOver(): boolean {
    return this.world.nowMs >= this.#endMs;
  }

  #process(name: string): SimProcess {
    return new SimProcess(this.world, name, this.random);
  }

  #store(process: SimProcess, side: Side, received?: (output: unknown) => void): ClusterStore {
    const { world } = this;
    const storeAt = (primary: number) =>
      new SimStore({
        ...{ world, process, alter: this.#plan.alter },
        ...{ server: this.#primaries[primary]!, network: this.#networks[side]![primary]! },
      });
    return new ClusterStore(process, this.#primaryOf, storeAt, received);
  }

  #options(shards: number) {
    const random = this.random.fork();
    return { shards, retention: "1h", values: "float64", entropy: () => random.u32() } as const;
  }

  /** A process that records now and then, one event or some in one turn. It may stand still, and it may be killed. */
  #startRecorder(side: Side, keys: readonly string[]): void {
    const { world, random } = this;
    const process = this.#process("recorder");
    const running: Running = { process, side, keys, isEnding: false };
    const recorder = new Recorder(this.#store(process, side), NAME, keys, this.#options(keys.length));
    const every = this.#plan.recordEveryMs;
    const next = () => {
      if (this.#isOver || running.isEnding) return;
      this.#record(recorder);
      process.after(random.int(1, 2 * every), next);
    };
    process.after(random.int(1, 2 * every), next);
    const leftMs = this.#endMs - world.nowMs;
    if (random.chance(0.05)) world.after(random.int(0, leftMs), () => this.#pause(running));
    else if (random.chance(0.03)) world.after(random.int(0, leftMs), () => this.#kill(running));
    if (keys === this.#keys[0]) world.after(Math.max(0, this.#growsMs() - world.nowMs), () => this.#grow(running));
  }

  #record(recorder: Recorder): void {
    const { world, books, random } = this;
    const values = Array.from({ length: random.chance(0.1) ? 3 : 1 }, () => books.newValue());
    const recorded = Promise.all(values.map((value) => recorder.record(value)));
    void books.follow(values, recorded).then((isStored) => {
      const bin = this.#curves.at(world.nowMs);
      if (bin) bin[isStored ? "acknowledged" : "failed"] += values.length;
    });
  }

  #pause({ process, isEnding }: Running): void {
    if (process.state !== "running" || isEnding || this.#isOver) return;
    this.#paused++;
    process.pause();
    this.world.after(this.random.int(500, 15_000), () => process.resume());
  }

  #kill({ process, isEnding, side, keys }: Running): void {
    if (isEnding || this.#isOver) return;
    this.#killed++;
    process.kill();
    this.#startRecorder(side, keys);
  }

  /** Once in the middle of the schedule, each process gives way to one that names more shards. */
  #grow(running: Running): void {
    if (running.process.state === "dead") return;
    // Its calls under way end as they may. It begins no other.
    running.isEnding = true;
    this.world.after(LAST_CALLS_MS, () => running.process.kill());
    this.#startRecorder(running.side, this.#keys[1]!);
    const bin = this.#curves.at(this.world.nowMs);
    if (bin) bin.grown++;
  }

  #growsMs(): number {
    const { seconds } = this.#plan;
    return START_MS + this.random.int(Math.round(1000 * GROWS.from * seconds), Math.round(1000 * GROWS.to * seconds));
  }

  /** A process that asks about a window that has ended, whose answer is known, and now and then about the present. */
  async #ask(number: number): Promise<void> {
    const { world, random } = this;
    const process = this.#process(`asker ${number}`);
    const side = number % 2 === 0 ? 2 : 3;
    const received = (output: unknown) => {
      const bin = this.#curves.at(world.nowMs);
      if (bin) bin.bytes += byteLengthOf(output);
    };
    const open = (shards: number) =>
      new ShardedSeries(this.#store(process, side, received), NAME, this.#options(shards));
    const growsMs = number % 4 < 2 ? this.#growsMs() : Number.POSITIVE_INFINITY;
    let series = open(this.#plan.shards[0]);
    while (!this.#isOver) {
      await world.sleep(random.int(1, 2 * this.#plan.askEveryMs), process);
      if (world.nowMs > growsMs && series.shards === this.#plan.shards[0]) {
        await series.close();
        series = open(this.#plan.shards[1]);
      }
      if (this.#isOver) return;
      await this.#question(series, side);
    }
  }

  async #question(series: ShardedSeries, side: Side): Promise<void> {
    const { world, books, random } = this;
    const fromMs = world.nowMs;
    const before = books.acknowledged;
    const isPresent = random.chance(0.25);
    const atMs = fromMs - PAST_MS;
    const spanMs = random.chance(0.5) ? SPAN_MS : random.int(1, 30_000);
    const asked = isPresent ? { span: SPAN_MS } : { span: spanMs, at: atMs };
    const listed = this.#listed(fromMs);
    let answer: Answered;
    try {
      answer = await series.stats({ ...asked, percentiles: [50], method: "inverted_cdf" });
    } catch (error) {
      return world.violation(`a question failed with ${(error as Error).stack ?? error}`);
    }
    this.#note(answer);
    if (isPresent) return books.judgePresent(answer, before);
    const during = this.#cuts.between(side, fromMs, world.nowMs);
    // A process that cannot read the list, or reads it while it changes, may know of fewer shards.
    if (during.ever.has(this.#primaryOf(`oriel:{${NAME}}`)) || this.#listed(world.nowMs).length !== listed.length) {
      this.#late++;
      return;
    }
    const keys = [
      ...new Set(this.#keys.filter((its) => its.length === series.shards || listed.includes(its.length)).flat()),
    ];
    books.judge(answer, { atMs, spanMs, keys, away: keysAway(keys, this.#primaryOf, during) });
  }

  #listed(nowMs: number): number[] {
    return [...this.books.notedMs].flatMap(([shards, sinceMs]) => (sinceMs <= nowMs ? [shards] : []));
  }

  #note({ degraded, missingShare = 0 }: Answered): void {
    this.#answers++;
    const bin = this.#curves.at(this.world.nowMs);
    if (!bin) return;
    bin.answers++;
    if (degraded) bin.degraded++;
    bin.missing += missingShare;
  }
}
