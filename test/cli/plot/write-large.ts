import { writeWhole } from "../../../src/command/plot/whole-file.ts";

// node write-large.mjs <file> <bytes>: writes a file of that size whole, and prints the code of the error if that fails.
const [file = "", bytes = ""] = process.argv.slice(2);
process.stdout.write("begins\n");
await writeWhole(file, Buffer.alloc(Number(bytes), "n")).catch((error) => {
  process.stdout.write(`${error.code}\n`);
  process.exitCode = 1;
});
