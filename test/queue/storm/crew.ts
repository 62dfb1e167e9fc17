import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { watch } from "../../harness/watchdog.ts";
import type { FromHost, ToHost } from "./host.ts";
import { type Mutation, mutating } from "./mutations.ts";
import type { Orders, Reported } from "./notes.ts";

const MAX_END_MS = 20_000;

/** A process that actors run in. */
export class Host {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #ending = new Map<string, (error: string | undefined) => void>();
  #report: (note: Reported) => void = () => {};
  isRunning = true;

  constructor(program: string) {
    this.#child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
    watch(this.#child);
    this.#child.stdin!.on("error", () => {});
    this.#closed = once(this.#child, "close");
    createInterface(this.#child.stdout!).on("line", (line) => {
      const reported = JSON.parse(line) as FromHost;
      if ("note" in reported) this.#report(reported.note);
      else this.#ending.get(reported.ended)?.(reported.error);
    });
  }

  act(orders: Orders, report: (note: Reported) => void): void {
    this.#report = report;
    this.#say({ act: orders });
  }

  /** Resolves to why it did not end, or undefined. */
  end(name: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve("it does not end"), MAX_END_MS);
      this.#ending.set(name, (error) => {
        clearTimeout(late);
        this.#ending.delete(name);
        resolve(error);
      });
      this.#say({ end: name });
    });
  }

  /** SIGSTOP: it does nothing until `resume`. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  /** Sends SIGKILL. Resolves when all its output has arrived. */
  async kill(): Promise<void> {
    this.isRunning = false;
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  #say(line: ToHost): void {
    this.#child.stdin!.write(`${JSON.stringify(line)}\n`);
  }
}

/** Processes that are started ahead, and serve one storm after another unless they are killed in it. */
export class Crew {
  readonly #folder = mkdtempSync(join(tmpdir(), "oriel-storm-"));
  readonly #program = join(this.#folder, "host.cjs");
  readonly #all = new Set<Host>();
  readonly #free: Host[] = [];

  /** Builds the program, as it is or with a rule broken. */
  async open(mutation?: Mutation): Promise<void> {
    await build({
      entryPoints: [fileURLToPath(new URL("./host.ts", import.meta.url))],
      outfile: this.#program,
      bundle: true,
      platform: "node",
      format: "cjs",
      logLevel: "error",
      plugins: mutation ? [mutating(mutation)] : [],
    });
  }

  take(): Host {
    const host = this.#free.shift() ?? this.#start();
    if (this.#free.length === 0) this.#free.push(this.#start());
    return host;
  }

  giveBack(host: Host): void {
    if (host.isRunning) this.#free.push(host);
    else this.#all.delete(host);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((host) => host.kill()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #start(): Host {
    const host = new Host(this.#program);
    this.#all.add(host);
    return host;
  }
}
