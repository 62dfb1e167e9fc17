import { wasmBase64 } from "../../../generated/blocks.ts";
import { BLOCK_BYTES, FORM, GROUP, MAX_IN_BLOCK, ORDER, TIMING } from "../../../generated/layouts/block.ts";
import type { Column } from "../contract.ts";
import { bytesOf, instantiate } from "../wasm/wasm-exports.ts";
import type { BlockCodec, BlockHead, EncodedTimes, EncodedValues } from "./contract.ts";
import { powerOfTen } from "./js/keys.ts";

/** The exports of assembly/blocks/index.ts. A result that is an address is 0 for damaged bytes. */
interface BlockExports {
  memory: { buffer: ArrayBuffer };
  prepare(): void;
  encode32(count: number): void;
  encode64(count: number): void;
  decodeValues32(samples: number, body: number, count: number, first: number, last: number): number;
  decodeValues64: BlockExports["decodeValues32"];
  arrange32(order: number, count: number): number;
  arrange64(order: number, count: number): number;
  encodeTimes(count: number): number;
  decodeTimes(sizeBytes: number, count: number, runs: number, earliestMs: number): number;
}

/** Places of assembly/blocks/places.ts. */
const PLACE = {
  control: 6656,
  values: 16_384,
  arrival: 43_008,
  block: 65_536,
  exceptions: 66_560,
  body: 69_632,
  order: 86_016,
  times: 139_264,
  timesBlock: 159_744,
} as const;
/** Numbers of the fields of assembly/blocks/fields.ts. */
const FIELD = {
  form: 0,
  order: 1,
  decimals: 2,
  shift: 3,
  distinct: 4,
  exceptions: 5,
  top: 6,
  samplesBytes: 7,
  bodyBytes: 8,
  orderBytes: 9,
  base: 10,
  // Of times.
  runs: 1,
  earliest: 10,
  latest: 12,
} as const;
const FIELDS = 16;

/** Compiles and starts the module, which takes about a millisecond. Throws the runtime's error if it lacks SIMD. */
export function wasmCodec(): BlockCodec {
  const exports = instantiate(bytesOf(wasmBase64)) as unknown as BlockExports;
  exports.prepare();
  return new WasmCodec(exports);
}

interface Columns {
  f32: Float32Array;
  f64: Float64Array;
}

function columnsAt(buffer: ArrayBuffer, at: number): Columns {
  return { f32: new Float32Array(buffer, at, MAX_IN_BLOCK), f64: new Float64Array(buffer, at, MAX_IN_BLOCK) };
}

class WasmCodec implements BlockCodec {
  readonly name = "wasm-simd";
  readonly #wasm: BlockExports;
  readonly #bytes: Uint8Array;
  readonly #fields: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #values: Columns;
  readonly #arrival: Columns;
  readonly #times: Float64Array;

  constructor(wasm: BlockExports) {
    const { buffer } = wasm.memory;
    this.#wasm = wasm;
    this.#bytes = new Uint8Array(buffer);
    this.#fields = new Uint32Array(buffer, PLACE.control, FIELDS);
    this.#numbers = new Float64Array(buffer, PLACE.control, FIELDS / 2);
    this.#values = columnsAt(buffer, PLACE.values);
    this.#arrival = columnsAt(buffer, PLACE.arrival);
    this.#times = new Float64Array(buffer, PLACE.times, MAX_IN_BLOCK);
  }

  encode(values: Column): EncodedValues {
    const wide = values instanceof Float64Array;
    if (wide) this.#arrival.f64.set(values);
    else this.#arrival.f32.set(values);
    if (wide) this.#wasm.encode64(values.length);
    else this.#wasm.encode32(values.length);
    const field = (number: number) => this.#fields[number]!;
    const decimal = field(FIELD.form) === FORM.decimal;
    return {
      fields: {
        form: field(FIELD.form),
        order: field(FIELD.order),
        decimals: field(FIELD.decimals),
        shift: field(FIELD.shift),
        distinct: field(FIELD.distinct),
        exceptions: field(FIELD.exceptions),
        top: field(FIELD.top),
        integer: decimal ? this.#numbers[FIELD.base / 2]! : 0,
        keyLow: decimal ? 0 : field(FIELD.base),
        keyHigh: decimal ? 0 : field(FIELD.base + 1),
      },
      samples: this.#part(PLACE.block, field(FIELD.samplesBytes)),
      exceptions: this.#part(PLACE.exceptions, field(FIELD.exceptions) * (wide ? 8 : 4)),
      body: this.#part(PLACE.body, field(FIELD.bodyBytes)),
      order: this.#part(PLACE.order, field(FIELD.orderBytes)),
    };
  }

  decodeGroups(
    head: BlockHead,
    bytes: Uint8Array,
    body: Uint8Array,
    first: number,
    last: number,
    out: Column,
  ): boolean {
    if (!this.#decode(head, bytes, body, first, last)) return false;
    out.set(this.#view(PLACE.values, out.length, head.wide));
    return true;
  }

  decode(head: BlockHead, bytes: Uint8Array, body: Uint8Array, order: Uint8Array | undefined, out: Column): boolean {
    const { wide, count, exceptions } = head;
    const regular = count - exceptions;
    if (!this.#decode(head, bytes, body, 0, Math.ceil(regular / GROUP))) return false;
    if (exceptions > 0) {
      const end = PLACE.block + bytes.length;
      const size = wide ? 8 : 4;
      this.#bytes.copyWithin(PLACE.values + regular * size, end - exceptions * size, end);
    }
    let at: number = PLACE.values;
    if (order && head.order !== ORDER.none) {
      const orderAt = PLACE.block + bytes.length + body.length;
      this.#bytes.set(order, orderAt);
      at = wide ? this.#wasm.arrange64(orderAt, count) : this.#wasm.arrange32(orderAt, count);
    }
    if (at === 0) return false;
    out.set(this.#view(at, count, wide));
    return true;
  }

  encodeTimes(times: Float64Array): EncodedTimes {
    this.#times.set(times);
    const end = this.#wasm.encodeTimes(times.length);
    return {
      runs: this.#fields[FIELD.runs]!,
      earliestMs: this.#numbers[FIELD.earliest / 2]!,
      latestMs: this.#numbers[FIELD.latest / 2]!,
      bytes: end > 0 ? this.#part(PLACE.timesBlock, end - PLACE.timesBlock) : undefined,
    };
  }

  decodeTimes(head: BlockHead, earliestMs: number, bytes: Uint8Array, out: Float64Array): number {
    this.#bytes.set(bytes, PLACE.block);
    const { count } = head;
    const runs = head.timing === TIMING.runs ? head.runs : 0;
    const events = this.#wasm.decodeTimes(bytes.length, count, runs, earliestMs);
    if (events === count) out.set(count === MAX_IN_BLOCK ? this.#times : this.#times.subarray(0, count));
    return events;
  }

  /** Writes ascending values, if the bytes are sound. */
  #decode(head: BlockHead, bytes: Uint8Array, body: Uint8Array, first: number, last: number): boolean {
    const { wide, exceptions } = head;
    const fields = this.#fields;
    fields[FIELD.form] = head.form;
    fields[FIELD.order] = head.order;
    fields[FIELD.shift] = head.shift;
    fields[FIELD.distinct] = head.distinct;
    fields[FIELD.top] = head.top;
    fields[FIELD.samplesBytes] = bytes.length - BLOCK_BYTES - exceptions * (wide ? 8 : 4);
    fields[FIELD.base] = head.keyLow;
    fields[FIELD.base + 1] = head.keyHigh;
    if (head.form === FORM.decimal) {
      const power = powerOfTen(head.decimals);
      if (wide) this.#numbers[FIELD.base / 2] = head.integer;
      else fields[FIELD.base] = head.integer;
      this.#numbers[FIELD.base / 2 + 1] = wide ? power : 1 / power;
    }
    const at = PLACE.block + bytes.length;
    this.#bytes.set(bytes, PLACE.block);
    this.#bytes.set(body, at);
    const samples = PLACE.block + BLOCK_BYTES;
    const regular = head.count - exceptions;
    const end = wide
      ? this.#wasm.decodeValues64(samples, at, regular, first, last)
      : this.#wasm.decodeValues32(samples, at, regular, first, last);
    return end === at + body.length;
  }

  /** Values in memory. Views of whole blocks are kept, because a view costs a tenth of decoding one. */
  #view(at: number, count: number, wide: boolean): Column {
    const kept = at === PLACE.values ? this.#values : this.#arrival;
    const whole = wide ? kept.f64 : kept.f32;
    return count === MAX_IN_BLOCK ? whole : whole.subarray(0, count);
  }

  #part(at: number, sizeBytes: number): Uint8Array {
    return this.#bytes.subarray(at, at + sizeBytes);
  }
}
