import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ListeningClient, Subscriber } from "../../../src/store/redis/subscriber.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Connections whose server answers SUBSCRIBE as `answer` says: an error, a cut, or undefined for its confirmation. */
class Connections {
  opened = 0;
  answer: Error | "cut" | undefined;

  readonly open = (): ListeningClient => {
    this.opened++;
    const events = new EventEmitter();
    let status = "connecting";
    const end = () => {
      if (status === "end") return;
      status = "end";
      events.emit("close");
      events.emit("end");
    };
    setTimeout(() => {
      status = "ready";
      events.emit("ready");
    }, 1);
    return {
      get status() {
        return status;
      },
      subscribe: async () => {
        if (this.answer === undefined) return;
        if (this.answer !== "cut") throw this.answer;
        end();
        throw new Error("Connection is closed.");
      },
      unsubscribe: async () => {},
      ping: async () => "PONG",
      disconnect: end,
      on: (event, listener) => events.on(event, listener),
    };
  };
}

const REFUSAL = new Error("NOPERM this user has no permissions to run the 'subscribe' command");
const MINUTE_MS = 60_000;

const started = (answer: Connections["answer"]) => {
  const connections = new Connections();
  connections.answer = answer;
  const subscriber = new Subscriber(connections.open);
  const calls: (string | undefined)[] = [];
  const reasons: string[] = [];
  const subscribe = (channel: string) =>
    subscriber.offered!(
      channel,
      (message) => calls.push(message),
      (why) => reasons.push(why),
    );
  return { connections, subscriber, calls, reasons, subscribe };
};

test("a refusal calls each listener once, and the server is asked again after a minute", async () => {
  const { connections, subscriber, calls, reasons, subscribe } = started(REFUSAL);
  const unsubscribe = [subscribe("a"), subscribe("b")];
  await vi.advanceTimersByTimeAsync(MINUTE_MS - 100);
  expect([connections.opened, calls.length, reasons]).toEqual([1, 2, [REFUSAL.message]]);
  expect(subscriber.offered).toBeUndefined();

  await vi.advanceTimersByTimeAsync(200);
  expect([connections.opened, calls.length, reasons.length]).toEqual([2, 4, 2]);
  connections.answer = undefined;
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect([connections.opened, calls.length, reasons.length]).toEqual([3, 6, 2]);
  expect(subscriber.offered).toBeDefined();
  for (const end of unsubscribe) end();
  subscriber.close();
});

test("without listeners nobody asks again, and a later listener does", async () => {
  const { connections, subscriber, calls, subscribe } = started(REFUSAL);
  subscribe("a")();
  await vi.advanceTimersByTimeAsync(10);
  subscribe("a")();
  await vi.advanceTimersByTimeAsync(10);
  expect(connections.opened).toBeLessThanOrEqual(2);
  const { opened } = connections;
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
  expect(connections.opened).toBe(opened);
  connections.answer = undefined;
  const end = subscribe("a");
  await vi.advanceTimersByTimeAsync(10);
  expect(calls.length).toBe(1);
  end();
  subscriber.close();
});

test("three connections that end after SUBSCRIBE are a refusal", async () => {
  const { connections, calls, reasons, subscribe, subscriber } = started("cut");
  subscribe("a");
  await vi.advanceTimersByTimeAsync(MINUTE_MS - 1000);
  expect([connections.opened, calls.length, reasons]).toEqual([3, 1, ["it closes the connection"]]);
  subscriber.close();
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(connections.opened).toBe(3);
});

test.each(["LOADING Redis is loading", "BUSY a script runs", "CLUSTERDOWN Hash slot not served", "cut twice"])(
  "%s: passes, and no listener begins to poll",
  async (answer) => {
    const { connections, calls, reasons, subscribe, subscriber } = started(
      answer === "cut twice" ? "cut" : new Error(answer),
    );
    subscribe("a");
    while (connections.opened < 2) await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(2);
    connections.answer = undefined;
    await vi.advanceTimersByTimeAsync(5000);
    expect([connections.opened, calls.length, reasons]).toEqual([3, 1, []]);
    expect(subscriber.offered).toBeDefined();
    subscriber.close();
  },
);
