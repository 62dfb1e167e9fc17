import { OutcomeReader } from "../../../src/command/formats/outcome-reader.ts";
import type { BadLine, Outcome, Reading, Selection } from "../../../src/command/formats/reading.ts";
import type { Format } from "../../../src/command/formats/recognise.ts";

export interface Outcomes {
  readings: Reading[];
  bad: BadLine[];
  lineCount: number;
  valueName: string;
  guess: string | undefined;
  others: readonly string[] | undefined;
}

const NOTHING: Selection = { time: undefined, value: undefined, key: undefined };

/** The parsed events of a text that arrives in chunks of `chunkBytes`. The cuts must not matter. */
export async function readText(
  text: string | Uint8Array,
  { format, chunkBytes = 7, ...selection }: { format?: Format; chunkBytes?: number } & Partial<Selection> = {},
): Promise<Outcomes> {
  const reader = new OutcomeReader(format, { ...NOTHING, ...selection });
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  return collect(reader, chunks());
}

export async function collect(reader: OutcomeReader, chunks: AsyncIterable<Uint8Array>): Promise<Outcomes> {
  const all: Outcome[] = [];
  for await (const outcomes of reader.read(chunks)) all.push(...outcomes);
  const readings = all.filter((outcome): outcome is Reading => "value" in outcome);
  const bad = all.filter((outcome): outcome is BadLine => "reason" in outcome);
  return {
    readings,
    bad,
    lineCount: reader.lineCount,
    valueName: reader.choice?.value ?? "value",
    guess: reader.choice?.valueGuess,
    others: reader.choice?.guesses,
  };
}
