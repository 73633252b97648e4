import { readdirSync, readFileSync } from "node:fs"

/** Length of the kernel's accounting tick in /proc: 100 per second on every Linux. */
const microsPerTick = 10_000

/** Values of /proc/PID/stat. */
export interface ProcessStat {
  readonly parent: number
  /** Ticks spent by its threads. */
  readonly own: number
  /** Ticks spent by children that ended and were waited for. */
  readonly children: number
}

/** Reads the text of /proc/PID/stat. The second field is a name that may hold spaces and brackets. */
export const parseProcessStat = (text: string): ProcessStat => {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
  const [parent, user, system, childUser, childSystem] = [1, 11, 12, 13, 14].map((index) => fields[index] ?? 0)
  return { parent: parent ?? 0, own: (user ?? 0) + (system ?? 0), children: (childUser ?? 0) + (childSystem ?? 0) }
}

const readProcess = (pid: number): ProcessStat | undefined => {
  try {
    return parseProcessStat(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return undefined
  }
}

/** Processor time of one process so far, µs. */
export const processMicros = (pid: number): number => (readProcess(pid)?.own ?? 0) * microsPerTick

/** Processor time of a process and all children it has and had, µs. For PostgreSQL and its backends. */
export const familyMicros = (pid: number): number => {
  const root = readProcess(pid)
  if (root === undefined) return 0
  let ticks = root.own + root.children
  for (const entry of readdirSync("/proc")) {
    const stat = /^\d+$/.test(entry) ? readProcess(Number(entry)) : undefined
    if (stat?.parent === pid) ticks += stat.own
  }
  return ticks * microsPerTick
}

/** A process and all that descend from it, parents first. */
export const familyOf = (pid: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const entry of readdirSync("/proc")) {
    const parent = /^\d+$/.test(entry) ? readProcess(Number(entry))?.parent : undefined
    if (parent !== undefined) children.set(parent, [...children.get(parent) ?? [], Number(entry)])
  }
  const family = [pid]
  for (const member of family) family.push(...children.get(member) ?? [])
  return family
}

/** Processor time of the whole machine so far, µs. `stolen`: given to other guests by the hypervisor. */
export interface MachineMicros {
  readonly busy: number
  readonly stolen: number
}

/** Reads the text of /proc/stat. */
export const parseMachineStat = (text: string): MachineMicros => {
  const line = text.slice(0, text.indexOf("\n")).trim().split(/\s+/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0, stolen = 0] = line
  return { busy: (user + nice + system + interrupt + softInterrupt) * microsPerTick, stolen: stolen * microsPerTick }
}

export const machineMicros = (): MachineMicros => parseMachineStat(readFileSync("/proc/stat", "utf8"))
