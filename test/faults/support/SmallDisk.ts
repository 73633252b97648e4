/** Small in-memory disk that can be filled, for a data directory. Only root may mount one. */
import { Effect, type Scope } from "effect"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { isRunning } from "../../../src/platform/DataDirectoryLock.ts"
import { serverFolder } from "../../kit/E2eDatabase.ts"

const prefix = "pitboss-disk-"

export interface SmallDisk {
  readonly folder: string
  /** Uses up all free space. */
  readonly fill: () => void
  readonly empty: () => void
}

const run = (command: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0

/** Removes disks left by killed runs. */
const removeLeftovers = (): void => {
  for (const line of Fs.readFileSync("/proc/mounts", "utf8").split("\n")) {
    const [name = "", folder = ""] = line.split(" ")
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) run("umount", "-l", folder)
  }
}

/** Reason why no such disk is possible here; undefined when possible. */
export const whyNoSmallDisk = (): string | undefined => {
  if (process.platform !== "linux") return "only Linux has the disk in memory that this takes"
  if (process.getuid?.() !== 0) return "mounting a disk in memory takes root"
  removeLeftovers()
  const folder = Fs.mkdtempSync("/tmp/pitboss-mount-")
  try {
    const isMounted = run("mount", "-t", "tmpfs", "-o", "size=1m", `${prefix}${process.pid}`, folder)
    if (isMounted) run("umount", folder)
    return isMounted ? undefined : "this system lets nobody mount a disk in memory"
  } finally {
    Fs.rmdirSync(folder)
  }
}

const chunk = Buffer.alloc(65_536)

/** Mounts a disk of this size until the scope closes. */
export const makeSmallDisk = (megabytes: number): Effect.Effect<SmallDisk, never, Scope.Scope> =>
  Effect.gen(function*() {
    const folder = yield* serverFolder
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const options = `size=${megabytes}m,mode=0711`
        if (!run("mount", "-t", "tmpfs", "-o", options, `${prefix}${process.pid}`, folder)) {
          throw new Error("the disk in memory cannot be mounted")
        }
      }),
      () => Effect.sync(() => void (run("umount", folder) || run("umount", "-l", folder)))
    )
    const ballast = join(folder, "ballast")
    return {
      folder,
      fill: () => {
        const file = Fs.openSync(ballast, "a")
        try {
          // ever smaller pieces, until not a byte fits
          for (let size = chunk.length; size >= 1; size = Math.floor(size / 16)) {
            for (;;) {
              try {
                Fs.writeSync(file, chunk, 0, size)
              } catch {
                break
              }
            }
          }
        } finally {
          Fs.closeSync(file)
        }
      },
      empty: () => Fs.rmSync(ballast, { force: true })
    }
  })
