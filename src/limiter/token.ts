/** 32 hexadecimal digits: twelve random bytes, and zeros where the calls of a group have their number. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}00000000`;
}
