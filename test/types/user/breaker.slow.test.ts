// A breaker without a condition that opens it does not compile.
import { expect, expectTypeOf, test } from "vitest";
import { Breaker } from "../../../src/entries/index.ts";

test("a breaker has a condition", () => {
  const complete = [
    () => new Breaker("local", { span: "10s", failureRatio: 0.5 }),
    () => new Breaker("local", { span: "10s", failures: 3, minimumCalls: undefined }),
    () => new Breaker("local", { span: "10s", slowRatio: 0.5, slowCall: "1s" }),
  ];
  for (const make of complete) expect(make()).toBeInstanceOf(Breaker);
  const incomplete = [
    // @ts-expect-error: no condition opens it
    () => new Breaker("local", { span: "10s" }),
    // @ts-expect-error: slowRatio needs slowCall
    () => new Breaker("local", { span: "10s", slowRatio: 0.5 }),
    // @ts-expect-error: a slow call is no condition by itself
    () => new Breaker("local", { span: "10s", slowCall: "1s" }),
  ];
  for (const make of incomplete) expect(make).toThrow(/^Breaker "local": /);
});

test("a call has the type of its function, and of its fallback", async () => {
  const breaker = new Breaker("local", { span: "10s", failures: 3 });
  const text = breaker.run((signal) => `${signal.aborted}`);
  expectTypeOf(text).resolves.toEqualTypeOf<string>();
  expect(await text).toBe("false");
  const orNull = breaker.run(() => Promise.resolve("text"), { fallback: () => null });
  expectTypeOf(orNull).resolves.toEqualTypeOf<string | null>();
  expect(await orNull).toBe("text");
});
