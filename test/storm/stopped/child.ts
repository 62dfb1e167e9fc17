import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { Random } from "../../simulator/world/random.ts";
import { clients, storeOn } from "../../store/contract/clients.ts";
import { answered, Books } from "../books.ts";
import { SHARES } from "./acts.ts";
import { DEADLINE_MS, END, type Orders, type Report, toldOf } from "./orders.ts";

/** One process of stopped.sql.test.ts. It acts on all structures until the end message, and prints its knowledge. */
const orders = JSON.parse(process.argv[2]!) as Orders;
const connection = clients[orders.client](orders.url);
const { scripting } = orders;
const store = storeOn(connection, { deadline: DEADLINE_MS, scripting }) as WatchedStore;
const random = new Random(orders.seed + orders.id);
const shares = Object.entries(SHARES).map(([name, make]) => {
  const books = new Books<string | number>(name);
  const part = { store, random: random.fork(), orders };
  return { name, books, ...make(part, orders.modes[name] ?? {}, books) };
});

let isOver = false;
const listener = new Redis(orders.url);
await listener.subscribe(END);
listener.on("message", () => {
  isOver = true;
});
process.stdout.write("ready\n");

await Promise.all(
  shares.map(async ({ act }) => {
    for (; !isOver; await pause(random.int(2, 12))) await act();
  }),
);
const report: Report = {};
for (const { name, books, notes, end } of shares) {
  if (end) await answered(end).catch((error) => books.wrong(`its end fails with ${error?.stack ?? error}`));
  report[name] = toldOf(books, notes);
}
process.stdout.write(`${JSON.stringify(report)}\n`);
await store.close();
connection.end();
listener.disconnect();
