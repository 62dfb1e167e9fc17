/** `; did you mean "retention"?`, where one of the known names is near enough; else nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  // A longer text is no slip of the hand, and would cost time.
  if (name.length > 40) return "";
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const one of known) {
    const edits = distance(name.toLowerCase(), one.toLowerCase());
    if (edits < least) [nearest, least] = [one, edits];
  }
  const [short, long] = [name.toLowerCase(), (nearest ?? "").toLowerCase()].sort((a, b) => a.length - b.length);
  const isPart = short!.length >= 3 && long!.startsWith(short!);
  return nearest !== undefined && (isPart || least <= Math.max(1, nearest.length / 3))
    ? `; did you mean ${JSON.stringify(nearest)}?`
    : "";
}

/** Letters to insert, delete, replace, or swap with their neighbour, at least. */
function distance(from: string, to: string): number {
  let twoBefore: number[] = [];
  let before = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      row[j] = Math.min(row[j - 1]! + 1, before[j]! + 1, before[j - 1]! + (same ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, twoBefore[j - 2]! + 1);
    }
    twoBefore = before;
    before = row;
  }
  return before[to.length]!;
}
