import type { Handle } from "./handle.ts";
import { Calls } from "./laws/calls.ts";
import { Ledger } from "./laws/ledger.ts";
import type { Modes } from "./modes.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { mutated } from "./mutations.ts";
import type { Plan } from "./plan.ts";
import { bytesOf, NAME, openSeries } from "./subject.ts";
import { troublesOf } from "./troubles.ts";
import { Network } from "./world/network.ts";
import { SimProcess } from "./world/process.ts";
import { Random } from "./world/random.ts";
import { SimServer } from "./world/server.ts";
import { SimStore } from "./world/store.ts";
import { World } from "./world/world.ts";

const START_MS = 1_700_000_000_000;

/** Some other closed chunk's. */
const otherThan = (key: string) => key.replace(/\d+$/, (number) => String(Number(number) - 1));

/** Everything one schedule plays on: one server, one network, the processes, and the books. */
export class Stage {
  readonly plan: Plan;
  readonly mutation: Mutation | undefined;
  readonly world: World;
  readonly server: SimServer;
  readonly network: Network;
  readonly ledger: Ledger;
  readonly calls: Calls;
  readonly random: Random;
  readonly processes: SimProcess[] = [];
  readonly handles: Handle[] = [];
  readonly endMs: number;
  failoverCount = 0;
  #drawn = 0;

  constructor(plan: Plan, tracing: boolean, mutation?: Mutation) {
    this.plan = plan;
    this.mutation = mutation;
    this.random = new Random(plan.seed ^ 0x5eed);
    this.world = new World(START_MS, tracing);
    this.endMs = START_MS + plan.durationMs;
    this.server = new SimServer(this.world);
    this.network = new Network(this.world, { ...plan.weather }, this.random.fork());
    const looks = this.random.fork();
    this.server.lookUp = (key) => (this.network.isMigrating ? looks.pick([key, undefined, otherThan(key)]) : key);
    this.ledger = new Ledger(this.world, this.server, `oriel:{${NAME}}`, bytesOf);
    this.calls = new Calls(this.world, this.ledger, plan);
    this.server.watchers.push(({ key, origin }) => {
      const handle = origin as Handle | undefined;
      if (handle && handle.openCalls > 0 && key === `oriel:{${NAME}}`) handle.snapshots.push(this.ledger.snapshot());
    });
  }

  startProcess(name: string): SimProcess {
    const process = new SimProcess(this.world, name, this.random);
    this.processes.push(process);
    return process;
  }

  /** A Series object of its own; one that is not kept is forgotten by the checks. */
  open(process: SimProcess, retentionMs: number, { isKept = true, modes = {} as Modes } = {}): Handle {
    const { world, server, network, random, plan } = this;
    const store = new SimStore({
      world,
      server,
      network,
      process,
      replication: this,
      troubles: troublesOf(this),
      alter: (one) => mutated(one, this.mutation, handle),
    });
    const handle: Handle = {
      name: `${process.name}.${this.handles.length}`,
      process,
      store,
      series: openSeries(store, { ...plan, modes: { ...plan.modes, ...modes } }, retentionMs, random.fork()),
      retentionMs,
      isKept,
      snapshots: [],
      openCalls: 0,
      kept: new Set(),
      givenUp: 0,
      deletions: [],
    };
    store.origin = handle;
    store.report = ({ count }) => {
      handle.givenUp += count;
    };
    if (isKept) this.handles.push(handle);
    return handle;
  }

  /** From now on no failover takes back what has been run. */
  replicate(): void {
    this.server.replicate();
  }

  /** A value that no other event of the schedule has; whole, and exact in f32. */
  freshValue(): number {
    return ++this.#drawn;
  }

  get isOver(): boolean {
    return this.world.nowMs >= this.endMs;
  }
}
