import { Schema } from "effect"
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { cpus, loadavg, release, totalmem, type } from "node:os"
import { join } from "node:path"
import { median } from "./Statistics.ts"

/** Where a run took place: a figure means nothing without it. */
export const MachineSchema = Schema.Struct({
  cpu: Schema.String,
  cores: Schema.Int,
  memory_gib: Schema.Int,
  kernel: Schema.String,
  node: Schema.String,
  /** The filesystem that holds the database, as mounted. */
  filesystem: Schema.String,
  /** Median time of writing 8 KiB and flushing it to disk there, µs: lower bound of a single commit. */
  sync_us: Schema.Finite,
  /** Load average of the last minute when the run began. */
  load_before: Schema.Finite
})
export type Machine = typeof MachineSchema.Type

/** The type of the mount that holds `folder`, from the text of /proc/mounts. */
export const filesystemOf = (mounts: string, folder: string): string => {
  let best = { point: "", type: "unknown" }
  for (const line of mounts.split("\n")) {
    const [, point = "", type = ""] = line.split(" ")
    const inside = point === "/" || folder === point || folder.startsWith(`${point}/`)
    if (inside && point.length >= best.point.length) best = { point, type }
  }
  return best.type
}

const measureSync = (folder: string): number => {
  const path = join(folder, "sync-test")
  const block = Buffer.alloc(8192, 1)
  const file = openSync(path, "w")
  try {
    // The first pass allocates the file, so that the second times the sync alone, as in a recycled WAL segment.
    for (let index = 0; index < 64; index++) writeSync(file, block, 0, block.length, index * block.length)
    fdatasyncSync(file)
    const times: Array<number> = []
    for (let index = 0; index < 64; index++) {
      const start = performance.now()
      writeSync(file, block, 0, block.length, index * block.length)
      fdatasyncSync(file)
      times.push((performance.now() - start) * 1000)
    }
    return Math.round(median(times))
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}

/** Describes the machine; `folder` is where the database is. */
export const describeMachine = (folder: string): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memory_gib: Math.round(totalmem() / 2 ** 30),
  kernel: `${type()} ${release()}`,
  node: process.version,
  filesystem: filesystemOf(readFileSync("/proc/mounts", "utf8"), folder),
  sync_us: measureSync(folder),
  load_before: loadavg()[0] ?? 0
})

/** Where a run took place, in a line. */
export const describe = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.kernel}, Node.js ${machine.node}, database on ` +
  `${machine.filesystem}, ${machine.sync_us} µs per synced write, load before ${machine.load_before.toFixed(2)}`
