import type { Answers } from "./answers.ts";
import type { StreamEvents } from "./protocol.ts";

/** Time between two answers to one page. */
const TICK_MS = 2000;
/** A structure that is new is reported so soon. The registry is read once for all pages (scope.ts). */
const LIST_MS = 250;

type Send = <Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]) => void;

/**
 * Server-sent events for one page: health, the numbers of the rows on its screen, and a notice when the list has changed.
 * Nothing is asked for after the page has gone, and a tick waits for the one before it.
 */
export function streamOf(
  answers: Answers,
  ids: readonly string[],
  spanMs: number,
  tickMs = TICK_MS,
): ReadableStream<Uint8Array> {
  const text = new TextEncoder();
  let isOver = false;
  let wake = () => {};
  let fingerprint: string | undefined;
  let isDown = false;

  async function tick(send: Send) {
    const health = await answers.health.read();
    if (isOver) return;
    send("health", health);
    isDown = health.state === "down";
    if (isDown) return;
    await compare(send);
    if (ids.length > 0) {
      const rows = await answers.rows(ids, spanMs);
      if (!isOver) send("rows", rows);
    }
  }

  async function compare(send: Send) {
    const structures = await answers.scope.structures();
    const now = JSON.stringify(
      structures.map(({ id, processes, version, conflict }) => [id, processes, version, !!conflict]),
    );
    if (fingerprint !== undefined && now !== fingerprint) send("changed", { nowMs: Date.now() });
    fingerprint = now;
  }

  /** The ticks, and between them the list alone. */
  const listsPerTick = Math.max(1, Math.round(tickMs / LIST_MS));

  return new ReadableStream({
    async start(controller) {
      const run = async () => {
        for (let i = 0; !isOver; i++) {
          const next = i % listsPerTick === 0 ? tick : isDown ? undefined : compare;
          // A page that does not read is not written to, and nothing is asked for.
          if ((controller.desiredSize ?? 0) > 0)
            await next?.((name, data) =>
              controller.enqueue(text.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)),
            ).catch((error: unknown) => {
              // The health in the next tick shows it.
              if (!(error instanceof Error)) throw error;
            });
          if (!isOver)
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, tickMs / listsPerTick);
              wake = () => {
                clearTimeout(timer);
                resolve();
              };
            });
        }
      };
      void run();
    },
    cancel() {
      isOver = true;
      wake();
    },
  });
}
