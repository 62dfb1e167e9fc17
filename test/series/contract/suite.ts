import { afterAll, beforeAll, beforeEach, describe, vi } from "vitest";
import { packing } from "../../../src/engine/stats/segments/segment.ts";
import { forceKernel, type KernelName } from "../../../src/entries/kernel.ts";
import { type Stage, stageOn } from "./stage.ts";
import type { OpenStore } from "./stores.ts";
import { answersSuite } from "./suite-answers.ts";
import { atOnceSuite } from "./suite-at-once.ts";
import { clockSuite } from "./suite-clock.ts";
import { deletedSuite } from "./suite-deleted.ts";
import { policySuite } from "./suite-policies.ts";
import { refusalSuite } from "./suite-refusals.ts";
import { sealedSuite } from "./suite-sealed.ts";
import { sharedSuite } from "./suite-shared.ts";

/** The promises of a series, over one store and one kernel, on a stepped clock. */
export function windowSuite(name: string, kernel: KernelName, open: () => Promise<OpenStore>): void {
  describe(`${name}, ${kernel}`, () => {
    let opened: OpenStore;
    let current: Stage;
    const { minEvents } = packing;
    const stage = () => current;
    beforeAll(async () => {
      forceKernel(kernel);
      packing.minEvents = 1;
      opened = await open();
      // The first `recordAndGet` of a series without a copy uses its process's clock.
      vi.spyOn(Date, "now").mockImplementation(() => opened.clock.nowMs);
    });
    beforeEach(async () => {
      await opened.clear();
      current = stageOn(opened);
    });
    afterAll(async () => {
      forceKernel(null);
      packing.minEvents = minEvents;
      vi.restoreAllMocks();
      await opened?.close();
    });

    answersSuite(stage);
    atOnceSuite(stage);
    policySuite(stage);
    clockSuite(stage);
    refusalSuite(stage);
    sealedSuite(stage);
    sharedSuite(stage);
    deletedSuite(stage);
  });
}
