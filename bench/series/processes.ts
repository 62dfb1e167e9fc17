import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { latencies } from "../events.ts";
import { RIVALS } from "../rivals/all.ts";
import type { Rival, RivalWindow } from "../rivals/contract.ts";
import { oriel } from "../rivals/oriel.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface ProcessesOptions {
  events: number;
  processes: number;
  /** In each process. */
  callers: number;
  slices: number;
  sliceMs: number;
}

export const FULL_PROCESSES: ProcessesOptions = {
  events: 1_000_000,
  processes: 4,
  callers: 250,
  slices: 5,
  sliceMs: 400,
};
export const SMALL_PROCESSES: ProcessesOptions = { events: 50, processes: 2, callers: 4, slices: 1, sliceMs: 20 };

const WINDOW_MS = 3_600_000;
const AS_BUILT = new URL("../typescript.mjs", import.meta.url).href;
const WORKER = fileURLToPath(new URL("process-worker.ts", import.meta.url));

interface Done {
  operations: number;
  refused: number;
}

/** Record one event and get the window's statistics: one key, callers in several processes. */
export async function benchProcesses(redisUrl: string, options: ProcessesOptions): Promise<Report> {
  const { processes, callers, slices } = options;
  const report: Report = {
    bench: "processes",
    title: `Record one event and answer for its window (one key, ${processes} processes x ${callers} callers, one Redis)`,
    rows: [],
    notes: [
      "As in the bench windows; operations of all processes together. Each process of oriel first reads the whole window.",
      "After the last slice one more event was recorded, whose count had to be that of all events before it.",
    ],
  };
  const able = RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  const teams = [];
  try {
    for (const rival of able) teams.push(await Team.gather(rival, redisUrl, options));
    for (let turn = 0; turn <= slices; turn++) for (const team of teams) await team.slice(turn > 0);
    for (const team of teams) await team.verify();
    const ours = teams.find((team) => team.rival === oriel)!;
    report.rows = teams.map((team) => team.row(ours, options));
  } finally {
    for (const team of teams) await team.disband();
  }
  return report;
}

/** A rival's window and the processes that work on it. */
class Team {
  readonly rival: Rival;
  readonly rates: number[] = [];
  readonly #options: ProcessesOptions;
  readonly #window: RivalWindow;
  readonly #workers: ChildProcess[];
  #count: number;
  #refused = 0;

  constructor(rival: Rival, options: ProcessesOptions, window: RivalWindow, workers: ChildProcess[]) {
    this.rival = rival;
    this.#options = options;
    this.#window = window;
    this.#workers = workers;
    this.#count = options.events;
  }

  static async gather(rival: Rival, redisUrl: string, options: ProcessesOptions): Promise<Team> {
    const name = `bench processes ${rival.name}`;
    const window = await rival.open(redisUrl, name, WINDOW_MS, latencies(options.events, 1));
    const workers = Array.from({ length: options.processes }, () =>
      fork(WORKER, [rival.name, redisUrl, name, String(WINDOW_MS)], { execArgv: ["--import", AS_BUILT] }),
    );
    await Promise.all(workers.map((worker) => once(worker, "message")));
    return new Team(rival, options, window, workers);
  }

  async slice(isMeasured: boolean): Promise<void> {
    const { callers, sliceMs } = this.#options;
    const startMs = performance.now();
    const done = await Promise.all(
      this.#workers.map(async (worker) => {
        worker.send({ callers, sliceMs, minOperations: 0 });
        return (await once(worker, "message"))[0] as Done;
      }),
    );
    const elapsedMs = performance.now() - startMs;
    const operations = done.reduce((sum, each) => sum + each.operations, 0);
    this.#count += operations;
    this.#refused += done.reduce((sum, each) => sum + each.refused, 0);
    if (isMeasured) this.rates.push((operations / elapsedMs) * 1000);
  }

  async verify(): Promise<void> {
    const answer = await this.#window.add(1, new AbortController().signal);
    if (answer?.count !== this.#count + 1)
      throw new Error(`${this.rival.name} answered count ${answer?.count}; right is ${this.#count + 1}`);
  }

  row(ours: Team, { events, processes, callers }: ProcessesOptions): Row {
    return {
      events,
      processes,
      callers,
      rival: this.rival.name,
      opsPerSecond: median(this.rates),
      timesSlower: median(this.rates.map((rate, turn) => ours.rates[turn]! / rate)),
      refused: this.#refused,
    };
  }

  async disband(): Promise<void> {
    for (const worker of this.#workers) worker.disconnect();
    await this.#window.close();
  }
}
