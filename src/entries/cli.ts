#!/usr/bin/env node
import { runCommand } from "../cli/program.ts";

// The status is set, not forced: the process ends by itself once nothing is open any more.
runCommand(process.argv.slice(2), process).then((status) => {
  process.exitCode = status;
});
