import { argumentError } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import { type CallMessage, tracingChannel } from "../../base/tracing.ts";

/** The member of a Tracer of @opentelemetry/api 1 that is used here. */
export interface OtelTracer {
  startActiveSpan(
    name: string,
    options: { kind: number; attributes: Record<string, string | number> },
    run: (span: OtelSpan) => unknown,
  ): unknown;
}

/** The members of a Span of @opentelemetry/api 1 that are used here. */
export interface OtelSpan {
  setAttribute(name: string, value: string): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  recordException(error: Error): void;
  end(): void;
}

/** Members of enumerations there. */
const [INTERNAL, CLIENT, CONSUMER] = [0, 2, 4] as const;
const ERROR = 2;

/**
 * Makes a span of each call of a structure in this process, until the returned function is called. The spans of calls
 * within a call are its children, and so are those of other instruments. A call that rejects has the status ERROR, and its
 * code in `error.type`. Without `node:diagnostics_channel` there are no spans. Throws ARGUMENT.
 *
 * @example
 * const end = otelSpans(trace.getTracer("oriel"));
 */
export function otelSpans(tracer: OtelTracer): () => void {
  return atSite("otelSpans", () => {
    if (typeof tracer?.startActiveSpan !== "function")
      throw argumentError("tracer", tracer, "a Tracer of @opentelemetry/api");
    const channel = tracingChannel("oriel:call");
    const subscriber = {
      start(message: CallMessage) {
        const inner = message.run;
        message.run = (call) => inSpan(tracer, message, () => (inner ? inner(call) : call()));
      },
    };
    channel?.subscribe(subscriber);
    return () => channel?.unsubscribe(subscriber);
  });
}

/** Runs the call once, whatever the tracer does. */
function inSpan<T>(tracer: OtelTracer, message: CallMessage, call: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  const begin = () => {
    result ??= (async () => call())();
    return result;
  };
  const { structure, operation } = message;
  try {
    tracer.startActiveSpan(operation ? `${structure} ${operation}` : structure, optionsOf(message), (span) => {
      const failed = (error: unknown) => note(span, error);
      begin()
        .then(() => {}, failed)
        .finally(() => span.end())
        .catch(() => {});
    });
  } catch {
    // A fault of the tracer is not one of the call.
  }
  return begin();
}

function note(span: OtelSpan, error: unknown): void {
  const { code, name, message } = Object(error) as { code?: unknown; name?: unknown; message?: unknown };
  const type = [code, name].find((each) => typeof each === "string") ?? "_OTHER";
  span.setAttribute("error.type", type as string);
  span.setStatus({ code: ERROR, message: `${message ?? error}` });
  if (error instanceof Error) span.recordException(error);
}

/** One server, with its port and the number of its database. */
const SERVER = /^(?:https?:\/\/)?(?:\[(.+)\]|([^:/, ]+))(?::(\d+))?(?:\/(\d*))?$/;

function optionsOf({ structure, structureName, operation, address }: CallMessage) {
  const attributes: Record<string, string | number> = { "oriel.structure": structure };
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) attributes[name] = value;
  };
  add("oriel.name", structureName);
  add("oriel.operation", operation);
  if (structure === "QueueWorker") return { kind: CONSUMER, attributes };
  if (address === undefined || address === "memory") return { kind: INTERNAL, attributes };
  const [, ip, host = ip ?? address, port, database] = SERVER.exec(address) ?? [];
  add("db.system.name", "redis");
  add("db.operation.name", operation);
  add("db.namespace", database || undefined);
  add("server.address", host);
  add("server.port", port && Number(port));
  return { kind: CLIENT, attributes };
}
