/** Locks a data directory, so that one process uses it at a time. */
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { StartupError } from "./StartupError.ts"

/** Distinguishes a process from a later one with the same pid: boot and start time; empty where the system provides neither. */
const identityOf = (pid: number): string => {
  try {
    const boot = Fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    return `${boot} ${statOf(pid)[19] ?? ""}`
  } catch {
    return ""
  }
}

/** Fields of /proc/PID/stat after the program name, which is in parentheses and may contain spaces. */
const statOf = (pid: number): ReadonlyArray<string> => {
  const stat = Fs.readFileSync(`/proc/${pid}/stat`, "utf8")
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")
}

const isZombie = (pid: number): boolean => {
  try {
    return statOf(pid)[0] === "Z"
  } catch {
    return false
  }
}

/** True when a process with this pid runs, under any user. A zombie does not. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** Live process named by a lock file; undefined when the file is missing, unreadable or stale. */
const holderOf = (file: string): number | undefined => {
  if (!Fs.existsSync(file)) return undefined
  const [number = "", identity = ""] = Fs.readFileSync(file, "utf8").split("\n")
  const pid = Number(number)
  return Number.isInteger(pid) && pid > 0 && isRunning(pid) && identityOf(pid) === identity ? pid : undefined
}

/**
 * Locks `directory` for this process until the scope closes. A stale lock of a killed process is taken over; a live one fails with a {@link
 * StartupError}.
 */
export const lockDataDirectory = Effect.fn("lockDataDirectory")(function*(directory: string) {
  const file = Path.join(directory, "service.lock")
  const unusable = (cause: unknown) =>
    new StartupError({
      message: `DATA_DIR: ${directory} cannot be used (${cause instanceof Error ? cause.message : String(cause)})`
    })
  yield* Effect.acquireRelease(
    Effect.gen(function*() {
      for (let attempt = 0; attempt < 3; attempt++) {
        const claimed = yield* Effect.try({
          try: () => {
            Fs.mkdirSync(directory, { recursive: true, mode: 0o711 })
            // a hard link appears together with its content: no reader sees a partial lock file
            const draft = `${file}.${process.pid}`
            Fs.writeFileSync(draft, `${process.pid}\n${identityOf(process.pid)}\n`, { mode: 0o600 })
            try {
              Fs.linkSync(draft, file)
              return { ok: true, holder: undefined }
            } catch (error) {
              if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
              const holder = holderOf(file)
              if (holder === undefined) Fs.rmSync(file, { force: true })
              return { ok: false, holder }
            } finally {
              Fs.rmSync(draft, { force: true })
            }
          },
          catch: unusable
        })
        if (claimed.ok) return
        if (claimed.holder !== undefined) {
          return yield* new StartupError({
            message: `DATA_DIR: ${directory} belongs to another running service (process ${claimed.holder})`
          })
        }
      }
      return yield* new StartupError({
        message:
          `DATA_DIR: ${directory} could not be locked, as another service is starting or stopping with it: start again`
      })
    }),
    () =>
      Effect.sync(() => {
        // another process may have taken it over, assuming this one dead
        if (holderOf(file) === process.pid) Fs.rmSync(file, { force: true })
      })
  )
})
