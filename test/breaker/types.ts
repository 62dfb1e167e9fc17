import { Breaker } from "../../src/entries/index.ts";

// Compiled with the tests, never run: what a user may write, and what must not compile.
export async function written(url: string): Promise<void> {
  const breaker = new Breaker("local", { span: "10s", failureRatio: 0.5 });
  new Breaker("local", { span: "10s", failures: 3 });
  new Breaker("local", { span: "10s", slowRatio: 0.5, slowCall: "1s" });
  // @ts-expect-error: no condition opens it
  new Breaker("local", { span: "10s" });
  // @ts-expect-error: slowRatio needs slowCall
  new Breaker("local", { span: "10s", slowRatio: 0.5 });
  // @ts-expect-error: a slow call is no condition by itself
  new Breaker("local", { span: "10s", slowCall: "1s" });
  const response: Response = await breaker.run((signal) => fetch(url, { signal }));
  const text: string | null = await breaker.run(() => response.text(), { fallback: () => null });
  // @ts-expect-error: the fallback's value is part of what it gives
  const wrong: string = await breaker.run(() => response.text(), { fallback: () => null });
  console.log(text, wrong);
}
