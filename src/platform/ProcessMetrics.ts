/** Metrics of the process and of its event loop, under the standard names of Node.js services. */
import { Effect, Metric, type Scope } from "effect"
import { createRequire } from "node:module"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { makeGaugeFamily, registerCounter, registerGauge } from "./Metrics.ts"

/** Sampling interval of the event loop's delay, in milliseconds. */
const resolution = 10

/** Version of this release. */
export const release = String(createRequire(import.meta.url)("../../package.json").version)

const buildInfo = Metric.gauge("build_info", {
  description: "Release of the running service, as a label; always 1",
  attributes: { version: release, node: process.version }
})
const cpuSeconds = Metric.counter("process_cpu_seconds_total", {
  description: "Processor time of the process, user and system",
  incremental: true
})
const startTime = Metric.gauge("process_start_time_seconds", { description: "Start of the process, Unix time" })
const residentMemory = Metric.gauge("process_resident_memory_bytes", { description: "Memory of the process" })
const heapUsed = Metric.gauge("nodejs_heap_size_used_bytes", { description: "Used size of the JavaScript heap" })
const heapTotal = Metric.gauge("nodejs_heap_size_total_bytes", { description: "Total size of the JavaScript heap" })
const external = Metric.gauge("nodejs_external_memory_bytes", { description: "Memory of buffers" })
const eventLoopLag = Metric.gauge("nodejs_eventloop_lag_seconds", {
  description: "Delay of the event loop's timers since the last scrape, by percentile"
})

/** Timer delay in seconds beyond the sampling interval. */
const lagSeconds = (nanoseconds: number): number =>
  Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e9 - resolution / 1000) : 0

/** Exports them until the scope closes. Returns the effect that updates the event loop's delay, to be run before each scrape. */
export const registerProcessMetrics: Effect.Effect<Effect.Effect<void>, never, Scope.Scope> = Effect.gen(function*() {
  yield* registerGauge(buildInfo, () => 1)
  yield* registerCounter(cpuSeconds, () => {
    const { system, user } = process.cpuUsage()
    return (user + system) / 1e6
  })
  yield* registerGauge(startTime, () => performance.timeOrigin / 1000)
  yield* registerGauge(residentMemory, () => process.memoryUsage.rss())
  yield* registerGauge(heapUsed, () => process.memoryUsage().heapUsed)
  yield* registerGauge(heapTotal, () => process.memoryUsage().heapTotal)
  yield* registerGauge(external, () => process.memoryUsage().external)
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  )
  const setLag = makeGaugeFamily(eventLoopLag)
  return Effect.suspend(() => {
    const [median, p99, all] = [delay.percentile(50), delay.percentile(99), delay.max].map(lagSeconds)
    delay.reset()
    return setLag([[{ percentile: "50" }, median ?? 0], [{ percentile: "99" }, p99 ?? 0], [
      { percentile: "100" },
      all ?? 0
    ]])
  })
})
