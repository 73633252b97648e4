import { defineConfig } from "vitest/config"

// Two workers: the machines this must pass on have two cores, and the embedded PostgreSQL shares them.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/kit/globalSetup.ts"],
    pool: "forks",
    // A test file sees the modules of the files before it, and so takes a part of the time. None may leave anything changed behind.
    isolate: false,
    maxWorkers: 2,
    // Generous on purpose: a limit here stops a hang, it never measures speed.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000
  }
})
