// Builds only the command `oriel`, for `npm start`.
import { defineConfig } from "tsup";
import { command } from "./tsup.config.ts";

export default defineConfig(command);
