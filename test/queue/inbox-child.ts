import { DelayQueue, redisStore } from "../../src/entries/index.ts";
import { type Dialect, openDatabase } from "./inbox-databases.ts";

/** Commits the effect of the single message, reports it, and never acknowledges the message. */
const [redisUrl = "", name = "", dialect = "", address = ""] = process.argv.slice(2);
const database = await openDatabase(dialect as Dialect, address);
new DelayQueue(redisStore(redisUrl), name).process(
  async (job) => {
    const isFirst = await database.transact(async ({ transaction, effect }) => {
      const isOurs = await job.once(transaction);
      if (isOurs) await effect(job.id);
      return isOurs;
    });
    console.log(isFirst);
    await new Promise(() => {});
  },
  { visibility: 300 },
);
