import { OrielError } from "../../../base/errors.ts";
import * as layout from "../../../generated/layouts/block.ts";
import { FORM, MAX_IN_BLOCK, ORDER, PAIRS, TIMING } from "../../../generated/layouts/block.ts";
import type { BlockHead } from "./contract.ts";
import { shuffleBytes } from "./js/arrange.ts";
import { bitsOf } from "./js/bits.ts";

const MAX_DECIMALS = 15;
const MAX_SHIFT = 32;
/** The largest integers of decimals. */
const MAX_INTEGER32 = 2 ** 24;
const MAX_INTEGER64 = 2 ** 51;

const baseBytes = new ArrayBuffer(8);
const base = { u32: new Uint32Array(baseBytes), f64: new Float64Array(baseBytes) };

export function damaged(what: string): OrielError {
  return new OrielError("CORRUPT", `a block is damaged: ${what}`);
}

export function checkLength(part: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length !== expected) throw damaged(`its ${part} has ${bytes.length} bytes; it must have ${expected}`);
}

/** Reads and checks the header of a block. Throws CORRUPT. */
export function readHead(bytes: Uint8Array): BlockHead {
  if (bytes.length < layout.BLOCK_BYTES)
    throw damaged(`it has ${bytes.length} bytes, and its header ${layout.BLOCK_BYTES}`);
  // Byte by byte, because a view costs as much as all reads.
  const u16 = (at: number) => bytes[at]! | (bytes[at + 1]! << 8);
  const u32 = (at: number) => (u16(at) | (u16(at + 2) << 16)) >>> 0;
  const form = bytes[layout.BLOCK_FORM_AT]!;
  const decimal = form === FORM.decimal;
  base.u32[0] = u32(layout.BLOCK_KEY_LOW_AT);
  base.u32[1] = u32(layout.BLOCK_KEY_HIGH_AT);
  const head: BlockHead = {
    form,
    wide: bytes[layout.BLOCK_VALUE_TYPE_AT] === 1,
    order: bytes[layout.BLOCK_ORDER_AT]!,
    timing: bytes[layout.BLOCK_TIMING_AT]!,
    decimals: bytes[layout.BLOCK_DECIMALS_AT]!,
    shift: bytes[layout.BLOCK_SHIFT_AT]!,
    count: u16(layout.BLOCK_COUNT_AT),
    distinct: u16(layout.BLOCK_DISTINCT_AT),
    runs: u16(layout.BLOCK_RUNS_AT),
    exceptions: u16(layout.BLOCK_EXCEPTIONS_AT),
    headBytes: u16(layout.BLOCK_HEAD_BYTES_AT),
    bodyBytes: u16(layout.BLOCK_BODY_BYTES_AT),
    orderBytes: u16(layout.BLOCK_ORDER_BYTES_AT),
    timesBytes: u16(layout.BLOCK_TIMES_BYTES_AT),
    top: u32(layout.BLOCK_TOP_AT),
    nanCount: u16(layout.BLOCK_NAN_COUNT_AT),
    positiveInfinityCount: u16(layout.BLOCK_POSITIVE_INFINITY_COUNT_AT),
    negativeInfinityCount: u16(layout.BLOCK_NEGATIVE_INFINITY_COUNT_AT),
    integer: decimal ? base.f64[0]! : 0,
    keyLow: decimal ? 0 : base.u32[0]!,
    keyHigh: decimal ? 0 : base.u32[1]!,
  };
  checkHead(head, bytes[layout.BLOCK_VALUE_TYPE_AT]!);
  return head;
}

function checkHead(head: BlockHead, valueType: number): void {
  const { form, count, order, timing, shift, distinct, exceptions, headBytes, bodyBytes, orderBytes } = head;
  if (form > FORM.bits || order > ORDER.sparse || timing > TIMING.raw || valueType > PAIRS)
    throw damaged(`its form is ${form}, its order ${order}, its timing ${timing}, its value type ${valueType}`);
  if (count === 0 || count > MAX_IN_BLOCK) throw damaged(`it has ${count} events; it must have 1 to ${MAX_IN_BLOCK}`);
  if (timing === TIMING.runs && (head.runs === 0 || head.runs > count)) throw damaged(`it has ${head.runs} runs`);
  const valueBytes = count * (head.wide ? 8 : 4);
  if (form === FORM.raw) {
    if (headBytes !== layout.BLOCK_BYTES || bodyBytes !== valueBytes || orderBytes !== 0 || order !== ORDER.none)
      throw damaged("its values are raw and have other lengths");
    return;
  }
  if (shift > (head.wide ? MAX_SHIFT : 0) || exceptions >= count || distinct === 0 || distinct > count)
    throw damaged(`its shift is ${shift}, and it has ${exceptions} exceptions and ${distinct} distinct values`);
  const fixed = layout.BLOCK_BYTES + exceptions * (head.wide ? 8 : 4);
  if (headBytes < fixed || headBytes - layout.BLOCK_BYTES + bodyBytes + orderBytes > valueBytes)
    throw damaged("a part of it has an impossible length");
  if (form === FORM.decimal && !isDecimal(head))
    throw damaged(`its decimals are ${head.decimals}, and its smallest integer is ${head.integer}`);
  const expected = orderBytesOf(head);
  if (orderBytes < expected || (orderBytes > expected && order !== ORDER.sparse))
    throw damaged(`its order has ${orderBytes} bytes; it must have ${expected}`);
}

function isDecimal({ wide, decimals, integer }: BlockHead): boolean {
  return (
    decimals <= MAX_DECIMALS && Number.isInteger(integer) && Math.abs(integer) <= (wide ? MAX_INTEGER64 : MAX_INTEGER32)
  );
}

/** Bytes of the order of arrival. A sparse one varies in length, and has at least these. */
function orderBytesOf({ order, count, distinct }: BlockHead): number {
  if (order === ORDER.none) return 0;
  if (order === ORDER.index) return (count * bitsOf(distinct - 1) + 7) >> 3;
  return order === ORDER.permutation ? shuffleBytes(count) : layout.SPARSE_BYTES;
}

/** Writes a header. `bytes`: it and what follows it. */
export function writeHead(head: BlockHead, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  view.setUint8(layout.BLOCK_FORM_AT, head.form);
  view.setUint8(layout.BLOCK_VALUE_TYPE_AT, head.wide ? 1 : 0);
  view.setUint8(layout.BLOCK_ORDER_AT, head.order);
  view.setUint8(layout.BLOCK_TIMING_AT, head.timing);
  view.setUint8(layout.BLOCK_DECIMALS_AT, head.decimals);
  view.setUint8(layout.BLOCK_SHIFT_AT, head.shift);
  view.setUint16(layout.BLOCK_COUNT_AT, head.count, true);
  view.setUint16(layout.BLOCK_DISTINCT_AT, head.distinct, true);
  view.setUint16(layout.BLOCK_RUNS_AT, head.runs, true);
  view.setUint16(layout.BLOCK_EXCEPTIONS_AT, head.exceptions, true);
  view.setUint16(layout.BLOCK_HEAD_BYTES_AT, head.headBytes, true);
  view.setUint16(layout.BLOCK_BODY_BYTES_AT, head.bodyBytes, true);
  view.setUint16(layout.BLOCK_ORDER_BYTES_AT, head.orderBytes, true);
  view.setUint16(layout.BLOCK_TIMES_BYTES_AT, head.timesBytes, true);
  view.setUint16(layout.BLOCK_NAN_COUNT_AT, head.nanCount, true);
  view.setUint16(layout.BLOCK_POSITIVE_INFINITY_COUNT_AT, head.positiveInfinityCount, true);
  view.setUint16(layout.BLOCK_NEGATIVE_INFINITY_COUNT_AT, head.negativeInfinityCount, true);
  view.setUint32(layout.BLOCK_TOP_AT, head.top, true);
  if (head.form === FORM.decimal) view.setFloat64(layout.BLOCK_KEY_LOW_AT, head.integer, true);
  else {
    view.setUint32(layout.BLOCK_KEY_LOW_AT, head.keyLow, true);
    view.setUint32(layout.BLOCK_KEY_HIGH_AT, head.keyHigh, true);
  }
}
