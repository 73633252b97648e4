import type { LatencySummary } from "../load/Latency.ts"
import type { Machine } from "./Machine.ts"
import { renderTable } from "./Table.ts"

/** One case under one number of connections. */
export interface ReadLatency extends LatencySummary {
  readonly connections: number
  readonly repetitions: number
  readonly per_second: number
  /** Processor time of the service and of PostgreSQL per read: what others do on the machine changes it little. */
  readonly service_ms: number
  readonly postgres_ms: number
  /** Share of the machine that others took meanwhile. */
  readonly foreign_share: number
}

export interface ReadMeasurement {
  readonly name: string
  readonly target_ms: number | undefined
  readonly latencies: ReadonlyArray<ReadLatency>
}

/** Whether a target is met: by p50 and by p99. Undefined where there is none. */
export const verdict = (target_ms: number | undefined, { p99_ms }: LatencySummary): boolean | undefined =>
  target_ms === undefined ? undefined : p99_ms <= target_ms

const milliseconds = (value: number): string => value.toFixed(value < 10 ? 2 : 1)

const told = (met: boolean | undefined): string => met === undefined ? "" : met ? "pass" : "FAIL"

/** The result as it is printed at the end: where, how, and a row per case. */
export const renderReads = (
  measurements: ReadonlyArray<ReadMeasurement>,
  machine: Machine,
  settings: Readonly<Record<string, string>>
): string => {
  const connections = measurements[0]?.latencies.map((latency) => latency.connections) ?? []
  const header = [
    "read",
    "target ms",
    ...connections.flatMap((count) => [
      `${count} conn.: p50 ms`,
      "p99 ms",
      "reads/s",
      "CPU ms: service",
      "PostgreSQL",
      "foreign load",
      "verdict"
    ])
  ]
  const rows = measurements.map(({ latencies, name, target_ms }) => [
    name,
    target_ms === undefined ? "" : String(target_ms),
    ...latencies.flatMap((latency) => [
      milliseconds(latency.p50_ms),
      milliseconds(latency.p99_ms),
      latency.per_second.toFixed(0),
      milliseconds(latency.service_ms),
      milliseconds(latency.postgres_ms),
      `${Math.round(latency.foreign_share * 100)}%`,
      told(verdict(target_ms, latency))
    ])
  ])
  return [
    `${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.kernel}, Node.js ${machine.node}`,
    `database on ${machine.filesystem}, ${machine.sync_us} µs per synced write, load before ` +
    machine.load_before.toFixed(2),
    Object.entries(settings).map(([name, value]) => `${name}=${value}`).join("  "),
    "",
    renderTable(header, rows)
  ].join("\n")
}
