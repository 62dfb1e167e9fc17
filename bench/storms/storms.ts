import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type FaultProxy, startProxy } from "../../test/harness/network/proxy.ts";
import { freePort, type RedisServer, startRedis } from "../../test/harness/servers/redis-server.ts";
import { watch } from "../../test/harness/watchdog.ts";
import { rivalVersions } from "../report/write.ts";
import type { Report, Row } from "../runner/report.ts";
import { CONTENDERS, LIMIT, SPAN_MS } from "./contenders.ts";
import { type Entry, lateWritesOf, messagesOf, mostWithin } from "./judge.ts";

export interface StormsBench {
  /** How often each fault comes. */
  rounds: number;
  jobs: readonly string[];
}

export const FULL_STORMS: StormsBench = { rounds: 2, jobs: Object.keys(CONTENDERS) };
export const SMALL_STORMS: StormsBench = { rounds: 1, jobs: ["lock"] };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));
const PROCESSES = 3;
/** Longer than a lease. */
const STOPPED_MS = 1700;
const JUMP_MS = 5000;
/** Messages of dead workers come back within a few leases. */
const SETTLE_MS = 8000;
/** Redis keeps each write that it has acknowledged. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always"];

/** The same faults for each contender: what it lost, doubled or let through. */
export async function benchStorms({ rounds, jobs }: StormsBench): Promise<Report> {
  const rows: Row[] = [];
  const versions = rivalVersions();
  for (const job of jobs)
    for (const contender of Object.keys(CONTENDERS[job]!))
      rows.push(...(await new Storm(job, contender, versions[contender]).run(rounds)));
  return {
    bench: "storms",
    title: `Storms of faults over ${PROCESSES} processes: what was lost, doubled or let through`,
    rows,
    notes: [
      `Each fault came ${rounds} times, when a process was at work.`,
      `A process stands still for ${STOPPED_MS} ms, where a lease has 1000. A process is killed and replaced. Three answers of scripts are lost, with their connections.`,
      `The clock of a process is set ${JUMP_MS / 1000} s forward and back. Redis is killed, and started again with every write that it had acknowledged.`,
      `Limits admit ${LIMIT} calls in ${SPAN_MS} ms. Counted are the most calls in any such span, by a clock that no fault moves.`,
      "Messages that were acknowledged, and then never handled, handled twice, or begun before they were due.",
      "A late write comes from a holder after a later holder has entered, though it had looked for the loss of its lock. A fence lets the database refuse it.",
      "Calls that reached a service that answered each with 503.",
      "All have their recommended settings (bench/storms/contenders.ts has the links).",
    ],
  };
}

class Storm {
  readonly #job: string;
  readonly #contender: string;
  readonly #version: string | number | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "oriel-storm-"));
  readonly #children: ChildProcess[] = [];
  readonly #journals: string[] = [];
  #busy: (child: number) => void = () => {};
  #redis!: RedisServer;
  #proxy!: FaultProxy;
  #url = "";
  #service = "";
  #hits = 0;

  /** `version`: undefined of oriel. */
  constructor(job: string, contender: string, version: string | number | undefined) {
    this.#job = job;
    this.#contender = contender;
    this.#version = version;
  }

  async run(rounds: number): Promise<Row[]> {
    const service = createServer((_, response) => {
      this.#hits++;
      response.writeHead(503).end();
    }).listen(0, "127.0.0.1");
    await once(service, "listening");
    this.#service = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
    const args = ["--dir", this.#folder, ...DURABLE];
    const tcp = await freePort();
    this.#redis = await startRedis({ tcp, args });
    this.#proxy = await startProxy(this.#redis.port);
    this.#url = this.#proxy.url;
    try {
      for (let i = 0; i < PROCESSES; i++) this.#start(i);
      for (let i = 0; i < PROCESSES; i++) if (this.#job !== "circuit") await this.#whenBusy();
      for (let round = 0; round < rounds; round++) {
        await this.#stopOne();
        await this.#killOne();
        await this.#loseAnswers();
        await this.#setClock(round % 2 === 0 ? JUMP_MS : -JUMP_MS);
        await this.#restartRedis(tcp, args);
      }
      for (const child of this.#children) child.send("ending");
      await sleep(this.#job === "queue" ? SETTLE_MS : 1000);
      for (const child of this.#children) child.send("over");
      await Promise.race([Promise.all(this.#children.map((child) => once(child, "exit"))), sleep(3000)]);
      return this.#judged();
    } finally {
      for (const child of this.#children) child.kill("SIGKILL");
      service.close();
      await this.#proxy.close();
      await this.#redis.stop();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  #start(i: number): void {
    const journal = join(this.#folder, `journal-${this.#journals.length}`);
    this.#journals.push(journal);
    const args = [this.#job, this.#contender, String(i), this.#url, this.#service, journal];
    const child = spawn(process.execPath, ["--import", "./bench/typescript.mjs", CHILD, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "ignore", "ipc"],
    });
    watch(child);
    child.on("message", () => this.#busy(i));
    child.on("error", () => {}); // a message to a process that was killed
    this.#children[i] = child;
  }

  /** The process that is at work next. Of a circuit any: its calls are short. */
  #whenBusy(): Promise<number> {
    if (this.#job === "circuit") return sleep(300).then(() => this.#journals.length % PROCESSES);
    return new Promise((resolve) => {
      this.#busy = resolve;
    });
  }

  async #stopOne(): Promise<void> {
    const child = this.#children[await this.#whenBusy()]!;
    child.kill("SIGSTOP");
    await sleep(STOPPED_MS);
    child.kill("SIGCONT");
    await sleep(500);
  }

  async #killOne(): Promise<void> {
    const busy = await this.#whenBusy();
    this.#children[busy]!.kill("SIGKILL");
    this.#start(busy);
    await this.#whenBusy();
  }

  async #loseAnswers(): Promise<void> {
    await this.#whenBusy();
    this.#proxy.dropReplies(3, { command: "EVALSHA" });
    await sleep(500);
    this.#proxy.cut();
    await sleep(500);
  }

  async #setClock(ms: number): Promise<void> {
    this.#children[await this.#whenBusy()]!.send(String(ms));
    this.#children[0]!.send(String(ms));
    await sleep(1000);
  }

  async #restartRedis(tcp: number, args: string[]): Promise<void> {
    await this.#whenBusy();
    await this.#redis.kill();
    this.#redis = await startRedis({ tcp, args });
    await sleep(1500);
  }

  #judged(): Row[] {
    const entries = this.#journals
      .filter(existsSync)
      .flatMap((journal) => readFileSync(journal, "utf8").split("\n").filter(Boolean))
      .flatMap((line) => entryOf(line));
    const name = [this.#contender, this.#version].filter(Boolean).join(" ");
    const row = (fault: string, count: number, of: number) => ({ job: this.#job, contender: name, fault, count, of });
    if (this.#job === "limit") {
      const most = mostWithin(entries, SPAN_MS);
      const admitted = entries.filter(({ kind }) => kind === "admitted").length;
      return [row(`most in a second, limit ${LIMIT}`, most, admitted)];
    }
    if (this.#job === "circuit") return [row("calls to the dead service", this.#hits, this.#hits)];
    if (this.#job === "lock") {
      const { writes, late, refused } = lateWritesOf(entries);
      return [row("late writes", late, writes), row("late writes that a fence lets through", late - refused, writes)];
    }
    const { added, lost, doubled, early } = messagesOf(entries);
    return [row("lost", lost, added), row("handled twice", doubled, added), row("early", early, added)];
  }
}

/** A process may be killed while it writes its last line. */
function entryOf(line: string): Entry[] {
  try {
    return [JSON.parse(line) as Entry];
  } catch {
    return [];
  }
}
