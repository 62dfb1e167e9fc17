/** The first and the last character of an id, or less. */
export function masked(id: string): string {
  const characters = [...id];
  return characters.length < 4 ? "…" : `${characters[0]}…${characters.at(-1)}`;
}
