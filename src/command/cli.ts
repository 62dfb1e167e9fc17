#!/usr/bin/env node
import { runCommand } from "./program.ts";

// `process.exit` would cut off pending output. The process ends by itself when nothing is open.
runCommand(process.argv.slice(2), process).then((status) => {
  process.exitCode = status;
});
