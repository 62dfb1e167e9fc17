import { createReadStream, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { OutcomeReader } from "../../src/cli/outcome-reader.ts";
import type { Reading } from "../../src/cli/reading.ts";
import { collect } from "./outcomes.ts";

export interface DataFile {
  name: string;
  path: string;
  key: string | undefined;
  present: boolean;
}

const FOLDER = fileURLToPath(new URL("../../../shared/data/", import.meta.url));

/** Real files, beside the project; where they are absent the tests that need them say so. */
export const DATA_FILES: DataFile[] = [
  { name: "apache-access.log", key: "status-class" },
  { name: "ec2_request_latency_system_failure.csv", key: undefined },
].map(({ name, key }) => ({ name, key, path: FOLDER + name, present: existsSync(FOLDER + name) }));

for (const { name, present } of DATA_FILES) if (!present) console.log(`skipped: ${name} is not beside the project`);

export async function readingsOf({ path, key }: DataFile): Promise<Reading[]> {
  const reader = new OutcomeReader(undefined, { time: undefined, value: undefined, key });
  return (await collect(reader, createReadStream(path))).readings;
}
