// Standards only: this runs wherever oriel does.
const view = new DataView(new ArrayBuffer(8));

/** A float's bits in hexadecimal digits, as NumPy's golden file has them. */
export function bitsOf(x, dtype = "f8") {
  if (Number.isNaN(x)) return "nan";
  if (dtype === "f4") {
    view.setFloat32(0, x);
    return view.getUint32(0).toString(16).padStart(8, "0");
  }
  view.setFloat64(0, x);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/** Text that is equal where values are, numbers to the last bit. */
function exact(value) {
  if (typeof value === "number") return bitsOf(value);
  if (typeof value === "bigint") return `${value}n`;
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}${exact([...value])}`;
  if (Array.isArray(value)) return `[${value.map(exact).join()}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${exact(value[name])}`).join()}}`;
}

/** Counts what is as expected, and tells what is not. */
export class Checks {
  passed = 0;
  failed = [];

  same(what, got, expected) {
    if (exact(got) === exact(expected)) this.passed++;
    else this.failed.push(`${what}: ${exact(got)} instead of ${exact(expected)}`);
  }

  report(kernel) {
    return { kernel, passed: this.passed, failed: this.failed };
  }
}
