import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { findPython } from "../../../scripts/find-programs.mjs";
import { type Answer, preloadTimes, type Rival, type RivalWindow } from "../contract.ts";
import { mutexMissing, underMutex } from "../lock/mutex.ts";

const SCRIPT = fileURLToPath(new URL("numpy_window.py", import.meta.url));

/** Linux refuses a longer single argument (MAX_ARG_STRLEN, its final zero included): some 12 000 times in base64. */
const LONGEST_ARGUMENT = 131_071;

const command = findPython("numpy");

interface Output extends Answer {
  timestamps: string;
  values: string;
}

/** Runs the script once; a non-zero exit and unreadable output are errors. */
function runPython(fields: string[], overInput: boolean): Promise<Output> {
  return new Promise((resolve, reject) => {
    const python = spawn(command!, [SCRIPT, ...(overInput ? ["-"] : fields)]);
    const output: Buffer[] = [];
    const complaint: Buffer[] = [];
    python.stdout.on("data", (bytes: Buffer) => output.push(bytes));
    python.stderr.on("data", (bytes: Buffer) => complaint.push(bytes));
    python.on("error", reject);
    python.stdin.on("error", () => {}); // the exit status says more than the broken pipe
    python.on("close", (status) => {
      if (status !== 0) return reject(new Error(`python3 ended with ${status}: ${Buffer.concat(complaint)}`));
      try {
        resolve(JSON.parse(Buffer.concat(output).toString("latin1")) as Output);
      } catch (error) {
        reject(new Error("python3 gave unreadable output", { cause: error }));
      }
    });
    python.stdin.end(overInput ? fields.join("\n") : undefined);
  });
}

/** The preloaded events as fields of the hash: base64 text of i64 times and of f32 values. */
function columns(preload: Float32Array, windowMs: number): { timestamps: string; values: string } {
  const times = BigInt64Array.from(preloadTimes(preload.length, windowMs), BigInt);
  return {
    timestamps: Buffer.from(times.buffer).toString("base64"),
    values: Buffer.from(preload.buffer, preload.byteOffset, preload.byteLength).toString("base64"),
  };
}

async function open(redisUrl: string, name: string, windowMs: number, preload: Float32Array): Promise<RivalWindow> {
  const redis = new Redis(redisUrl);
  const key = `sw_counter_bytes:${name}`;
  let overInput = false;
  if (preload.length > 0) await redis.hset(key, columns(preload, windowMs));

  async function addUnderLock(value: number): Promise<Answer> {
    const [timestamps, values] = await redis.hmget(key, "timestamps", "values");
    const fields = [timestamps ?? "", values ?? "", String(Date.now()), String(value), String(windowMs)];
    overInput = fields.some((field) => field.length > LONGEST_ARGUMENT);
    const output = await runPython(fields, overInput);
    await redis.hset(key, { timestamps: output.timestamps, values: output.values });
    await redis.pexpire(key, 2 * windowMs);
    return { count: output.count, sum: output.sum as number, p99: output.p99 as number };
  }
  return {
    add: (value, signal) => underMutex(redis, name, signal, () => addUnderLock(value)),
    redisBytes: async () => Number(await redis.memory("USAGE", key)),
    note: () => (overInput ? "over stdin: too long for a command line" : "on the command line"),
    async close() {
      await redis.unlink(key);
      await redis.quit();
    },
  };
}

function missing(): string | undefined {
  return command ? mutexMissing() : "no Python with NumPy; `npm test` unpacks one, ORIEL_PYTHON names one";
}

/** V3: raw columns in a hash, a mutex, and a Python process with NumPy for every event. */
export const numpySubprocess: Rival = { name: "V3 mutex + NumPy subprocess", missing, open };
