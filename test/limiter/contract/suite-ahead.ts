import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Limiter, slidingWindow } from "../../../src/entries/index.ts";
import type { MatrixStore } from "../../matrix/open.ts";

/** The permits that a limiter fetches ahead from its store. leases.test.ts covers their use. */
export function aheadSuite(name: string, open: () => Promise<MatrixStore>): void {
  describe(`${name}: leases`, () => {
    let opened: MatrixStore;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => opened.clear());
    afterAll(() => opened?.close());
    const policies = [slidingWindow({ limit: 6, span: 1000 })];
    const limiterOn = (store = opened.store, more = {}) =>
      new Limiter(store, policies, { ...opened.modes, name: "ahead", ...more });

    test("permits that one process has fetched are unavailable to another, used or not", async () => {
      const [ahead, other] = [limiterOn(opened.store, { lease: { permits: 4, for: 100 } }), limiterOn(opened.other)];
      expect(await ahead.take("a")).toMatchObject({ allowed: true, granted: 1, degraded: false, remaining: 5 });
      expect(await other.peek("a")).toMatchObject({ remaining: 2 });
      expect(await other.take("a", { cost: 3 })).toMatchObject({ allowed: false, granted: 0 });
      for (let i = 0; i < 3; i++) expect(await ahead.take("a")).toMatchObject({ allowed: true, degraded: false });
      expect(await other.peek("a")).toMatchObject({ remaining: 2 });
      expect(await ahead.take("a")).toMatchObject({ allowed: true });
      expect(await other.take("a")).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1000 });
      opened.clock.nowMs += 1000;
      expect(await other.take("a", { cost: 6 })).toMatchObject({ allowed: true, granted: 6 });
    });
  });
}
