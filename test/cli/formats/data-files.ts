import { createReadStream } from "node:fs";
import { OutcomeReader } from "../../../src/command/formats/outcome-reader.ts";
import type { Reading } from "../../../src/command/formats/reading.ts";
import { DEMO_LATENCY, dataFolders } from "../../data/folders.ts";
import { collect } from "./outcomes.ts";

export interface DataFile {
  name: string;
  path: string;
  key: string | undefined;
}

const FILES = [
  { file: "apache-access.log", key: "status-class" },
  { file: "ec2_request_latency_system_failure.csv", key: undefined },
];

/** Generated files, the real ones where they are at hand, and latencies of the demo's server. */
export const DATA_FILES: DataFile[] = [
  ...dataFolders.flatMap(({ name, folder }) =>
    FILES.map(({ file, key }) => ({ name: `${name} ${file}`, key, path: folder + file })),
  ),
  { name: "demo-latency.csv", key: undefined, path: DEMO_LATENCY },
];

export async function readingsOf({ path, key }: DataFile): Promise<Reading[]> {
  const reader = new OutcomeReader(undefined, { time: undefined, value: undefined, key });
  return (await collect(reader, createReadStream(path))).readings;
}
