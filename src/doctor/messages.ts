import { deferred } from "../async/deferred.ts";
import { within } from "../async/within.ts";
import { ServerError } from "../store/delivery/client.ts";
import { adviceOf, type Check, wordsOf } from "./check.ts";
import type { Asker } from "./connection.ts";
import { CHANNEL_FAMILIES } from "./rights.ts";

const WITHOUT_SUBSCRIPTIONS = "waiters for a lock poll every 100 ms, and a queue's worker every 5 s";
const WITHOUT = "a waiter for a lock asks about every 4 s or when the lease ends, and a queue's worker every 5 s";

/** Sends a message to itself on a channel of each family. `another` opens the subscriber's connection. */
export async function messages(asker: Asker, key: string, another: () => Asker): Promise<Check> {
  const name = "messages";
  const subscriber = another();
  const { connection } = subscriber;
  try {
    if (!connection.subscribe)
      return { name, verdict: "note", text: `no subscriptions over HTTP: ${WITHOUT_SUBSCRIPTIONS}` };
    for (const family of CHANNEL_FAMILIES) {
      const arrived = deferred<void>();
      const channel = family + key;
      const subscribed = await subscriber.settled(connection.subscribe(channel, () => arrived.resolve()));
      if (subscribed instanceof ServerError) return refused(subscribed, WITHOUT_SUBSCRIPTIONS);
      const published = await asker.ask("PUBLISH", channel, "");
      if (published instanceof ServerError) return refused(published, WITHOUT);
      const outcome = await within(arrived.promise, subscriber.deadlineMs);
      if (outcome.kind !== "done")
        return { name, verdict: "degraded", text: `a published message does not arrive: ${WITHOUT}` };
    }
    return { name, verdict: "good", text: "published messages arrive, so waiters wake at once" };
  } finally {
    connection.close();
  }
}

function refused(error: ServerError, result: string): Check {
  return {
    name: "messages",
    verdict: "degraded",
    text: `${wordsOf(error)}: ${result}`,
    ...adviceOf(error),
    facts: { reply: error.message },
  };
}
