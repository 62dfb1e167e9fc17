import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { builtProgram } from "./built-program.ts";
import { watch } from "./watchdog.ts";

export interface Child {
  /** Its printed lines. */
  readonly lines: readonly string[];
  /** Exit code and signal, when all of its output is here. */
  readonly ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  /** Waits until it has printed this number of lines. Rejects when it ends before. */
  printed(count: number): Promise<void>;
  /** SIGSTOP: it does nothing until `resume`. */
  pause(): void;
  resume(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Runs a TypeScript file as a process of its own, which ends with this one at the latest. Its lines are handed to
 * `take` as they come and then not kept.
 */
export function startChild(script: URL, args: readonly (string | number)[], take?: (line: string) => void): Child {
  const child = spawn(process.execPath, [builtProgram(script), ...args.map(String)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  watch(child);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  createInterface(child.stdout).on("line", (line) => {
    if (take) return take(line);
    lines.push(line);
    wake();
  });
  const ended = once(child, "close").then((how) => {
    isOver = true;
    wake();
    return how as [number | null, NodeJS.Signals | null];
  });
  return {
    lines,
    ended,
    printed: (count) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (lines.length < count && !isOver) return;
          waiting.delete(look);
          if (lines.length >= count) resolve();
          else reject(new Error(`the process ended after ${lines.length} lines; ${count} were awaited`));
        };
        waiting.add(look);
        look();
      }),
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
