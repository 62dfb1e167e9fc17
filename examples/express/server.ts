// A shop in Express 5. Start several processes of it: they share limits, numbers, work and the state of the circuit.
import { createServer } from "node:http";
import express from "express";
import { OrielError, parseDuration, prometheusText, recordHistory, registerAll } from "oriel";
import { dashboard } from "oriel/dashboard";
import { expressLimiter } from "oriel/http";
import { calls, latency, limiter, mails, payments, reportLock, sales, store } from "./structures.ts";

const { PAYMENTS_URL, PORT = "3000", MAIL_DELAY = "10s" } = process.env;
const metrics = registerAll(store);
const history = recordHistory(store);
const http = calls.metric("http");
const worker = mails.process(({ payload }) => console.log(`mail: thank you for the ${payload.product}`));

const app = express();
app.set("trust proxy", "loopback"); // whose X-Forwarded-For is believed
app.use("/oriel", dashboard(store).node);
app.get("/metrics", async (_request, response) => {
  response.type("text/plain").send(await prometheusText(metrics));
});

app.use((_request, response, next) => {
  if (!server.listening) response.setHeader("Connection", "close"); // while the process stops
  const begunMs = performance.now();
  response.once("finish", () => {
    const tookMs = performance.now() - begunMs;
    latency.observe(tookMs);
    if (response.statusCode < 500) http.recordSuccess(tookMs);
    else http.recordFailure();
  });
  next();
});
app.use(expressLimiter(limiter));

app.post("/orders/:product", async ({ params: { product } }, response) => {
  await payments.run(pay);
  await sales.add({ product });
  const { id } = await mails.add({ product }, { delay: parseDuration(MAIL_DELAY) });
  response.status(201).json({ product, mail: id });
});

app.get("/latency", async (_request, response) => {
  const { count, max, percentiles } = await latency.stats({ span: "5m", percentiles: [50, 99] });
  response.json({ count, max, percentiles });
});

/** One process at a time computes the report. A caller that others keep waiting gets 503. */
app.get("/report", async (_request, response) => {
  const rows = await reportLock.withLock(() => sales.read({ bucket: "day" }));
  response.json(rows.map(({ values, count }) => ({ ...values, count })));
});

app.use(((error, _request, response, next) => {
  if (!(error instanceof OrielError) || (error.code !== "OPEN" && error.code !== "DEADLINE")) return next(error);
  response.setHeader("Retry-After", Math.ceil((error.retryAfterMs ?? 0) / 1000));
  response.status(503).json({ error: error.code === "OPEN" ? "payments are not available" : "others were first" });
}) satisfies express.ErrorRequestHandler);

async function pay(signal: AbortSignal): Promise<void> {
  if (PAYMENTS_URL === undefined) return;
  const { ok, status } = await fetch(PAYMENTS_URL, { method: "POST", signal });
  if (!ok) throw new Error(`payments answered ${status}`);
}

const server = createServer(app).listen(Number(PORT), () => console.log(`http://localhost:${PORT}/oriel`));

/** Requests end first, then the structures send what they still have, then the store closes. */
async function stop(): Promise<void> {
  const ended = new Promise((resolve) => server.close(resolve));
  setTimeout(() => server.closeAllConnections(), 1000).unref(); // an open page of the dashboard
  await ended;
  await worker.close();
  await history.close();
  await Promise.all([latency.close(), calls.close(), sales.close()]);
  await store.close();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
