// A process of its own, with a store by each client: calls limiters for as long as it lives and prints, one JSON a line,
// what the stores' events say and how each call fares.
import { fixedWindow, Limiter, localDecisions, redisStore, type WatchedStore } from "../../../src/entries/index.ts";
import { clients, storeOn } from "../../store/contract/clients.ts";

const [deadlineMs, url] = process.argv.slice(2) as [string, string];
const options = { deadline: Number(deadlineMs) };
const print = (of: string, event: string, reported: object = {}) =>
  process.stdout.write(`${JSON.stringify({ of, event, ...reported })}\n`);

run("a URL", redisStore(url, options));
for (const [name, open] of Object.entries(clients)) run(name, storeOn(open(url), options) as WatchedStore);

function run(of: string, store: WatchedStore): void {
  store.on("down", ({ reason }) => print(of, "down", { reason }));
  store.on("up", ({ downMs }) => print(of, "up", { downMs }));
  void ask(of, store);
}

async function ask(of: string, store: WatchedStore): Promise<void> {
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], {
    name: "l",
    onStoreError: localDecisions(),
  });
  for (;;) {
    const { degraded } = await limiter.take("a");
    print(of, "decision", { degraded });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
