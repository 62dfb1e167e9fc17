import type { Append } from "../../../src/engine/journal/steps/append.ts";
import type { RecordedEvent } from "../../../src/engine/journal/steps/record.ts";
import type { Keyspace, Operation } from "../../../src/store/contract.ts";
import { localFormOf } from "../../../src/store/memory/memory.ts";
import { copyOf } from "../world/copy.ts";
import type { World } from "../world/world.ts";

/** In a frame without own times: its number of values, and where these begin. */
const COUNT_AT = 2;
const VALUES_AT = 16;

/** A step that a primary has run. */
export interface Ran {
  readonly step: string;
  readonly key: string;
  readonly input: unknown;
  /** The values that it wrote, also those of a copy of a request. */
  readonly values: readonly number[];
  readonly nowMs: number;
}

/** A primary of a cluster: keys and a clock. It keeps its keys while it is away. The steps are those of the library. */
export class Primary {
  readonly #world: World;
  readonly #offsetMs: number;
  readonly #ran: (ran: Ran) => void;
  readonly #keys = new Map<string, { value: unknown; expireAtMs: number }>();

  /** `offsetMs`: the error of its clock. `ran` is called after each step. */
  constructor(world: World, offsetMs: number, ran: (ran: Ran) => void) {
    this.#world = world;
    this.#offsetMs = offsetMs;
    this.#ran = ran;
  }

  execute<Input, Output>(operation: Operation<Input, Output>, key: string, input: Input): Output {
    const nowMs = this.#world.nowMs + this.#offsetMs;
    const live = (each: string) => {
      const entry = this.#keys.get(each);
      return entry && entry.expireAtMs >= nowMs ? entry.value : undefined;
    };
    const keys: Keyspace = {
      get: live,
      find: live,
      set: (each, value, _sizeBytes, expireAtMs) => void this.#keys.set(each, { value, expireAtMs }),
      delete: (each) => void this.#keys.delete(each),
      publish: () => {},
    };
    const output = copyOf(localFormOf(operation)(keys, key, input, nowMs));
    this.#ran({ step: operation.name, key, input, values: writtenBy(operation.name, input, output), nowMs });
    return output;
  }
}

function writtenBy(step: string, input: unknown, output: unknown): number[] {
  if (step === "journal/record") return output === undefined ? [] : [(input as RecordedEvent).value];
  if (!step.startsWith("journal/append")) return [];
  const { status, verdicts } = output as { status: number; verdicts: Uint8Array };
  if (status !== 0) return [];
  return (input as Append).frames.flatMap(({ bytes }, i) => {
    if (verdicts[i] !== 0) return [];
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    return Array.from({ length: view.getUint16(COUNT_AT, true) }, (_, j) => view.getFloat64(VALUES_AT + 8 * j, true));
  });
}
