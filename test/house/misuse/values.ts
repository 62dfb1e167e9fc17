/** The error of a caller's proxy or getter. It may be passed on unchanged. */
export const TRAP = new Error("the caller's own");

const spring = () => {
  throw TRAP;
};

function detached(): Float64Array {
  const values = new Float64Array(4);
  structuredClone(values.buffer, { transfer: [values.buffer] });
  return values;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const HUGE = "x".repeat(2 * 2 ** 20);

/** Wrong values, created for each call. Some are valid for some arguments. A normal answer is correct then. */
export const WRONG: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "-1": () => -1,
  "0.5": () => 0.5,
  "2**53": () => 2 ** 53,
  "empty text": () => "",
  "a space": () => " ",
  "a lone surrogate": () => "\ud800",
  "2 MB of text": () => HUGE,
  "an object": () => ({}),
  "an object without prototype": () => Object.create(null),
  "an array": () => [],
  "an array of null": () => [null],
  "a function": () => () => 1,
  "a symbol": () => Symbol("s"),
  "a bigint": () => 1n,
  "a date that is none": () => new Date(Number.NaN),
  "a detached view": detached,
  "a proxy that throws": () => new Proxy({}, { get: spring, has: spring, ownKeys: spring, getPrototypeOf: spring }),
  "a revoked proxy": revoked,
  "an object whose text throws": () => ({ toString: spring, valueOf: spring, [Symbol.toPrimitive]: spring }),
};
