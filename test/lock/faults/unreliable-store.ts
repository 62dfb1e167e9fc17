import { OrielError } from "../../../src/base/errors.ts";
import type { Operation, Store } from "../../../src/store/contract.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";
import type { Random } from "../../simulator/world/random.ts";

/** Probabilities of one message. */
export interface Weather {
  lostRequest: number;
  lostReply: number;
  /** A copy of the request arrives later, past what was sent after it. */
  repeated: number;
  lostNews: number;
  slowMs: number;
  /** Until then nothing arrives at the server, and nothing is refused. */
  silentUntilMs: number;
  /** Until then connections are refused. */
  refusingUntilMs: number;
}

const DEADLINE_MS = 300;

/** After this time an outcome is known: a closed connection, or the deadline of one attempt. */
const NOTICED_MS = DEADLINE_MS / 3;

/**
 * A process's store like redisStore, over a server that is a memory store, in virtual time. Requests keep their order, get
 * lost, and arrive twice. Replies get lost and come late. Its clock runs up to 0.9 % too fast or slow.
 */
export function unreliableStore(server: MemoryStore, weather: Weather, random: Random): Store {
  const speed = 1 + random.int(-9, 9) / 1000;
  let lastArrivalMs = 0;
  const monotonic = () => Date.now() * speed;
  const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  async function attempt<I, O>(operation: Operation<I, O>, key: string, input: I): Promise<{ output: O } | undefined> {
    lastArrivalMs = Math.max(lastArrivalMs, weather.silentUntilMs, Date.now() + random.int(0, weather.slowMs));
    const arrivesInMs = lastArrivalMs - Date.now();
    const run = () => server.run(operation, key, input);
    if (random.chance(weather.repeated)) setTimeout(run, arrivesInMs + random.int(0, 4 * weather.slowMs));
    const isLost = random.chance(weather.lostRequest);
    const isUnheard = random.chance(weather.lostReply);
    const reply = after(arrivesInMs).then(async () => {
      if (isLost) return after(DEADLINE_MS).then(() => undefined);
      const output = await run();
      await after(random.int(0, weather.slowMs));
      return isUnheard ? after(DEADLINE_MS).then(() => undefined) : { output };
    });
    return Promise.race([reply, after(operation.repeatable ? NOTICED_MS : DEADLINE_MS).then(() => undefined)]);
  }

  return {
    monotonic,
    leaseClock: monotonic,
    keyOf: server.keyOf,
    close: async () => {},
    async run(operation, key, input) {
      const endMs = Date.now() + DEADLINE_MS;
      let isSent = false;
      while (Date.now() < endMs) {
        if (Date.now() < weather.refusingUntilMs) {
          await after(20);
          continue;
        }
        isSent = true;
        const answer = await attempt(operation, key, input);
        if (answer) return answer.output;
        if (!operation.repeatable) break;
      }
      const options = { transient: true, applied: isSent ? "unknown" : "no" } as const;
      throw new OrielError(isSent ? "DEADLINE" : "UNAVAILABLE", "no answer", options);
    },
    subscribe(channel, listener) {
      return server.subscribe!(channel, (message) => {
        if (!random.chance(weather.lostNews)) setTimeout(() => listener(message), random.int(0, weather.slowMs));
      });
    },
  };
}
