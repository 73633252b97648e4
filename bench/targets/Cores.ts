/** Limits processes to a share of a core, with one cgroup v1 each. */
import { Effect, type Scope } from "effect"
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = "/sys/fs/cgroup/cpu"

/** The kernel gives out a part of a core in periods: short ones, so that a node is never still for long. */
const periodMicros = 10_000

/** Undefined when it could be done, else why not. */
const attempt = (act: () => void): string | undefined => {
  try {
    act()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Limits each process to a share of a core until the scope closes. Returns the obstacle on this machine, undefined when limited; otherwise all
 * processes share the machine.
 */
export const holdToCores = (
  pids: ReadonlyArray<number>,
  cores: number
): Effect.Effect<string | undefined, never, Scope.Scope> =>
  Effect.gen(function*() {
    for (const pid of pids) {
      const folder = join(root, `pitboss-bench-${pid}`)
      const problem = attempt(() => {
        mkdirSync(folder)
        writeFileSync(join(folder, "cpu.cfs_period_us"), String(periodMicros))
        writeFileSync(join(folder, "cpu.cfs_quota_us"), String(Math.round(cores * periodMicros)))
        writeFileSync(join(folder, "cgroup.procs"), String(pid))
      })
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          // its processes go back to the parent's group; those that ended are gone from it
          attempt(() => writeFileSync(join(root, "cgroup.procs"), String(pid)))
          attempt(() => rmdirSync(folder))
        })
      )
      if (problem !== undefined) return problem
    }
    return undefined
  })
