/** A whole run: a service of its own on a database of its own, the requests, and the checks afterwards. */
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { databaseUrl } from "../../kit/E2eDatabase.ts"
import { exchange, makeAgent } from "../../kit/HttpCalls.ts"
import { freePort, startService } from "../../kit/ServiceProcess.ts"
import { type StrangerCost, strangerBars, strangerCosts } from "../../kit/Strangers.ts"
import { fuzz, type FuzzOutcome } from "./Fuzz.ts"
import { openAddresses } from "./World.ts"

export interface FuzzRunOptions {
  readonly requests: number
  readonly seed: number
  readonly connections: number
  /** Whether to measure afterwards what bodies of strangers cost. */
  readonly measuresStrangers: boolean
  readonly onProgress: (done: number) => Effect.Effect<void>
}

export interface FuzzReport extends FuzzOutcome {
  readonly seed: number
  /** Log output about errors of the service itself. */
  readonly complaints: ReadonlyArray<string>
  readonly ledger: { readonly entries: number; readonly violations: ReadonlyArray<unknown> }
  /** Bodies of strangers that cost more than they may, or hold up a health check, with the dearest of all. */
  readonly strangers: {
    readonly measured: number
    readonly dearest: StrangerCost | null
    readonly aboveBar: ReadonlyArray<StrangerCost>
  }
  /** Resident memory of the service over the run, in MiB, at equal distances; empty where the system does not report it. */
  readonly memoryMebibytes: ReadonlyArray<number>
}

/** Number of memory samples. */
const weighings = 20

const staffToken = "fuzz-bootstrap-token"

const Verification = Schema.Struct({
  data: Schema.Struct({ entries: Schema.Int, violations: Schema.Array(Schema.Unknown) })
})

/** In MiB; undefined where there is no `/proc`. */
const residentMemory = (pid: number) =>
  Effect.promise(() => readFile(`/proc/${pid}/status`, "utf8").catch(() => "")).pipe(
    Effect.map((text) => {
      const kibibytes = /^VmRSS:\s+(\d+)/m.exec(text)?.[1]
      return kibibytes === undefined ? undefined : Math.round(Number(kibibytes) / 1024)
    })
  )

/** Runs on the database of the context. Fails when the service does not answer at its end. */
export const runFuzz = Effect.fnUntraced(function*(
  { connections, measuresStrangers, onProgress, requests, seed }: FuzzRunOptions
) {
  const [publicPort, backofficePort] = [yield* freePort, yield* freePort]
  const service = yield* startService({
    port: publicPort,
    databaseUrl: yield* databaseUrl,
    environment: {
      BACKOFFICE_PORT: String(backofficePort),
      BACKOFFICE_TOKEN: staffToken,
      // generated requests of staff retire it
      BOOTSTRAP_TOKEN_RESTORED: "on",
      // Without a limit Node.js delays garbage collection while the machine has memory, which looks like a leak.
      NODE_OPTIONS: "--max-old-space-size=320"
    }
  })
  const agent = yield* makeAgent(connections)
  const memoryMebibytes: Array<number> = []
  const outcome = yield* fuzz({
    targets: { agent, publicPort, backofficePort, staffToken },
    requests,
    seed,
    connections,
    onProgress: Effect.fnUntraced(function*(done) {
      yield* onProgress(done)
      if (done < (memoryMebibytes.length + 1) * requests / weighings) return
      const weight = yield* residentMemory(service.pid)
      if (weight !== undefined) memoryMebibytes.push(weight)
    })
  })
  const costs = measuresStrangers
    ? yield* strangerCosts(
      { pid: service.pid, publicPort, backofficePort },
      yield* openAddresses({ agent, publicPort, backofficePort, staffToken })
    )
    : []
  const strangers = {
    measured: costs.length,
    dearest: costs.toSorted((a, b) => b.costMs - a.costMs)[0] ?? null,
    aboveBar: costs.filter(({ costMs, healthMs }) =>
      costMs > strangerBars.bodyMs || (healthMs ?? 0) > strangerBars.healthMs
    )
  }
  const { json } = yield* exchange(agent, backofficePort, "/backoffice/v1/ledger/verification", {
    headers: { authorization: `Bearer ${staffToken}` }
  })
  const { data: ledger } = yield* Schema.decodeUnknownEffect(Verification)(json)
  const complaints = service.output().split("\n").filter((line) =>
    /request failed|provider call failed|callback threw|"ERROR"|ERROR|defect/.test(line)
  )
  return { ...outcome, seed, complaints, ledger, strangers, memoryMebibytes } satisfies FuzzReport
})

/**
 * Whether memory stays where it is: in the last quarter of a run it is at most a quarter above what it was in the second one.
 * Before that the service fills its caches, which are bounded.
 */
export const isSteady = (memoryMebibytes: ReadonlyArray<number>): boolean => {
  const quarter = Math.floor(memoryMebibytes.length / 4)
  const second = memoryMebibytes.slice(quarter, 2 * quarter)
  const last = memoryMebibytes.slice(-quarter)
  return quarter === 0 || Math.max(...last) <= 1.25 * Math.max(...second)
}
