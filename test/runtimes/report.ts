import { execFile } from "node:child_process";
import { expect } from "vitest";
import { watch } from "../harness/watchdog.ts";
import type { Outcome } from "./stores/suite-runner.ts";

/** The findings of the script. */
interface Report {
  kernel: string;
  passed: number;
  failed: string[];
}

/** Every check passed, by the kernel named. */
export function expectPassed(report: unknown, kernel: string): void {
  expect(report).toEqual({ kernel, passed: expect.any(Number), failed: [] });
  expect((report as Report).passed).toBeGreaterThan(100);
}

/** Every test of a suite passed. */
export function expectAll(outcome: unknown): void {
  const { passed, failed } = outcome as Outcome;
  expect(failed).toEqual([]);
  expect(passed.length).toBeGreaterThan(10);
}

/** The last printed line of a program, as JSON. Rejects with its errors if it failed. It ends with this process at the latest. */
export function reportOf(program: string, args: readonly string[], cwd: string, env = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: 240_000, maxBuffer: 1 << 26 };
    const child = execFile(program, [...args], options, (error, stdout, stderr) => {
      if (error) return reject(new Error(`${program} ${args.join(" ")}: ${error.message}\n${stdout}${stderr}`));
      resolve(JSON.parse(stdout.trimEnd().split("\n").at(-1)!));
    });
    watch(child);
  });
}
