import { concurrency, gcra, Limiter, Lock, ReadWriteLock } from "../../../src/entries/index.ts";
import { MultiSemaphore, Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { State } from "../../../src/holds/steps/state.ts";
import type { Operation } from "../../../src/store/contract.ts";
import { Network } from "../world/network.ts";
import { SimProcess } from "../world/process.ts";
import { Random } from "../world/random.ts";
import { SimServer } from "../world/server.ts";
import { SimStore } from "../world/store.ts";
import { World } from "../world/world.ts";
import { Books } from "./books.ts";
import type { Mutation } from "./mutations.ts";
import type { Plan } from "./plan.ts";
import type { Observed } from "./step-laws.ts";
import { inProcess } from "./timers.ts";

const START_MS = 1_700_000_000_000;
/** A broken subscription is established again within this time. */
const LONGEST_CUT_MS = 3000;
/** A lent permit is free again after this time. */
const LENT_MS = 2000;

/** The structures of one process. */
export interface Structures {
  readonly locks: readonly Lock[];
  readonly readWrite: ReadWriteLock;
  readonly single: Semaphore;
  readonly multi: MultiSemaphore;
  /** Lends permits. */
  readonly lender: Limiter;
  /** The same, at a rate. */
  readonly rated: Limiter;
}

/** A call that has not ended. */
export interface Waiter {
  readonly actor: Actor;
  /** Undefined for a set of locks. */
  readonly key: string | undefined;
  readonly startedMs: number;
  readonly waitMs: number;
  readonly permits: number;
  readonly isWaiting: boolean;
}

type Listener = (message?: string) => void;

/** A process with its wires, and its structures. */
export class Actor {
  readonly process: SimProcess;
  readonly network: Network;
  readonly store: SimStore;
  readonly structures: Structures;
  readonly random: Random;
  /** Until then its subscriptions are broken. */
  deafUntilMs = 0;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #stage: Stage;

  constructor(stage: Stage, name: string) {
    const { world, server, plan, mutation } = stage;
    this.#stage = stage;
    this.random = stage.random.fork();
    this.process = new SimProcess(world, name, this.random);
    this.network = new Network(world, { ...plan.weather }, this.random.fork());
    const store = new SimStore({
      world,
      server,
      network: this.network,
      process: this.process,
      replication: stage,
      troubles: { sent: (process) => stage.onSent(process), unanswered() {} },
      alter: (operation) => altered(operation, mutation),
    });
    const speed = 1 + this.random.int(-9, 9) / 1000;
    const run: SimStore["run"] = (operation, key, input, options) =>
      SimStore.prototype.run.call(
        store,
        operation as never,
        key,
        input,
        mutation?.options?.(operation.name, options) ?? options,
      ) as never;
    this.store = Object.assign(store, {
      // It counts the time for which a process was frozen, and is nearly 1 % wrong at worst.
      leaseClock: mutation?.hasShortClock ? store.monotonic : () => (world.nowMs - START_MS) * speed,
      subscribe: plan.hasNews ? (channel: string, listener: Listener) => this.#subscribe(channel, listener) : undefined,
      run,
    });
    store.origin = this;
    const { replicas, limit } = plan;
    const options = { watchdogLease: 900, replicas };
    const lent = concurrency({ limit, lease: LENT_MS });
    const rate = gcra({ limit: 20, span: "1s", burst: limit });
    this.structures = {
      locks: ["a", "b", "c"].map((each) => new Lock(store, each, options)),
      readWrite: new ReadWriteLock(store, "w", options),
      single: new Semaphore(store, "s", { ...options, limit }),
      multi: new MultiSemaphore(store, "s", { ...options, limit }),
      lender: new Limiter(store, [lent], { name: "lender" }),
      rated: new Limiter(store, [lent, rate], { name: "rated" }),
    };
  }

  /** The server has sent a message. */
  hear(channel: string, message: string): void {
    const { world, plan } = this.#stage;
    const { random, process } = this;
    if (!this.#listeners.has(channel) || random.chance(this.#stage.isHealed ? 0 : plan.lostNews)) return;
    const deliver = () => this.#tell(channel, message);
    if (world.nowMs >= this.deafUntilMs) world.after(random.int(1, plan.lateNewsMs), deliver, process.wire);
  }

  /** Breaks its subscriptions. Messages of this time are lost. */
  cut(): void {
    const { world } = this.#stage;
    this.deafUntilMs = world.nowMs + this.random.int(0, LONGEST_CUT_MS);
    world.after(this.deafUntilMs - world.nowMs, () => this.#establish(), this.process.wire);
  }

  #subscribe(channel: string, listener: Listener): () => void {
    const { world } = this.#stage;
    const listeners = this.#listeners.get(channel) ?? new Set();
    // Until the server has the subscription, messages are lost.
    world.after(this.random.int(1, 4), () => {
      this.#listeners.set(channel, listeners.add(listener));
      world.after(1, () => listeners.has(listener) && inProcess(this.process, () => listener()), this.process.wire);
    });
    return () => listeners.delete(listener);
  }

  #establish(): void {
    if (this.#stage.world.nowMs < this.deafUntilMs) return;
    for (const channel of this.#listeners.keys()) this.#tell(channel);
  }

  #tell(channel: string, message?: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) inProcess(this.process, () => listener(message));
  }
}

/** Everything one schedule plays on. */
export class Stage implements Observed {
  readonly world: World;
  readonly server: SimServer;
  readonly random: Random;
  readonly books: Books;
  readonly actors: Actor[] = [];
  readonly endMs: number;
  /** Releases locks by force, and lives. */
  readonly operator: Actor;
  /** Calls that have not ended, in order of their starts. */
  readonly calls = new Set<Waiter>();
  failoverCount = 0;
  /** Holds that callers have got, holds that they have lost, and calls without a hold. */
  holds = 0;
  lost = 0;
  refused = 0;
  /** How far the server's clock was set back, in all: leases may last longer by this. */
  setBackMs = 0;
  /** From then on there are no troubles. */
  isHealed = false;
  /** Called when a process sends a request. */
  onSent: (process: SimProcess) => void = () => {};
  readonly plan: Plan;
  readonly mutation: Mutation | undefined;

  constructor(plan: Plan, tracing: boolean, mutation?: Mutation) {
    this.plan = plan;
    this.mutation = mutation;
    this.random = new Random(plan.seed ^ 0x401d5);
    this.world = new World(START_MS, tracing);
    this.endMs = START_MS + plan.durationMs;
    this.server = new SimServer(this.world);
    this.books = new Books(this);
    this.server.watchers.push((step) => {
      this.world.note(() => `${step.key} ${JSON.stringify([step.input, step.output])}`);
      this.books.onStep(step);
    });
    this.operator = new Actor(this, "operator");
    this.server.onPublish = (channel, message) => {
      if (!mutation?.isSilent) for (const actor of this.actors) actor.hear(channel, message);
    };
  }

  start(): Actor {
    const actor = new Actor(this, `p${this.actors.length}`);
    this.actors.push(actor);
    return actor;
  }

  /** From now on no failover takes back what has been run. */
  replicate(): void {
    this.server.replicate();
  }

  get nowMs(): number {
    return this.world.nowMs;
  }

  stateOf(key: string): State {
    return (this.server.version(key)?.value as State | undefined) ?? { last: 0, holds: [], places: [] };
  }

  violation(text: string): void {
    this.world.violation(text);
  }

  get openCallsOfLiving(): number {
    return [...this.calls].filter(({ actor }) => actor.process.state !== "dead").length;
  }

  get isOver(): boolean {
    return this.world.nowMs >= this.endMs;
  }
}

/** The operation as the mutation would have it. */
function altered<I, O>(operation: Operation<I, O>, mutation: Mutation | undefined): Operation<I, O> {
  const local = mutation?.steps?.[operation.name]?.(operation.local as never);
  return local ? { ...operation, local: local as typeof operation.local } : operation;
}
