/** What the process takes of the machine, and how long its event loop keeps others waiting. Names are those that Node.js services have. */
import { Effect } from "effect"
import { createRequire } from "node:module"
import { type Histogram, monitorEventLoopDelay } from "node:perf_hooks"
import type { Family, Labels } from "./Measures.ts"

/** How often the event loop is looked at, in milliseconds. */
const resolution = 10

const { version } = createRequire(import.meta.url)("../../package.json")

const gauge = (name: string, help: string, value: number, labels: Labels = {}): Family => ({
  type: "gauge",
  name,
  help,
  samples: [[labels, value]]
})

const counter = (name: string, help: string, value: number): Family => ({
  type: "counter",
  name,
  help,
  samples: [[{}, value]]
})

/** A late timer is late by what it took beyond its interval. */
const lagSeconds = (nanoseconds: number): number =>
  Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolution / 1000) : 0

const lagFamilies = (delay: Histogram): ReadonlyArray<Family> => [
  {
    type: "gauge",
    name: "nodejs_eventloop_lag_seconds",
    help: "How late the event loop came to its timers since the metrics were read last, by quantile.",
    samples: [
      [{ quantile: "0.5" }, lagSeconds(delay.percentile(50))],
      [{ quantile: "0.99" }, lagSeconds(delay.percentile(99))],
      [{ quantile: "1" }, lagSeconds(delay.max)]
    ]
  }
]

/** Measures from now on, until the scope closes; each reading gives how things stand. */
export const makeProcessMeasures = Effect.gen(function*() {
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  return (): ReadonlyArray<Family> => {
    const cpu = process.cpuUsage()
    const memory = process.memoryUsage()
    const lag = lagFamilies(delay)
    delay.reset()
    return [
      gauge("pitboss_build_info", "The release that runs; always 1.", 1, {
        version: String(version),
        node: process.version
      }),
      counter(
        "process_cpu_seconds_total",
        "Processor time of the process, user and system.",
        (cpu.user + cpu.system) / 1e6
      ),
      gauge("process_start_time_seconds", "When the process began, Unix time.", performance.timeOrigin / 1000),
      gauge("process_resident_memory_bytes", "Memory of the process.", memory.rss),
      gauge("nodejs_heap_size_used_bytes", "Memory of JavaScript objects.", memory.heapUsed),
      gauge("nodejs_heap_size_total_bytes", "Memory that JavaScript has taken.", memory.heapTotal),
      gauge("nodejs_external_memory_bytes", "Memory of buffers.", memory.external),
      ...lag
    ]
  }
})
