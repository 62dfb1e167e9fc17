import { expect, test } from "vitest";
import { sleptMs } from "../../src/base/async/sleep.ts";

test("a sleep is the difference of wall clock and monotonic clock, if it is more than 1 s", () => {
  expect(sleptMs(60_000, 10)).toBe(59_990);
  expect(sleptMs(1010, 10)).toBe(0);
  expect(sleptMs(1011, 10)).toBe(1001);
  expect(sleptMs(-3_600_000, 10)).toBe(0);
});
