// A duration is a number of ms or text with a unit; text of the environment goes through `parseDuration`.
import { expect, expectTypeOf, test } from "vitest";
import { type Duration, Limiter, memoryStore, parseDuration, slidingWindow } from "../../../src/entries/index.ts";

test("a duration is a number of ms, or text with a unit", () => {
  const durations: Duration[] = [250, "250ms", "1.5s", "5m", "1h", "7d"];
  // @ts-expect-error: there are no weeks
  durations.push("1w");
  // @ts-expect-error: a number as text has no unit
  durations.push("500");
  expectTypeOf<string>().not.toExtend<Duration>();
  expect(durations.slice(0, 6).map((each) => (typeof each === "string" ? parseDuration(each) : each))).toEqual([
    250, 250, 1500, 300_000, 3_600_000, 604_800_000,
  ]);
});

test("text of the environment becomes a duration", () => {
  const environment: Record<string, string | undefined> = { WINDOW: "90s" };
  const { WINDOW: text = "1m" } = environment;
  // @ts-expect-error: any text may stand in the environment
  const unparsed = () => slidingWindow({ limit: 1, span: text });
  expectTypeOf(unparsed).toBeFunction();
  const span = parseDuration(text);
  expectTypeOf(span).toExtend<Duration>();
  const limiter = new Limiter(memoryStore(), [slidingWindow({ limit: 1, span })], { name: "logins" });
  expectTypeOf(limiter).toEqualTypeOf<Limiter>();
  expect(slidingWindow({ limit: 1, span }).spanMs).toBe(90_000);
});

test("wrong text is named, with what is allowed", () => {
  for (const text of ["", "90", "90 s", "-1s", "1h30m", "soon"])
    expect(() => parseDuration(text)).toThrow(`parseDuration: text is "${text}"; it must be a number with its unit`);
  expect(() => parseDuration(90 as never)).toThrow("parseDuration: text is 90;");
});
