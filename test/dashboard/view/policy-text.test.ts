import { expect, test } from "vitest";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { policyText, quotaText } from "../../../src/operate/kinds/policy-text.ts";
import { settingsText } from "../../../src/operate/kinds/settings-text.ts";

test.each<[Policy, text: string]>([
  [gcra({ limit: 10, span: "1s", burst: 20 }), "gcra 10 a second, burst 20"],
  [gcra({ limit: 100, span: "1m", burst: 1 }), "gcra 100 a minute, burst 1"],
  [gcra({ limit: 10, span: "5s" }), "gcra 10 per 5s, burst 10"],
  [gcra({ limit: 0, span: "1s" }), "gcra 0 a second"],
  [gcra({ limit: 5, span: "1s", burst: 0 }), "gcra 0 a second"],
  [
    gcra({ limit: 10, span: "1s", burst: 20, name: "burst", shadow: true }),
    "burst: gcra 10 a second, burst 20, shadow",
  ],
  [fixedWindow({ limit: 3000, span: "1h" }), "fixed-window 3,000 an hour"],
  [slidingWindow({ limit: 4, span: 250 }), "sliding-window 4 per 250ms"],
  [slidingWindow({ limit: 4, span: "1d", name: "day" }), "day: sliding-window 4 a day"],
  [leakyBucket({ capacity: 5, span: "1s" }), "leaky-bucket 5 a second"],
  [concurrency({ limit: 6, lease: "30s" }), "concurrency 6 at once, lease 30s"],
  [calendarWindow({ limit: 1000, every: "month" }), "calendar-window 1,000 a month, UTC"],
  [
    calendarWindow({ limit: 5, every: "day", timeZone: "Europe/Berlin", startsAt: 6 }),
    "calendar-window 5 a day from 6:00, Europe/Berlin",
  ],
  [calendarWindow({ limit: 5, every: "week", startsAt: 7 }), "calendar-window 5 a week from 7, UTC"],
])("a policy is described by what it grants, and named once: %#", (policy, text) => {
  const announced = JSON.parse(JSON.stringify(policy));
  expect(policyText(announced)).toBe(text);
  expect(settingsText({ policies: [announced, announced] })).toBe(`${text}; ${text}`);
  expect(text).toContain(quotaText(announced));
});

test("a policy of another version, without a rate or a limit, is shown as far as it is known", () => {
  expect(policyText({ kindName: "gcra", limit: 20, spanMs: 1000 })).toBe("gcra 20 a second");
  expect(policyText({ kindName: "new" })).toBe("new");
  expect(policyText({ name: "a", kindName: "new", limit: "20" })).toBe("a: new");
  expect(policyText(null)).toBe("?");
});
