import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000, // more than a slow server is waited for, which then says what did not start
    maxWorkers: 3, // of two cores, a third of which stand still while tests wait
    reporters: process.env.CI ? ["default"] : ["default"],
  },
});
