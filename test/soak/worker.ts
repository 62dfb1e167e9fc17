// A separate process. It records into random series and queries them as fast as it can until it is killed.
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { externalBytes } from "../../bench/external-bytes.ts";
import { OrielError, redisStore, Series } from "../../src/entries/index.ts";
import { compare } from "./compare.ts";
import { eventOf, isResting, nameOf, optionsOf, retentionMsOf, type SoakPlan } from "./plan.ts";
import { send } from "./report.ts";

const [url, planText, workerText, startedMsText] = process.argv.slice(2) as [string, string, string, string];
const plan = JSON.parse(planText) as SoakPlan;
const worker = Number(workerText);
const startedMs = Number(startedMsText);

const LANES = 4;
const CALLS = 48;
/** The share of a round's calls that go to the first tenth of the series. */
const HOT_SHARE = 0.5;
const SAMPLE_MS = 2000;

const store = redisStore(url, {
  deadline: 5000,
  // Every key must be a series' key that expires in the soak. Those of the registry live for days.
  registry: false,
  scriptOf: ({ name, script }) => plan.scripts?.[name] ?? script,
});
const opened = new Map<number, Series>();
const drawn = new Map<number, number>();

function seriesOf(index: number): Series {
  let series = opened.get(index);
  if (!series) {
    series = new Series(store, nameOf(index), optionsOf(index));
    opened.set(index, series);
  }
  return series;
}

function pick(): number {
  for (;;) {
    const among = Math.random() < HOT_SHARE ? Math.ceil(plan.series / 10) : plan.series;
    const index = Math.floor(among * Math.random());
    if (!isResting(index, Date.now() - startedMs)) return index;
  }
}

/** Resolves to the outcome of the call: a acknowledged, n not applied, ? unknown. */
async function hand(index: number, values: readonly number[]): Promise<string> {
  const series = seriesOf(index);
  try {
    if (values.length > 1) await series.recordMany(values);
    else if (Math.random() < 0.7) await series.record(values[0]!);
    else {
      const sentMs = Date.now();
      const { count, min, max, to } = await series.recordAndGet(values[0]!, { percentiles: [50, 99] });
      // If an answer took as long as the window, the event may have left it.
      const isInside = to - sentMs < retentionMsOf(index);
      if (isInside && !(count >= 1 && min <= values[0]! && values[0]! <= max))
        send(["wrong", `series ${index}: the window after recording ${values[0]} has ${count} from ${min} to ${max}`]);
    }
    return "a";
  } catch (error) {
    return failed(index, error).applied === "no" ? "n" : "?";
  }
}

function failed(index: number, error: unknown): OrielError {
  if (error instanceof OrielError && error.transient) return error;
  send(["wrong", `series ${index}: ${error instanceof Error ? error.stack : error}`]);
  return new OrielError("CORRUPT", "reported", { applied: "unknown" });
}

async function lane(first: number): Promise<void> {
  for (let round = first; ; round += LANES) {
    const calls: number[] = [];
    for (let i = 0; i < CALLS; i++) {
      const index = pick();
      const count = Math.random() < 0.8 ? 1 : 2 + Math.floor(8 * Math.random());
      const before = drawn.get(index) ?? 0;
      drawn.set(index, before + count);
      eventOf(worker, before + count); // throws where there is no number left
      calls.push(index, eventOf(worker, before), count);
    }
    send(["sent", round, Date.now(), calls]);
    const handed: Promise<string>[] = [];
    for (let i = 0; i < calls.length; i += 3)
      handed.push(
        hand(
          calls[i]!,
          Array.from({ length: calls[i + 2]! }, (_, nth) => calls[i + 1]! + nth),
        ),
      );
    const states = await Promise.all(handed);
    send(["done", round, Date.now(), states.join("")]);
  }
}

async function ask(): Promise<void> {
  for (;;) {
    const index = pick();
    try {
      const wrong = await compare(store, seriesOf(index), index);
      if (wrong) send(["wrong", wrong]);
      else send(["compared", 1]);
    } catch (error) {
      failed(index, error);
    }
    await pause(20);
  }
}

async function sample(): Promise<void> {
  for (;;) {
    const external = await externalBytes();
    const { heapUsed, rss } = process.memoryUsage();
    send(["memory", Date.now(), heapUsed + external, rss, opened.size]);
    await pause(SAMPLE_MS);
  }
}

if (plan.isPolite) setPriority(5);
for (let i = 0; i < LANES; i++) lane(i);
ask();
sample();
