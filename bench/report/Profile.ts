import { Schema } from "effect"
import { renderTable } from "./Table.ts"

/** A profile as the inspector gives it and `.cpuprofile` files hold it. */
export const CpuProfile = Schema.Struct({
  nodes: Schema.Array(Schema.Struct({
    id: Schema.Int,
    callFrame: Schema.Struct({ functionName: Schema.String, url: Schema.String, lineNumber: Schema.Int }),
    children: Schema.optionalKey(Schema.Array(Schema.Int))
  })),
  startTime: Schema.Finite,
  endTime: Schema.Finite,
  /** Ids of the nodes on top of the stack, and the time since the sample before, µs. */
  samples: Schema.Array(Schema.Int),
  timeDeltas: Schema.Array(Schema.Int)
})
export type CpuProfile = typeof CpuProfile.Type

/** Self time by function, without callees. */
interface SelfTime {
  readonly name: string
  readonly micros: number
  /** Of the time that was not idle, 0 to 1. */
  readonly share: number
}

export interface ProfileSummary {
  readonly busyMicros: number
  readonly functions: ReadonlyArray<SelfTime>
  readonly files: ReadonlyArray<SelfTime>
  readonly rooms: ReadonlyArray<SelfTime>
}

/** Path relative to the project's folder or node_modules; runtime internals have a name in brackets. */
const fileOf = (url: string, functionName: string): string => {
  if (url === "") return functionName.startsWith("(") ? functionName : "(native)"
  const path = url.replace(/^file:\/\//, "")
  const modules = path.lastIndexOf("/node_modules/")
  if (modules >= 0) return path.slice(modules + "/node_modules/".length)
  const source = path.lastIndexOf("/src/")
  return source >= 0 ? path.slice(source + 1) : path
}

/** A folder of `src`, a package, or the runtime. */
const roomOf = (file: string): string => {
  const [first = "", second = ""] = file.split("/")
  if (file.startsWith("src/")) return file.split("/").length > 2 ? `src/${second}` : "src"
  if (file.startsWith("@")) return `${first}/${second}`
  return file.startsWith("node:") ? "node" : first
}

const sum = (samples: Iterable<readonly [name: string, micros: number]>, busy: number): ReadonlyArray<SelfTime> => {
  const sums = new Map<string, number>()
  for (const [name, micros] of samples) sums.set(name, (sums.get(name) ?? 0) + micros)
  return [...sums].map(([name, micros]) => ({ name, micros, share: micros / busy })).sort((one, other) =>
    other.micros - one.micros
  )
}

/** Adds up where the processor was. */
export const summarizeProfile = (profile: CpuProfile): ProfileSummary => {
  const frames = new Map(profile.nodes.map(({ callFrame, id }) => [id, callFrame]))
  const spent = new Map<number, number>()
  for (const [index, id] of profile.samples.entries()) {
    // a delta says how long the sample before it lasted
    spent.set(id, (spent.get(id) ?? 0) + Math.max(0, profile.timeDeltas[index + 1] ?? 0))
  }
  const all = [...spent].flatMap(([id, micros]) => {
    const frame = frames.get(id)
    return frame === undefined || frame.functionName === "(idle)"
      ? []
      : [{ frame, micros, file: fileOf(frame.url, frame.functionName) }]
  })
  const busyMicros = all.reduce((total, { micros }) => total + micros, 0)
  return {
    busyMicros,
    functions: sum(
      all.map(({ file, frame, micros }) => [
        file.startsWith("(") && file !== "(native)"
          ? file
          : `${frame.functionName === "" ? "(anonymous)" : frame.functionName}  ${file}:${frame.lineNumber + 1}`,
        micros
      ]),
      busyMicros
    ),
    files: sum(all.map(({ file, micros }) => [file, micros]), busyMicros),
    rooms: sum(all.map(({ file, micros }) => [roomOf(file), micros]), busyMicros)
  }
}

/** The heaviest of each kind. `requests` turns time into time per request. */
export const renderProfile = (summary: ProfileSummary, requests: number, top = 25): string => {
  const table = (what: string, times: ReadonlyArray<SelfTime>) =>
    renderTable(
      [what, "self %", "µs/request"],
      times.slice(0, top).map(({ micros, name, share }) => [
        name,
        (share * 100).toFixed(1),
        (micros / Math.max(1, requests)).toFixed(2)
      ])
    )
  return [
    `busy ${(summary.busyMicros / 1e6).toFixed(1)} s, ${requests} requests, ` +
    `${(summary.busyMicros / Math.max(1, requests)).toFixed(1)} µs of the main thread per request`,
    table("room", summary.rooms),
    table("file", summary.files),
    table("function", summary.functions)
  ].join("\n\n")
}
