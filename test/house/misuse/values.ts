/** What a proxy or getter of the caller's throws; it may pass as it is. */
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

/** What no argument should be, each made anew. Some are right for some arguments: then a normal answer is right, too. */
export const WRONG: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  NaN: () => Number.NaN,
  Infinity: () => Infinity,
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
