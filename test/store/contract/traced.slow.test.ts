// A tracer of node-redis reads each command when it is passed in, as OpenTelemetry's and other vendors' instruments do.
import { tracingChannel } from "node:diagnostics_channel";
import { afterAll, expect, test } from "vitest";
import { stores } from "./stores.ts";
import { storeSuite } from "./suite.ts";

const traced = new Set<string>();
const note = (context: unknown) => void traced.add((context as { command: string }).command);
const nothing = () => {};
const tracer = { start: note, end: nothing, asyncStart: nothing, asyncEnd: nothing, error: nothing };
const channel = tracingChannel("node-redis:command");
channel.subscribe(tracer);
afterAll(() => channel.unsubscribe(tracer));

storeSuite("redis, node-redis 6, traced", stores["redis, node-redis 6"]!);

test("the commands were traced", () => expect(traced).toContain("EVALSHA"));
