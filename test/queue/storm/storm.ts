import { Random } from "../../simulator/world/random.ts";
import { Crew } from "./crew.ts";
import { deliveriesOf, judge } from "./judge.ts";
import type { Mutation } from "./mutations.ts";
import { Scene } from "./scene.ts";
import { Site } from "./site.ts";
import { trouble } from "./troubles.ts";

const MAX_END_MS = 15_000;

export interface Outcome {
  seed: number;
  violations: string[];
  accepted: number;
  deliveries: number;
  /** Deliveries after the first. */
  again: number;
  dead: number;
  troubles: ReadonlyMap<string, number>;
}

/**
 * One storm over one queue on a real server. Producers and workers have their own processes, each behind a proxy. There are
 * random kills, stops, cuts and losses. Then calm returns, and the remaining work is done. The seed determines the plan, but
 * not the timing of the machine.
 */
async function playStorm(seed: number, site: Site, crew: Crew): Promise<Outcome> {
  const scene = new Scene(seed, new Random(seed), site, crew);
  const { random, options } = scene;
  await scene.useBefore();
  for (const isAlone of [false, random.chance(0.3)]) await scene.produce(random.int(3, 10), isAlone);
  for (const isAlone of [false, true, random.chance(0.5)]) await scene.work(isAlone);
  await trouble(scene);
  await scene.calm();
  await scene.finish(MAX_END_MS);
  const dead = await scene.directly((queue) => queue.dead.list({ limit: 1000 }));
  await scene.close();
  const { notes, ended, failures, troubles } = scene;
  const deliveries = deliveriesOf(notes);
  return {
    seed,
    violations: [...failures, ...judge({ notes, ended, dead, maxAttempts: options.attempts })],
    accepted: notes.filter(({ what }) => what === "accepted").length,
    deliveries: deliveries.length,
    again: deliveries.filter(({ attempt }) => attempt > 1).length,
    dead: dead.length,
    troubles,
  };
}

export interface StormsOptions {
  first: number;
  count: number;
  /** Side by side, each on a server of its own. */
  sites: number;
  mutation?: Mutation;
  /** Ends with the first storm that fails. */
  isEndedByFailure?: boolean;
}

export async function playStorms(options: StormsOptions): Promise<Outcome[]> {
  const { first, count, mutation, isEndedByFailure } = options;
  const crew = new Crew();
  await crew.open(mutation);
  const outcomes: Outcome[] = [];
  let next = first;
  const playOn = async () => {
    const site = new Site();
    await site.open();
    try {
      while (next < first + count) {
        const outcome = await playStorm(next++, site, crew);
        outcomes.push(outcome);
        if (isEndedByFailure && outcome.violations.length > 0) next = first + count;
      }
    } finally {
      await site.close();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(options.sites, count) }, playOn));
  } finally {
    await crew.close();
  }
  return outcomes.sort((one, other) => one.seed - other.seed);
}

/** Sums of many storms, in one line. */
export function tallyOf(all: readonly Outcome[]): string {
  const sum = (of: (one: Outcome) => number) => all.reduce((total, one) => total + of(one), 0);
  const failed = all.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed);
  const reported =
    failed.length === 0 ? "0 failed" : `${failed.length} failed (seeds ${failed.slice(0, 10).join(" ")})`;
  const names = [...new Set(all.flatMap(({ troubles }) => [...troubles.keys()]))].sort();
  const troubles = names.map((name) => `${sum((one) => one.troubles.get(name) ?? 0)} ${name}`);
  return (
    `delay queue: ${all.length} storms on real servers, ${reported}, ${sum((one) => one.accepted)} messages accepted, ` +
    `${sum((one) => one.deliveries)} deliveries, ${sum((one) => one.again)} of them after the first, ` +
    `${sum((one) => one.dead)} dead; ${troubles.join(", ")}`
  );
}
