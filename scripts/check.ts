/**
 * Runs the checks required for a commit. By default: types with the Effect diagnostics, lint, format, unused code. With `--test` also
 * the fast tests; with `--soak` the tests of `test/soak`, those that `npm test` runs in part in full, and the end-to-end tests once more on three
 * nodes. Further arguments go to vitest. The last lines
 * name what failed and count what passed and failed, a check counting as one.
 *
 *     node scripts/check.ts
 *     node scripts/check.ts --test [vitest arguments]
 *     node scripts/check.ts --soak [vitest arguments]
 */
import { spawn } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { standardError, standardOutput } from "../src/platform/Output.ts"

const root = dirname(import.meta.dirname)
const bin = join(root, "node_modules", ".bin")
const path = `${bin}:${process.env["PATH"] ?? ""}`
/**
 * Of checks, which run two at a time, and beside the tests: each has one thread, since threads that check types do the same work twice, and collects
 * garbage seldom. It halves their work.
 */
const environment = { ...process.env, PATH: path, NO_COLOR: "1", GOGC: "400", GOMAXPROCS: "1" }

/** Settings of a test run: number of nodes of the end-to-end tests, and whether property tests have all their runs. */
interface RunSettings {
  readonly E2E_NODES?: string
  readonly TEST_RUNS?: "all"
}

interface Outcome {
  readonly code: number
  readonly output: string
}

const run = (command: string, args: ReadonlyArray<string>, settings?: RunSettings): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: settings === undefined ? environment : { ...process.env, PATH: path, E2E_NODES: "1", ...settings },
      stdio: settings === undefined ? ["ignore", "pipe", "pipe"] : ["inherit", "inherit", "pipe"]
    })
    let output = ""
    child.stdout?.on("data", (chunk) => (output += chunk))
    child.stderr?.on("data", (chunk) => {
      output += chunk
      if (settings !== undefined) standardError.offer(chunk)
    })
    child.on("error", (error) => resolve({ code: 1, output: error.message }))
    child.on("close", (code) => resolve({ code: code ?? 1, output }))
  })

interface Check {
  readonly name: string
  readonly steps: ReadonlyArray<ReadonlyArray<string>>
}

// Two at a time, the long ones first. The patch puts the Effect diagnostics into tsc; it does nothing the second time.
const checks: ReadonlyArray<Check> = [
  {
    name: "types",
    steps: [
      ["effect-tsgo", "patch", "--typescript"],
      ["tsc", "--singleThreaded", "-p", "tsconfig.json"],
      ["tsc", "--singleThreaded", "-p", "src/pages/tsconfig.json"],
      ["tsc", "--singleThreaded", "-p", "scripts/casino/page/tsconfig.json"]
    ]
  },
  { name: "lint", steps: [["oxlint", "--type-aware", "--deny-warnings"]] },
  { name: "unused", steps: [["knip", "--no-progress"]] },
  { name: "format", steps: [["dprint", "check"]] }
]

interface Checked {
  readonly passed: number
  /** Each with what it said. */
  readonly failures: ReadonlyArray<string>
}

/** What a check that fails said. */
const failureOf = async ({ name, steps }: Check): Promise<string | undefined> => {
  for (const [command = "", ...args] of steps) {
    const { code, output } = await run(command, args)
    if (code !== 0) return `${name}\n${output.trimEnd()}`
  }
  standardOutput.offer(`✓ ${name}\n`)
  return undefined
}

const runChecks = async (): Promise<Checked> => {
  const queue = [...checks]
  const failures: Array<string> = []
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
      const failure = await failureOf(check)
      if (failure !== undefined) failures.push(failure)
    }
  }
  await Promise.all([worker(), worker()])
  return { passed: checks.length - failures.length, failures }
}

/** A test file that could not even be loaded holds no test that failed, yet it is a failure. */
interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<
    {
      readonly name: string
      readonly status: string
      /** Epoch milliseconds. */
      readonly startTime: number
      readonly endTime: number
      readonly message: string
      readonly assertionResults: ReadonlyArray<
        { readonly status: string; readonly fullName: string; readonly failureMessages: ReadonlyArray<string> }
      >
    }
  >
}

/** Files whose time is told after a run: where to look when it grows. */
const slowestShown = 12

interface Tested {
  readonly passed: number
  /** Each with its file, its test and its first error. */
  readonly failures: ReadonlyArray<string>
}

const firstLines = (message: string): string =>
  message.split("\n").filter((line) => !line.includes("node_modules")).slice(0, 12).join("\n    ")

const runTests = async (args: ReadonlyArray<string>, settings: RunSettings = {}): Promise<Tested> => {
  const folder = mkdtempSync(join(tmpdir(), "pitboss-report-"))
  const file = join(folder, "report.json")
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`]
  const { code, output } = await run("vitest", ["run", ...reporters, ...args], settings)
  let passed = 0
  let failures: ReadonlyArray<string> = []
  try {
    const report: VitestReport = JSON.parse(readFileSync(file, "utf8"))
    passed = report.numPassedTests
    const files = report.testResults.map(({ endTime, name, startTime }) => ({
      name: relative(root, name),
      seconds: (endTime - startTime) / 1000
    }))
    const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestShown)
    standardOutput.offer(
      `slowest: ${slowest.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(", ")}\n`
    )
    failures = report.testResults.filter((result) => result.status === "failed").flatMap((result) => {
      const failed = result.assertionResults.filter((test) => test.status === "failed")
      const name = relative(root, result.name)
      return failed.length === 0
        ? [`${name}: ${firstLines(result.message)}`]
        : failed.map((test) => `${name} > ${test.fullName}: ${firstLines(test.failureMessages[0] ?? "")}`)
    })
  } catch {
    standardOutput.offer("the test runner left no report\n")
  }
  rmSync(folder, { recursive: true, force: true })
  return code !== 0 && failures.length === 0
    ? {
      passed,
      failures: [`an error outside any test: ${firstLines(output.slice(output.lastIndexOf("Unhandled Error")))}`]
    }
    : { passed, failures }
}

/** Tests of which `npm test` runs a part (`test/kit/Runs.ts`). */
const partly = () =>
  globSync("test/**/*.test.ts", { cwd: root }).filter((file) =>
    readFileSync(join(root, file), "utf8").includes("/kit/Runs.ts\"")
  )

/** With arguments for vitest, those tests alone. */
const runSoak = async () => {
  const all = { TEST_RUNS: "all" } as const
  if (rest.length > 0) return runTests(["test/soak", ...rest], all)
  const soaked = await runTests(["test/soak", ...partly()], all)
  const onNodes = await runTests(["test/e2e", "test/spec", "test/security"], { ...all, E2E_NODES: "3" })
  return {
    passed: soaked.passed + onNodes.passed,
    failures: [...soaked.failures, ...onNodes.failures.map((failure) => `on three nodes: ${failure}`)]
  }
}

const [mode, ...rest] = process.argv.slice(2)
const noChecks: Checked = { passed: 0, failures: [] }
// the tests wait for timers and answers meanwhile
const [checked, tested] = await Promise.all([
  mode === "--soak" ? noChecks : runChecks(),
  mode === "--test"
    ? runTests(["--exclude=test/soak/**", ...rest])
    : mode === "--soak"
    ? runSoak()
    : { passed: 0, failures: [] }
])
const failures = [...checked.failures, ...tested.failures]
// Last, since who reads the output of a long run reads its end.
for (const failure of failures) standardOutput.offer(`✗ ${failure}\n`)
standardOutput.offer(`${checked.passed + tested.passed} passed, ${failures.length} failed\n`)
process.exitCode = failures.length === 0 ? 0 : 1
