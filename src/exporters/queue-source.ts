import { argumentError } from "../errors.ts";
import { placed } from "../place.ts";
import { type MetricInfo, type MetricsSource, nameLabel, Totals } from "./metric.ts";

const STATES = ["waiting", "due", "claimed", "dead"] as const;
const EVENTS = ["completed", "failed", "retry", "dead", "stalled", "lost"] as const;

/** The members of `DelayQueue` that this source uses. */
export interface QueueLike {
  readonly name: string;
  counts(): Promise<Record<(typeof STATES)[number], number>>;
}

/** The members of `QueueWorker` that this source uses. */
export interface WorkerLike {
  on<Name extends keyof WorkerSourceEvents>(
    event: Name,
    listener: (event: WorkerSourceEvents[Name]) => void,
  ): () => void;
}

export interface WorkerSourceEvents extends Record<(typeof EVENTS)[number], unknown> {
  lag: { lateMs: number };
}

/** A reported lag stays valid for this long. */
const LATE_FOR_MS = 60_000;

/**
 * Metrics of a queue: the number of messages in each state, and counts of the events of the given workers of this
 * process since this call. Throws ARGUMENT.
 */
export function queueSource(queue: QueueLike, workers: readonly WorkerLike[] = []): MetricsSource {
  return placed("queueSource", () => {
    if (typeof queue?.counts !== "function") throw argumentError("queue", queue, "a DelayQueue");
    if (!Array.isArray(workers as unknown)) throw argumentError("workers", workers, "an array of workers");
    for (const worker of workers)
      if (typeof worker?.on !== "function") throw argumentError("workers", worker, "workers that process() returned");
    const name = nameLabel(queue.name);
    const events = new Totals();
    let late = { value: 0, atMs: Number.NEGATIVE_INFINITY };
    const isRecent = () => performance.now() - late.atMs < LATE_FOR_MS;
    for (const worker of workers) {
      for (const event of EVENTS) worker.on(event, () => events.add({ name, event }));
      worker.on("lag", ({ lateMs }) => {
        if (lateMs / 1000 >= late.value || !isRecent()) late = { value: lateMs / 1000, atMs: performance.now() };
      });
    }
    return {
      metrics: METRICS,
      async collect() {
        const counts = await queue.counts();
        return [
          STATES.map((state) => ({ value: counts[state], labels: { name, state } })),
          events.samples(),
          workers.length > 0 ? [{ value: isRecent() ? late.value : 0, labels: { name } }] : [],
        ];
      },
    };
  });
}

const METRICS: readonly MetricInfo[] = [
  {
    prometheus: "queue_messages",
    otel: "queue.messages",
    type: "gauge",
    unit: "{message}",
    help: "Messages of the whole queue, by state: aggregate with max by (name, state).",
    isShared: true,
  },
  {
    prometheus: "queue_worker_messages_total",
    otel: "queue.worker.messages",
    type: "counter",
    unit: "{message}",
    help: "Messages that workers of this process have handled, by event.",
    isShared: false,
  },
  {
    prometheus: "queue_late_seconds",
    otel: "queue.late",
    type: "gauge",
    unit: "s",
    help: "The longest delay of a claim after the message was due, in the last minute, in this process.",
    isShared: false,
  },
];
