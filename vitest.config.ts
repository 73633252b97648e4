import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take longest, in their order: one that begins last ends long after the others. The first ones wait much, or use one core. */
const longest = [
  "soak/pages/sizes",
  "soak/simulation",
  "soak/wrongClock",
  "soak/benchScenarios",
  "soak/faults",
  "soak/pages/every",
  "rules/ProtocolTraffic",
  "e2e/sandboxClock",
  "soak/fuzz",
  "soak/proxies",
  "spec/commandsWork"
]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`))
  return place < 0 ? longest.length : place
}

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

// Three workers: the machines this must pass on have two cores, which the embedded PostgreSQL and services in processes of their own share, and there is
// nearly always a file that waits.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/kit/globalSetup.ts"],
    pool: "forks",
    // A test file sees the modules of the files before it, and so takes a part of the time. None may leave anything changed behind.
    isolate: false,
    // Node.js runs the sources as it does in the service: faster than what Vite makes of them.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Generous on purpose: a limit here stops a hang, it never measures speed.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000
  }
})
