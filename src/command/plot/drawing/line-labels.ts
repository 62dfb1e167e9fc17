export interface LineLabel {
  readonly name: string;
  readonly kind: string;
  /** Where its line ends. */
  readonly lineY: number;
}
export interface PlacedLabel extends LineLabel {
  /** The middle of the text. */
  readonly y: number;
}

/** Moves the labels as little as needed so that they are `gapPx` apart, in the order of their lines, between both ends. */
export function placeLabels(
  labels: readonly LineLabel[],
  gapPx: number,
  topPx: number,
  bottomPx: number,
): PlacedLabel[] {
  // Groups of touching labels, each as near to its lines as possible: its middle is the middle of their ends.
  const groups: { members: LineLabel[]; middle: number }[] = [];
  const half = (count: number) => ((count - 1) * gapPx) / 2;
  const clamp = (middle: number, count: number) =>
    Math.max(topPx + half(count), Math.min(bottomPx - half(count), middle));
  for (const label of [...labels].sort((a, b) => a.lineY - b.lineY)) {
    let group = { members: [label], middle: clamp(label.lineY, 1) };
    for (let before = groups.at(-1); before !== undefined; before = groups.at(-1)) {
      const count = before.members.length;
      if (before.middle + half(count) + gapPx <= group.middle - half(group.members.length)) break;
      groups.pop();
      const members = [...before.members, ...group.members];
      const sum = members.reduce((total, { lineY }) => total + lineY, 0);
      group = { members, middle: clamp(sum / members.length, members.length) };
    }
    groups.push(group);
  }
  return groups.flatMap(({ members, middle }) =>
    members.map((label, index) => ({ ...label, y: middle - half(members.length) + index * gapPx })),
  );
}
