// The tracing channel belongs to the process.
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { DelayQueue, fixedWindow, Limiter, LockedWindow, memoryStore, redisStore } from "../../src/entries/index.ts";
import { otelSpans } from "../../src/entries/telemetry.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer("oriel");
const contexts = new AsyncLocalStorageContextManager().enable();
context.setGlobalContextManager(contexts);
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(async () => {
  context.disable();
  await provider.shutdown();
  await redis.stop();
});
let end = () => {};
afterEach(() => {
  end();
  exporter.reset();
});

/** The ended spans, the last that ended first. */
const spans = () =>
  exporter
    .getFinishedSpans()
    .map((span) => {
      const { name, kind, attributes, status, events, parentSpanContext } = span;
      return {
        name,
        kind,
        attributes,
        status,
        events,
        parent: parentSpanContext?.spanId,
        id: span.spanContext().spanId,
      };
    })
    .reverse();
const hourly = [fixedWindow({ limit: 1, span: "1h" })];

test("a call on a server is a span of a client, with the conventions' attributes", async () => {
  const store = redisStore(`redis://127.0.0.1:${redis.port}/3`);
  const limiter = new Limiter(store, hourly, { name: "logins" });
  end = otelSpans(tracer);
  expect((await limiter.take("ada")).allowed).toBe(true);
  end();
  expect((await limiter.take("ada")).allowed).toBe(false);
  expect(spans()).toEqual([
    expect.objectContaining({
      name: "Limiter take",
      kind: SpanKind.CLIENT,
      attributes: {
        "oriel.structure": "Limiter",
        "oriel.name": "logins",
        "oriel.operation": "take",
        "db.system.name": "redis",
        "db.operation.name": "take",
        "db.namespace": "3",
        "server.address": "127.0.0.1",
        "server.port": redis.port,
      },
      status: { code: SpanStatusCode.UNSET },
      parent: undefined,
    }),
  ]);
  await store.close();
});

test("a call that rejects has the status ERROR and its code", async () => {
  const limiter = new Limiter(memoryStore(), hourly, { name: "logins" });
  end = otelSpans(tracer);
  const error = await limiter.take(7 as never).catch((error) => error);
  const [span] = spans();
  expect(span).toMatchObject({
    kind: SpanKind.INTERNAL,
    attributes: { "error.type": "ARGUMENT" },
    status: { code: SpanStatusCode.ERROR, message: error.message },
  });
  expect(span!.attributes).not.toHaveProperty("server.address");
  expect(span!.events.map(({ name }) => name)).toEqual(["exception"]);
});

test("calls within a call are its children, and those of a program's span are the span's", async () => {
  const window = new LockedWindow(memoryStore(), "w", { span: "1m" });
  end = otelSpans(tracer);
  await tracer.startActiveSpan("request", async (request) => {
    await Promise.all([window.addAndGetStats(1), window.addAndGetStats(2)]);
    request.end();
  });
  const all = spans();
  const childrenOf = (id: string) => all.filter(({ parent }) => parent === id);
  const request = all.find(({ name }) => name === "request")!;
  const outer = childrenOf(request.id);
  expect(outer.map(({ name }) => name)).toEqual(Array(2).fill("LockedWindow addAndGetStats"));
  expect(outer.flatMap(({ id }) => childrenOf(id)).map(({ name }) => name)).toContain("Lock tryLock");
  expect(all.filter(({ parent }) => parent === undefined)).toEqual([request]);
});

test("a handler of messages is a span of a consumer, and its own spans are children", async () => {
  const queue = new DelayQueue(memoryStore(), "mails");
  await queue.add({});
  end = otelSpans(tracer);
  const worker = queue.process(() => tracer.startActiveSpan("send", (span) => span.end()));
  await until("the handler has run", () => spans().some(({ name }) => name === "QueueWorker handle"));
  await worker.close();
  const handle = spans().find(({ name }) => name === "QueueWorker handle")!;
  expect(handle).toMatchObject({ kind: SpanKind.CONSUMER, attributes: { "oriel.name": "mails" } });
  expect(spans().find(({ name }) => name === "send")!.parent).toBe(handle.id);
});

test("two tracers each get a span, and one that fails changes no call", async () => {
  const limiter = new Limiter(memoryStore(), hourly, { name: "logins" });
  let began = 0;
  const broken = {
    startActiveSpan(_name: string, _options: object, run: (span: never) => unknown) {
      began++;
      if (began > 1) run({ end: () => fail(), setStatus: () => fail() } as never);
      throw new Error("no span");
    },
  };
  const ends = [otelSpans(tracer), otelSpans(broken), otelSpans(tracer)];
  end = () => {
    for (const each of ends) each();
  };
  const allowed = [await limiter.take("ada"), await limiter.take("ada")].map((each) => each.allowed);
  expect([allowed, began]).toEqual([[true, false], 2]);
  expect(spans().map(({ name }) => name)).toEqual(Array(4).fill("Limiter take"));
  expect(spans()[1]!.parent).toBe(spans()[0]!.id);
});

function fail(): never {
  throw new Error("no end");
}

test("in a runtime without such channels there are no spans", () => {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (() => undefined) as never;
  try {
    end = otelSpans(trace.getTracer("none"));
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
  end();
});

test.each([undefined, null, {}, 5])("%j is no tracer", (tracer) => {
  expect(() => otelSpans(tracer as never)).toThrow(expect.objectContaining({ code: "ARGUMENT" }));
});
