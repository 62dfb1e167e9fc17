import { spawn } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { afterAll, beforeAll } from "vitest";
import { runCommand } from "../../src/command/program.ts";
import { defaults } from "../../src/store/delivery/script-store.ts";
import { builtProgram } from "../harness/built-program.ts";

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** The page that an error of the code names. */
export const pageOf = (code: string) =>
  `https://github.com/oriel-js/oriel/blob/main/docs/errors.md#${code.toLowerCase()}`;

/** The command's own function, in this process, with streams in place of a terminal. */
export async function command(args: readonly string[], input = "", terminal: object = {}): Promise<Ended> {
  const [stdout, stderr] = [Object.assign(new PassThrough(), terminal), new PassThrough()];
  const texts = Promise.all([stdout, stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString()));
  const status = await runCommand(args, { stdin: Readable.from([Buffer.from(input)]), stdout, stderr });
  stdout.end();
  stderr.end();
  const [out = "", error = ""] = await texts;
  return { status, stdout: out, stderr: error };
}

/** The command when its server does not answer: with the deadline that a program has, not the long one of tests. */
export async function commandInVain(args: readonly string[], input = ""): Promise<Ended> {
  const { deadlineMs } = defaults;
  defaults.deadlineMs = 1000;
  try {
    return await command(args, input);
  } finally {
    defaults.deadlineMs = deadlineMs;
  }
}

const CLI = new URL("../../src/command/cli.ts", import.meta.url);

/** The program in a process of its own; `onOutput` sees what it has written so far. */
export function program(
  args: readonly string[],
  onOutput: (stdout: string, child: ReturnType<typeof spawn>) => void = () => {},
  options: { cwd?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [builtProgram(CLI), ...args], options);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    onOutput(stdout, child);
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, stdout, stderr })));
}

/** `commandInVain` for each command of a file. */
export function useDeadlineOfPrograms(): void {
  const { deadlineMs } = defaults;
  beforeAll(() => {
    defaults.deadlineMs = 1000;
  });
  afterAll(() => {
    defaults.deadlineMs = deadlineMs;
  });
}
