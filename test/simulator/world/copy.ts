/** A copy that shares no byte with the original, as if it had travelled over a wire or been written to a disk. */
export function copyOf<T>(value: T): T {
  if (value === null || typeof value !== "object") return value;
  if ("clone" in value && typeof value.clone === "function") return value.clone();
  if (ArrayBuffer.isView(value)) return (value as unknown as Uint8Array).slice() as unknown as T;
  if (Array.isArray(value)) return value.map(copyOf) as unknown as T;
  const prototype = Object.getPrototypeOf(value);
  if (value instanceof Map) return new Map([...value].map(copyOf)) as unknown as T;
  if (Object.prototype.toString.call(value) !== "[object Object]") return structuredClone(value);
  const copy: Record<string, unknown> = Object.create(prototype);
  for (const [name, field] of Object.entries(value)) copy[name] = copyOf(field);
  return copy as T;
}
