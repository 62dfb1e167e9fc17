import { describe, expect, test } from "vitest";
import { DoNotRetryError } from "../../../src/entries/index.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { staged } from "./suite.ts";
import { eventsOf, fill } from "./suite-work.ts";

class CardError extends DoNotRetryError {
  override readonly name = "CardError";
}

/** The same class in another copy of the package. */
class ForeignError extends Error {
  readonly doNotRetry = true;
}

const expired = new DoNotRetryError("the card has expired");
const deep = (error: unknown, times: number): unknown =>
  Array.from({ length: times }).reduce((cause) => new Error("charge", { cause }), error);
const circular = new Error("circular");
circular.cause = circular;
const hostile = Object.defineProperty(new Error("hostile"), "doNotRetry", {
  get() {
    throw new Error("getter");
  },
});

const FINAL: [what: string, thrown: unknown, lastError: string][] = [
  ["the error", expired, "DoNotRetryError: the card has expired"],
  ["a subclass", new CardError("expired"), "CardError: expired"],
  ["that of another copy", new ForeignError("foreign"), "Error: foreign"],
  ["an object with the property", { doNotRetry: true, toString: () => "mine" }, "mine"],
  ["a wrapped one", deep(expired, 1), "DoNotRetryError: the card has expired (Error: charge)"],
  ["one that is wrapped ten times", deep(expired, 10), "DoNotRetryError: the card has expired (Error: charge)"],
  ["one with a cause", new DoNotRetryError("no", { cause: new Error("404") }), "DoNotRetryError: no"],
  ["one with a long text", new DoNotRetryError("y".repeat(5000)), `DoNotRetryError: ${"y".repeat(983)}`],
];

const OTHERS: [what: string, thrown: unknown][] = [
  ["another error", new Error("busy")],
  ["an error whose property is not true", Object.assign(new Error("busy"), { doNotRetry: "true" })],
  ["one that is wrapped too often", deep(expired, 11)],
  ["an error that is its own cause", circular],
  ["an error whose getter throws", hostile],
  ["nothing", undefined],
];

/** How a handler ends a message, over one store. */
export function endingsSuite(name: string, open: () => Promise<OpenStore>): void {
  describe(`endings, ${name}`, () => {
    const stage = staged(open);

    test.each(FINAL)(
      "%s that says so ends the deliveries at once, with its reason",
      async (_what, thrown, lastError) => {
        const queue = stage().queue({ attempts: 5, backoff: 10 });
        const worker = stage().worker(queue, () => {
          throw thrown;
        });
        const events = eventsOf(worker);
        await fill(queue, 1);
        await stage().advance(1000);
        expect(events).toEqual([
          ["failed", { id: "0", attempt: 1, error: thrown }],
          ["dead", { id: "0", attempt: 1, error: thrown }],
        ]);
        expect(await queue.dead.list()).toMatchObject([{ id: "0", attempt: 1, attempts: 5, lastError }]);
        expect(await queue.counts()).toMatchObject({ waiting: 0, due: 0, claimed: 0, dead: 1 });
        expect(await queue.dead.redrive()).toBe(1);
        await stage().advance(1000);
        expect(events.map(([name]) => name)).toEqual(["failed", "dead", "failed", "dead"]);
      },
    );

    test.each(OTHERS)("%s does not end them", async (_what, thrown) => {
      const queue = stage().queue({ attempts: 3, backoff: 10 });
      let calls = 0;
      stage().worker(queue, () => {
        calls++;
        throw thrown;
      });
      await fill(queue, 1);
      await stage().advance(1000);
      expect(calls).toBe(3);
      expect(await queue.dead.list()).toMatchObject([{ id: "0", attempt: 3 }]);
    });

    test("it ends a manual claim too, whatever the delay", async () => {
      const queue = stage().queue();
      await fill(queue, 1);
      const [message] = await queue.claim();
      expect(await queue.nack(message!, { error: expired, delay: "1h" })).toBe(true);
      expect(await queue.get("0")).toMatchObject({
        state: "dead",
        attempt: 1,
        lastError: "DoNotRetryError: the card has expired",
      });
    });
  });
}
