import { OrielError } from "../../../src/base/errors.ts";
import { Counters } from "../../../src/counters/counter/counters.ts";
import { layoutText, shardKeys } from "../../../src/counters/counter/format/layout.ts";
import type { Operation } from "../../../src/store/contract.ts";
import { Network } from "../../simulator/world/network.ts";
import { SimProcess } from "../../simulator/world/process.ts";
import { Random } from "../../simulator/world/random.ts";
import { SimServer } from "../../simulator/world/server.ts";
import { SimStore } from "../../simulator/world/store.ts";
import { World } from "../../simulator/world/world.ts";
import { Books, type Sent } from "./books.ts";
import type { Mutation } from "./mutations.ts";
import type { Plan } from "./plan.ts";
import { SourceBooks } from "./source-books.ts";
import { Table } from "./table.ts";

const START_MS = 1_700_000_000_000;
const DIMENSIONS = ["site", "id"];
const ADDED = ["colour"];
/** For so long, replicas' lag and late copies of a request together, what was acknowledged may be lost. */
const LONGEST_AT_RISK_MS = 9_000;

/** A process with its wires, and its Counters where it has one. */
export interface Actor {
  readonly process: SimProcess;
  readonly network: Network;
  readonly store: SimStore;
  readonly role: (stage: Stage, actor: Actor) => Promise<void>;
  readonly sent: Sent[];
  counters: Counters | undefined;
}

/** Everything one schedule plays on. */
export class Stage {
  readonly world: World;
  readonly server: SimServer;
  readonly random: Random;
  readonly books = new Books();
  readonly table = new Table();
  readonly source: SourceBooks;
  readonly actors: Actor[] = [];
  readonly endMs: number;
  readonly keys: readonly string[];
  readonly layout: string;
  /** Until then no memory is left. */
  fullUntilMs = 0;
  /** The error of the wall clocks of all processes. */
  wallOffsetMs = 0;
  failoverCount = 0;
  lossCount = 0;
  drainCount = 0;
  drawn = 0;
  /** When each writing step was run that a failover could still take back. */
  readonly #stepTimes: number[] = [];

  constructor(
    readonly plan: Plan,
    tracing: boolean,
    readonly mutation?: Mutation,
  ) {
    this.random = new Random(plan.seed ^ 0xc0117);
    this.world = new World(START_MS, tracing);
    this.endMs = START_MS + plan.durationMs;
    this.server = new SimServer(this.world, true);
    this.server.watchers.push(({ key, input, output }) => this.world.note(() => `${key}: ${described(input, output)}`));
    this.server.watchers.push(({ written }) => void (written.length > 0 && this.#stepTimes.push(this.world.nowMs)));
    const any = this.start("keys", async () => {});
    this.actors.pop();
    this.keys = shardKeys(any.store, "c", plan.shards);
    this.layout = layoutText(plan.shards, "minute", "UTC", DIMENSIONS, plan.isGrowing ? ADDED : []);
    this.source = new SourceBooks(this.books, this.random);
  }

  start(name: string, role: Actor["role"]): Actor {
    const { world, server, random, plan } = this;
    const process = new SimProcess(world, `${name}${this.actors.length}`, random);
    const network = new Network(world, { ...plan.weather }, random.fork());
    const store = new SimStore({
      world,
      server,
      network,
      process,
      replication: this,
      alter: (one) => this.#altered(one),
    });
    const actor: Actor = { process, network, store, role, sent: [], counters: undefined };
    this.actors.push(actor);
    void role(this, actor);
    return actor;
  }

  /** The reader knows all dimensions, unless `isOlder`. */
  open(actor: Actor, replicas = 0, isOlder = false): Counters {
    const { world, plan } = this;
    const { process, store } = actor;
    const onLost = () => {
      this.lossCount++;
      world.note(() => `${process.name} reports a loss`);
      if (!plan.isLong) world.violation(`${process.name} says that counts are lost, which it should have kept`);
      for (const one of actor.sent) one.mayBeLost = true;
    };
    const timers = {
      pause: (ms: number) => world.sleep(ms, process),
      after(ms: number, run: () => void) {
        let isOff = false;
        world.after(ms, () => isOff || run(), process);
        return () => {
          isOff = true;
        };
      },
    };
    const addedDimensions = plan.isGrowing && !isOlder ? ADDED : [];
    const shape = { dimensions: DIMENSIONS, addedDimensions, buckets: ["minute"] as const, shards: plan.shards };
    const options = { ...plan.modes, ...shape, replicas, onLost };
    actor.counters = new Counters(store, "c", options, timers);
    return actor.counters;
  }

  /** From now on no failover takes back what has been run. */
  replicate(): void {
    this.#stepTimes.length = 0;
  }

  failover(steps: number): number {
    const { repeatedLateMs, slowMs } = this.plan.weather;
    // Through a proxy requests may outlive the server that they were sent to.
    const isProxied = repeatedLateMs + slowMs < LONGEST_AT_RISK_MS / 2;
    if (!isProxied) for (const { network } of this.actors) network.breakConnections();
    const since = this.world.nowMs - LONGEST_AT_RISK_MS + (isProxied ? repeatedLateMs + slowMs : 0);
    const young = this.#stepTimes.filter((timeMs) => timeMs >= since).length;
    const lost = this.server.failover(Math.min(steps, young));
    this.#stepTimes.length -= Math.min(lost, this.#stepTimes.length);
    this.failoverCount++;
    for (const { process, sent } of this.actors)
      if (process.state === "dead") for (const one of sent) one.mayBeLost = true;
    return lost;
  }

  get isOver(): boolean {
    return this.world.nowMs >= this.endMs;
  }

  #altered<I, O>(operation: Operation<I, O>): Operation<I, O> {
    const { mutation } = this;
    const local =
      mutation?.step?.name === operation.name
        ? (mutation.step.local(operation.local as never) as typeof operation.local)
        : operation.local;
    if (operation.name !== "counter/add") return { ...operation, local };
    return {
      ...operation,
      local: (...call) => {
        if (this.world.nowMs < this.fullUntilMs) throw new OrielError("OVERLOADED", "no memory", { transient: true });
        return local!(...call);
      },
    };
  }
}

/** One step in a few words, for the trace. */
function described(input: unknown, output: unknown): string {
  const { rows, layout, ...reported } = (input ?? {}) as { rows?: unknown; layout?: unknown };
  return JSON.stringify([reported, output], (_, value) => (typeof value === "bigint" ? `${value}` : value));
}
