#!/usr/bin/env node
import { defaults } from "../store/delivery/script-store.ts";
import { runCommand } from "./program.ts";

// A person waits longer than a program's call, and often looks when the machine is busy.
defaults.deadlineMs = 5000;

// `process.exit` would cut off pending output. The process ends by itself when nothing is open.
runCommand(process.argv.slice(2), process).then((status) => {
  process.exitCode = status;
});
