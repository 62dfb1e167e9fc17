// Starts four shop processes and a dashboard that shows all of them. Ctrl-C or `npm stop` ends everything.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { redisStore } from "oriel";
import { dashboard } from "oriel/dashboard";
import { forget, remember } from "./pid-file.ts";

const PROCESSES = 4;
const { REDIS_URL = "redis://127.0.0.1:6379", PORT = "4680" } = process.env;

const store = redisStore(REDIS_URL);
const board = dashboard(store, { allowActions: true });
const server = createServer((request, response) => void board.node(request, response)).listen(
  Number(PORT),
  "127.0.0.1",
);
await once(server, "listening");

const shop = new URL("./shop.ts", import.meta.url);
const shops: ChildProcess[] = Array.from({ length: PROCESSES }, () => fork(shop));
process.once("SIGINT", stop);
process.once("SIGTERM", stop);
remember(process.pid);
console.log(`${PROCESSES} processes under load: http://127.0.0.1:${PORT}/`);

async function stop(): Promise<void> {
  const running = shops.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ended = Promise.all(running.map((each) => once(each, "exit")));
  for (const each of running) if (each.connected) each.disconnect(); // which is how a shop learns that it should end
  await ended;
  server.close();
  server.closeAllConnections();
  await store.close();
  forget();
}
