// Vitest runs this before each test file. Modules are shared by the files that one worker runs, so a module that
// registered hooks would do so for the first of them only.
import { afterAll, afterEach } from "vitest";
import { endFile, endTest } from "./ends.ts";

afterEach(endTest);
afterAll(endFile);
