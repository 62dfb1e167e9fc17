// Streams the answers of a model. Each one is paid from the budgets of a user, a team and the organisation, in one step for all.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { calendarWindow, concurrency, Limiter, redisStore, slidingWindow } from "oriel";
import { ask } from "./model.ts";

const {
  REDIS_URL = "redis://127.0.0.1:6379",
  MODEL_URL = "http://127.0.0.1:11434/answer",
  PORT = "3000",
} = process.env;
const MAX_OUTPUT = 500;
/** Thousandths of a cent for each token. */
const PRICE = { input: 3, output: 15 };
const CHARGE_EVERY = 50;

const store = redisStore(REDIS_URL);
const budgets = (factor: number) => [
  slidingWindow({ limit: 20 * factor, span: "1m", name: "requests" }),
  slidingWindow({ limit: 10_000 * factor, span: "1m", name: "input" }),
  slidingWindow({ limit: 1000 * factor, span: "1m", name: "output" }),
  calendarWindow({ limit: 500_000 * factor, every: "day", name: "money" }),
  concurrency({ limit: 4 * factor, lease: "10m", name: "running" }),
];
const user = new Limiter(store, budgets(1), { name: "user" });
const team = new Limiter(store, budgets(5), { name: "team" });
const organisation = new Limiter(store, budgets(50), { name: "organisation" });

const costOf = (input: number, output: number) => ({
  input,
  output,
  money: input * PRICE.input + output * PRICE.output,
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const prompt = await text(request);
  // Take them from a verified session. A client that may choose its user has no limit.
  const { "x-user": userId = "nobody", "x-team": teamId = "nobody" } = request.headers;
  const input = Math.ceil(prompt.length / 3); // rather too much
  const cost = { ...costOf(input, MAX_OUTPUT), requests: 1, running: 1 };
  const requests = [
    { limiter: user, id: String(userId), cost },
    { limiter: team, id: String(teamId), cost },
    { limiter: organisation, id: "acme", cost },
  ];
  const reservation = await Limiter.reserveAll(requests, { tag: "acme", lease: "30s", ends: "charged" });
  if (!reservation.allowed) {
    const { policy, retryAfterMs } = reservation;
    if (Number.isFinite(retryAfterMs)) response.setHeader("retry-after", Math.ceil(retryAfterMs / 1000));
    response.writeHead(429, { "content-type": "application/json" }).end(JSON.stringify({ policy, retryAfterMs }));
    return;
  }

  const gone = new AbortController();
  response.once("close", () => gone.abort());
  let [output, final] = [0, costOf(0, 0)]; // nothing, if the model does not answer
  try {
    for await (const event of ask(MODEL_URL, prompt, MAX_OUTPUT, gone.signal)) {
      if (event.usage) final = costOf(event.usage.input, event.usage.output);
      if (event.text === undefined) continue;
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
      response.write(event.text);
      final = costOf(input, ++output);
      if (output % CHARGE_EVERY === 0) await reservation.charge(final);
    }
  } catch (error) {
    if (!gone.signal.aborted) console.log(`no whole answer: ${error}`);
    if (!response.headersSent) response.writeHead(502);
  }
  const charge = await reservation.settle(final);
  const charges = charge === false ? [] : charge.policies;
  for (const { name, overrun } of charges)
    if (name === "user:output" && overrun > 0) console.log(`${userId} used ${overrun} tokens more than reserved`);
  response.end();
}

const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(405).end();
  answer(request, response).catch((error) => {
    console.log(`no answer: ${error}`);
    if (response.headersSent) response.destroy();
    else response.writeHead(503).end();
  });
});
server.listen(Number(PORT), () => console.log(`listening on ${PORT}`));

async function stop(): Promise<void> {
  await new Promise((resolve) => server.close(resolve)); // after the answers that are streaming
  await store.close();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
