/** Holds processes to a part of a core: a control group each, of version 1, whose processor time the kernel limits. */
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
 * Holds each process to so much of a core until the scope closes. Gives what is in the way on this machine, undefined when nothing is: then all
 * of them share what there is.
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
