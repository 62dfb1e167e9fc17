import { DelayQueue } from "../../../src/queue/delay-queue.ts";
import type { DelayQueueOptions } from "../../../src/queue/options.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import type { FaultProxy } from "../../harness/network/proxy.ts";
import type { Random } from "../../simulator/world/random.ts";
import type { Crew, Host } from "./crew.ts";
import type { Orders, Reported } from "./notes.ts";
import type { Site } from "./site.ts";

export interface Member {
  orders: Orders;
  host: Host;
  proxy: FaultProxy;
  /** In a process of its own, which may be killed. */
  isAlone: boolean;
}

/** The actors of a storm, and their reports. */
export class Scene {
  readonly random: Random;
  readonly site: Site;
  readonly queueName: string;
  readonly options: { shards: number; attempts: number; backoff: number };
  readonly notes: Reported[] = [];
  readonly failures: string[] = [];
  readonly ended = new Set<string>();
  /** Those that take part now. */
  readonly cast: Member[] = [];
  readonly troubles = new Map<string, number>();
  readonly #crew: Crew;
  readonly #steady: Host;
  readonly #hosts = new Set<Host>();
  readonly #endings: Promise<void>[] = [];

  constructor(seed: number, random: Random, site: Site, crew: Crew) {
    this.random = random;
    this.site = site;
    this.#crew = crew;
    this.queueName = `storm ${seed}`;
    this.options = {
      shards: random.pick([1, 1, 2, 4]),
      attempts: random.pick([3, 100]),
      backoff: random.pick([0, 20, 60]),
    };
    this.#steady = this.#take();
  }

  /** The queue as nobody disturbs it. */
  async directly<T>(ask: (queue: DelayQueue<unknown>) => Promise<T>, other: DelayQueueOptions = {}): Promise<T> {
    const store = redisStore(this.site.url, { deadline: 5000 });
    try {
      return await ask(new DelayQueue(store, this.queueName, { ...this.options, ...other }));
    } finally {
      await store.close();
    }
  }

  /** Messages that are all done before. The keys that they leave would expire in the middle of the storm. */
  async useBefore(): Promise<void> {
    await this.directly(
      async (queue) => {
        await queue.addBulk(Array.from({ length: 16 }, () => ({ payload: "before" })));
        for (const message of await queue.claim({ limit: 16 })) await queue.ack(message);
      },
      { dedupeFor: 0 },
    );
  }

  async produce(messages: number, isAlone: boolean): Promise<void> {
    await this.#begin({ messages }, isAlone);
  }

  async work(isAlone: boolean): Promise<void> {
    const { random } = this;
    const worker = {
      concurrency: random.pick([1, 2, 8]),
      prefetch: random.pick([0, 3]),
      visibility: random.pick([100, 150, 300]),
    };
    await this.#begin({ worker }, isAlone);
  }

  async #begin(what: Partial<Orders>, isAlone: boolean): Promise<void> {
    const proxy = await this.site.proxy();
    const name = `${isAlone ? "alone" : "steady"}${this.notes.length}${this.random.int(0, 1e9)}`;
    const orders = { name, url: proxy.url, seed: this.random.u32(), ...this.#place, ...what };
    const host = isAlone ? this.#take() : this.#steady;
    this.#act(host, orders);
    this.cast.push({ orders, host, proxy, isAlone });
  }

  /** Lets a member finish; another may be started meanwhile. */
  end(member: Member): Promise<void> {
    this.leave(member);
    const { host, orders } = member;
    const ending = host.end(orders.name).then((error) => {
      if (error === undefined) this.ended.add(orders.name);
      else this.failures.push(`${orders.name}: ${error}`);
    });
    this.#endings.push(ending);
    return ending;
  }

  leave(member: Member): void {
    this.cast.splice(this.cast.indexOf(member), 1);
  }

  /** All troubles are over; all finish, producers first. */
  async calm(): Promise<void> {
    for (const { proxy } of this.cast) {
      proxy.dropReplies(0);
      proxy.dropRequests(0);
      proxy.delay(0);
      proxy.refuse(false);
      proxy.cut();
    }
    const producers = this.cast.filter(({ orders }) => orders.messages !== undefined);
    await Promise.all(producers.map((member) => this.end(member)));
    for (const member of [...this.cast]) this.end(member);
    await Promise.all(this.#endings);
  }

  /** A last worker does what is left. */
  async finish(longestMs: number): Promise<void> {
    const worker = { concurrency: 8, visibility: 300 };
    const orders = { name: "last", url: this.site.url, seed: 0, ...this.#place, worker, isCalm: true };
    this.#act(this.#steady, orders);
    const endMs = performance.now() + longestMs;
    await this.directly(async (queue) => {
      for (;;) {
        const { waiting, due, claimed } = await queue.counts();
        if (waiting + due + claimed === 0) return;
        if (performance.now() > endMs) {
          this.failures.push(`${waiting} wait, ${due} are due, ${claimed} are claimed, for ever`);
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    const error = await this.#steady.end("last");
    if (error === undefined) this.ended.add("last");
    else this.failures.push(`the last worker: ${error}`);
  }

  async close(): Promise<void> {
    // A process that did not end is not reused.
    for (const host of this.#hosts) {
      if (this.failures.length > 0) await host.kill();
      this.#crew.giveBack(host);
    }
    await this.site.closeProxies();
  }

  get #place() {
    return { queue: this.queueName, options: this.options };
  }

  #take(): Host {
    const host = this.#crew.take();
    this.#hosts.add(host);
    return host;
  }

  #act(host: Host, orders: Orders): void {
    host.act(orders, (note) => this.notes.push(note));
  }
}
