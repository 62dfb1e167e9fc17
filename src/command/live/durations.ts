const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** A duration as the options of oriel take it: "1h", "90s", "250ms". */
export function durationText(ms: number): string {
  if (!Number.isFinite(ms)) return "-";
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms >= unitMs && ms % unitMs === 0) ?? ["ms", 1];
  return `${ms / unitMs}${unit}`;
}

/** A duration that was measured, rounded: "12 s", "3 min", "5 h", "2 d". */
export function roughText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
