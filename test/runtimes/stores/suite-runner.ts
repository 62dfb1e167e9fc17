// The parts of vitest that the suites use, for runtimes without vitest. Bundles contain this file instead.
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
export const { expect } = chai;

type Step = () => unknown;

/** What became of every test, by name. */
export interface Outcome {
  passed: string[];
  failed: string[];
}

const suites: { name: string; body: Step }[] = [];
let tests: { name: string; body: Step }[] = [];
let hooks: Record<"beforeAll" | "beforeEach" | "afterAll", Step[]>;

export const describe = (name: string, body: Step) => suites.push({ name, body });
export const test = (name: string, body: Step) => tests.push({ name, body });
export const beforeAll = (step: Step) => hooks.beforeAll.push(step);
export const beforeEach = (step: Step) => hooks.beforeEach.push(step);
export const afterAll = (step: Step) => hooks.afterAll.push(step);

/** Runs what was described since, one test after the other. A hook of a whole suite that fails rejects. */
export async function runSuites(): Promise<Outcome> {
  const outcome: Outcome = { passed: [], failed: [] };
  for (const suite of suites.splice(0)) {
    tests = [];
    hooks = { beforeAll: [], beforeEach: [], afterAll: [] };
    suite.body();
    const all = async (steps: Step[]) => {
      for (const step of steps) await step();
    };
    await all(hooks.beforeAll);
    for (const { name, body } of tests)
      try {
        await all([...hooks.beforeEach, body]);
        outcome.passed.push(name);
      } catch (error) {
        outcome.failed.push(`${name}: ${(error as Error)?.stack ?? error}`);
      }
    await all(hooks.afterAll);
  }
  return outcome;
}
