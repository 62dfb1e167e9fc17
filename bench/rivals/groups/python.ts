import { fileURLToPath } from "node:url";
import { findPython } from "../../../scripts/find-programs.mjs";
import { type BucketLibrary, bucketsMissing, PACKAGES } from "../buckets.ts";
import { PythonProcess } from "../python/python-process.ts";
import { COLUMNS, type GroupsRival, p99sOfColumns, type RowColumns } from "./contract.ts";

const SCRIPT = fileURLToPath(new URL("../python/groups.py", import.meta.url));

/** A data frame or a table in the memory of a process of its own. Times are measured inside it. */
function inPython(library: BucketLibrary): GroupsRival {
  return {
    name: library,
    missing: () => bucketsMissing(library),
    async open({ values, routes, methods }) {
      const python = new PythonProcess(findPython(PACKAGES[library])!, SCRIPT, [library]);
      await python.load([values, routes, methods], values.length);
      return {
        asks: [
          {
            name: library,
            rows: ["route", "group"],
            async ask(by) {
              const { ms, ...columns } = (await python.ask({ by: COLUMNS[by] })) as RowColumns & { ms: number };
              return { ms, p99s: p99sOfColumns(columns) };
            },
          },
        ],
        close: () => python.close(),
      };
    },
  };
}

export const pandas = inPython("pandas");
export const duckdb = inPython("duckdb");
