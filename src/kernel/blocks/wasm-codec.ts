import { wasmBase64 } from "../../generated/blocks.ts";
import { FORM, GROUP, MAX_IN_BLOCK, ORDER } from "../../generated/layouts/block.ts";
import type { Column } from "../contract.ts";
import { bytesOf, instantiate } from "../wasm/wasm-exports.ts";
import type { BlockCodec, BlockHead, EncodedValues } from "./contract.ts";
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
  encodeLadder(count: number): number;
  decodeLadder(count: number, top: number): number;
}

/** Places of assembly/blocks/places.ts. */
const PLACE = {
  control: 6656,
  offsets: 7168,
  values: 16_384,
  arrival: 43_008,
  block: 65_536,
  exceptions: 66_560,
  body: 69_632,
  order: 86_016,
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
} as const;
const FIELDS = 16;

/** Compiles and starts the module, which takes about a millisecond. Throws the runtime's error if it lacks SIMD. */
export function wasmCodec(): BlockCodec {
  const exports = instantiate(bytesOf(wasmBase64)) as unknown as BlockExports;
  exports.prepare();
  return new WasmCodec(exports);
}

class WasmCodec implements BlockCodec {
  readonly name = "wasm-simd";
  readonly #wasm: BlockExports;
  readonly #bytes: Uint8Array;
  readonly #fields: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #arrival: { f32: Float32Array; f64: Float64Array };
  readonly #offsets: Uint32Array;

  constructor(wasm: BlockExports) {
    const { buffer } = wasm.memory;
    this.#wasm = wasm;
    this.#bytes = new Uint8Array(buffer);
    this.#fields = new Uint32Array(buffer, PLACE.control, FIELDS);
    this.#numbers = new Float64Array(buffer, PLACE.control, FIELDS / 2);
    this.#arrival = {
      f32: new Float32Array(buffer, PLACE.arrival, MAX_IN_BLOCK),
      f64: new Float64Array(buffer, PLACE.arrival, MAX_IN_BLOCK),
    };
    this.#offsets = new Uint32Array(buffer, PLACE.offsets, MAX_IN_BLOCK);
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
    samples: Uint8Array,
    body: Uint8Array,
    first: number,
    last: number,
  ): Uint8Array | undefined {
    const regular = head.count - head.exceptions;
    if (!this.#decode(head, samples, body, first, last)) return undefined;
    const some = Math.min(regular, last * GROUP) - first * GROUP;
    return this.#part(PLACE.values, some * (head.wide ? 8 : 4));
  }

  decode(
    head: BlockHead,
    samples: Uint8Array,
    exceptions: Uint8Array,
    body: Uint8Array,
    order: Uint8Array,
  ): Uint8Array | undefined {
    const { wide, count } = head;
    const regular = count - head.exceptions;
    if (!this.#decode(head, samples, body, 0, Math.ceil(regular / GROUP))) return undefined;
    const size = wide ? 8 : 4;
    if (exceptions.length > 0) this.#bytes.set(exceptions, PLACE.values + regular * size);
    if (head.order === ORDER.none) return this.#part(PLACE.values, count * size);
    const at = PLACE.block + samples.length + body.length;
    this.#bytes.set(order, at);
    const result = wide ? this.#wasm.arrange64(at, count) : this.#wasm.arrange32(at, count);
    return result === 0 ? undefined : this.#part(result, count * size);
  }

  encodeLadder(numbers: Uint32Array): Uint8Array {
    this.#offsets.set(numbers);
    return this.#part(PLACE.block, this.#wasm.encodeLadder(numbers.length) - PLACE.block);
  }

  decodeLadder(bytes: Uint8Array, count: number, top: number): { numbers: Uint32Array; bytes: number } | undefined {
    this.#bytes.set(bytes, PLACE.block);
    const size = this.#wasm.decodeLadder(count, top) - PLACE.block;
    return size < 0 || size > bytes.length ? undefined : { numbers: this.#offsets.subarray(0, count), bytes: size };
  }

  /** Writes ascending values, if the bytes are sound. */
  #decode(head: BlockHead, samples: Uint8Array, body: Uint8Array, first: number, last: number): boolean {
    const { wide } = head;
    const fields = this.#fields;
    fields[FIELD.form] = head.form;
    fields[FIELD.order] = head.order;
    fields[FIELD.shift] = head.shift;
    fields[FIELD.distinct] = head.distinct;
    fields[FIELD.top] = head.top;
    fields[FIELD.samplesBytes] = samples.length;
    fields[FIELD.base] = head.keyLow;
    fields[FIELD.base + 1] = head.keyHigh;
    if (head.form === FORM.decimal) {
      const power = powerOfTen(head.decimals);
      if (wide) this.#numbers[FIELD.base / 2] = head.integer;
      else fields[FIELD.base] = head.integer;
      this.#numbers[FIELD.base / 2 + 1] = wide ? power : 1 / power;
    }
    const at = PLACE.block + samples.length;
    this.#bytes.set(samples, PLACE.block);
    this.#bytes.set(body, at);
    const decode = wide ? this.#wasm.decodeValues64 : this.#wasm.decodeValues32;
    return decode(PLACE.block, at, head.count - head.exceptions, first, last) === at + body.length;
  }

  #part(at: number, sizeBytes: number): Uint8Array {
    return this.#bytes.subarray(at, at + sizeBytes);
  }
}
