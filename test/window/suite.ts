import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { forceKernel, type KernelName } from "../../src/kernel.ts";
import { type Stage, stageOn } from "./stage.ts";
import type { OpenStore } from "./stores.ts";
import { answersSuite } from "./suite-answers.ts";
import { clockSuite } from "./suite-clock.ts";
import { policySuite } from "./suite-policies.ts";
import { refusalSuite } from "./suite-refusals.ts";

/** What a series promises, over one store and one kernel, on a clock that is stepped. */
export function windowSuite(name: string, kernel: KernelName, open: () => Promise<OpenStore>): void {
  describe(`${name}, ${kernel}`, () => {
    let opened: OpenStore;
    let current: Stage;
    const stage = () => current;
    beforeAll(async () => {
      forceKernel(kernel);
      opened = await open();
    });
    beforeEach(async () => {
      await opened.clear();
      current = stageOn(opened);
    });
    afterAll(async () => {
      forceKernel(null);
      await opened?.close();
    });

    answersSuite(stage);
    policySuite(stage);
    clockSuite(stage);
    refusalSuite(stage);
  });
}
