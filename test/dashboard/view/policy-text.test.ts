import { expect, test } from "vitest";
import { concurrency, fixedWindow, gcra, leakyBucket, type Policy, slidingWindow } from "../../../src/entries/index.ts";
import { policyText } from "../../../src/operate/dashboard/page/kinds/policy-text.ts";
import { settingsText } from "../../../src/operate/kinds/settings-text.ts";

test.each<[Policy, onThePage: string, inLs: string]>([
  [gcra({ limit: 10, span: "1s", burst: 20 }), " gcra: 10 permits per 1 s, 20 at once", "gcra 10/1s, 20 at once"],
  [gcra({ limit: 100, span: "1m", burst: 1 }), " gcra: 100 permits per 1 m, 1 at once", "gcra 100/1m, 1 at once"],
  [gcra({ limit: 10, span: "1s" }), " gcra: 10 permits per 1 s", "gcra 10/1s"],
  [gcra({ limit: 0, span: "1s" }), " gcra: 0 permits per 1 s", "gcra 0/1s"],
  [gcra({ limit: 5, span: "1s", burst: 0 }), " gcra: 0 permits per 1 s", "gcra 0/1s"],
  [fixedWindow({ limit: 3, span: "1h" }), " fixed-window: 3 permits per 1 h", "fixed-window 3/1h"],
  [slidingWindow({ limit: 4, span: 250 }), " sliding-window: 4 permits per 250 ms", "sliding-window 4/250ms"],
  [leakyBucket({ capacity: 5, span: "1s" }), " leaky-bucket: 5 permits per 1 s", "leaky-bucket 5/1s"],
  [
    concurrency({ limit: 6, lease: "30s" }),
    " concurrency: 6 permits lent at once, for at most 30 s",
    "concurrency 6 at once, lease 30s",
  ],
])("the page and `oriel ls` name what a policy grants: %#", (policy, onThePage, inLs) => {
  const announced = JSON.parse(JSON.stringify(policy));
  expect(policyText(announced)).toBe(onThePage);
  expect(settingsText({ policies: [announced] })).toBe(inLs);
});

test("a policy of another version, without a rate or a limit, is shown as far as it is known", () => {
  expect(policyText({ kindName: "gcra", limit: 20, spanMs: 1000 })).toBe(" gcra: 20 permits per 1 s");
  expect(policyText({ kindName: "new" })).toBe(" new");
  expect(settingsText({ policies: [{ name: "gcra", kindName: "gcra", limit: 20, spanMs: 1000 }] })).toBe("gcra 20/1s");
});
