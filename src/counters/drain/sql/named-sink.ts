import { argumentError, signalOf, wholeNumber } from "../../../base/errors.ts";
import { Site } from "../../../base/site.ts";
import type { CounterShape, LedgerRow } from "../../counter/table.ts";
import { checkShape } from "./shape.ts";
import type { ApplyResult, DrainBatch, Sink, SinkCallOptions } from "./sink.ts";

const MAX_TIMER_MS = 2 ** 31 - 1;
const SHAPE = "a counter's shape: { name, dimensions, buckets }";

/** Wraps the sink that `make` returns. Errors of `make` and of all methods begin with `name`. */
export function namedSink(name: string, make: () => Sink): Sink {
  const at = new Site(name);
  const sink = at.checked(undefined, make);
  const run = async <T>(
    method: string,
    shape: CounterShape,
    limits: SinkCallOptions | undefined,
    call: () => Promise<T>,
  ) => {
    try {
      check(shape, limits);
      return await call();
    } catch (error) {
      throw at.error(method, error);
    }
  };
  return {
    ddl: (shape) =>
      at.checked("ddl", () => {
        check(shape, undefined);
        return sink.ddl(shape);
      }),
    createTables: (shape, limits) => run("createTables", shape, limits, () => sink.createTables(shape, limits)),
    apply: (shape, batch, limits) => run("apply", shape, limits, () => sink.apply(shape, batch, limits)),
    ledger: (shape, limits) => run("ledger", shape, limits, () => sink.ledger(shape, limits)),
    read: (shape, query, limits) => run("read", shape, limits, () => sink.read(shape, query, limits)),
  };
}

function check(shape: CounterShape, limits: SinkCallOptions | undefined): void {
  if (shape === null || typeof shape !== "object") throw argumentError("shape", shape, SHAPE);
  checkShape(shape);
  if (limits === undefined) return;
  if (limits === null || typeof limits !== "object") throw argumentError("limits", limits, "{ timeoutMs, signal }");
  signalOf("signal", limits.signal);
  const { timeoutMs } = limits;
  if (timeoutMs !== undefined) wholeNumber("timeoutMs", timeoutMs, 1, MAX_TIMER_MS);
}

/** Explains, from the current row, why the ledger did not accept a batch. */
export function ledgerRefusal(
  row: Pick<LedgerRow, "generation" | "nonce" | "fence"> | undefined,
  batch: DrainBatch,
): ApplyResult {
  if (!row) return { status: "behind", generation: 0, nonce: "" };
  if (row.fence > batch.fence) return { status: "superseded", fence: row.fence };
  if (row.generation === batch.generation && row.nonce === batch.nonce) return { status: "already-applied" };
  return { status: "behind", generation: row.generation, nonce: row.nonce };
}
