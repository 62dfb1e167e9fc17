import { type Child, startChild } from "../harness/child.ts";
import type { SoakLedger } from "./ledger.ts";
import type { Sample } from "./memory/memory.ts";
import type { SoakPlan } from "./plan.ts";
import { read } from "./report.ts";

interface Worker {
  id: number;
  child: Child;
  /** Rounds answered. */
  rounds: number;
}

/** The processes under load: started, listened to, killed and replaced. */
export class Crew {
  kills = 0;
  compared = 0;
  readonly wrong: string[] = [];
  /** Heap and pages of each process, by its number. */
  readonly held = new Map<number, Sample[]>();
  readonly pages = new Map<number, Sample[]>();
  readonly startedMs = Date.now();
  firstAnswerMs = Number.POSITIVE_INFINITY;
  readonly #url: string;
  readonly #plan: SoakPlan;
  readonly #ledger: SoakLedger;
  readonly #workers: Worker[] = [];
  #started = 0;
  #atWork = 0;

  constructor(url: string, plan: SoakPlan, ledger: SoakLedger) {
    this.#url = url;
    this.#plan = plan;
    this.#ledger = ledger;
    for (let place = 0; place < plan.workers; place++) this.#start(place);
  }

  /** True once the full number of processes has had answers. */
  get isAtWork(): boolean {
    return this.#atWork >= this.#plan.workers;
  }

  /** Kills a process that is not spared and has had answers, if any, and starts another. */
  async killOne(): Promise<void> {
    const mortal = this.#workers.map((_, place) => place).filter((place) => place >= this.#plan.spared);
    const places = mortal.filter((place) => this.#workers[place]!.rounds > 0);
    if (places.length === 0) return;
    const place = places[Math.floor(places.length * Math.random())]!;
    await this.#workers[place]!.child.kill();
    this.kills++;
    this.#start(place);
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#workers.map(({ child }) => child.kill()));
  }

  #start(place: number): void {
    const id = this.#started++;
    const script = new URL("./worker.ts", import.meta.url);
    const args = [this.#url, JSON.stringify(this.#plan), id, this.startedMs];
    const worker: Worker = { id, rounds: 0, child: startChild(script, args, (line) => this.#take(worker, line)) };
    this.#workers[place] = worker;
    this.held.set(id, []);
    this.pages.set(id, []);
    worker.child.ended.then(([code, signal]) => {
      this.#ledger.ended(id, Date.now());
      if (signal !== "SIGKILL") this.wrong.push(`process ${id} ended by itself, ${code ?? signal}`);
    });
  }

  #take(worker: Worker, line: string): void {
    const report = read(line);
    if (report?.[0] === "sent") this.#ledger.sent(worker.id, report[1], report[2], report[3]);
    else if (report?.[0] === "done") {
      this.firstAnswerMs = Math.min(this.firstAnswerMs, report[2]);
      if (worker.rounds++ === 0) this.#atWork++;
      this.#ledger.done(worker.id, report[1], report[2], report[3]);
    } else if (report?.[0] === "memory") {
      const [, atMs, heldBytes, rssBytes, things] = report;
      this.held.get(worker.id)!.push({ atMs, bytes: heldBytes, things });
      this.pages.get(worker.id)!.push({ atMs, bytes: rssBytes, things });
    } else if (report?.[0] === "compared") this.compared += report[1];
    else if (report?.[0] === "wrong") this.wrong.push(`process ${worker.id}: ${report[1]}`);
  }
}
