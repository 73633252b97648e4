/** Metrics of the process and of its event loop, under the standard names of Node.js services. */
import { Effect, Metric, Schema, type Scope } from "effect"
import { constants, monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import { makeGaugeFamily, registerCounter, registerGauge, updaterOf } from "./Metrics.ts"
import { version } from "./Version.ts"

/** Sampling interval of the event loop's delay, in milliseconds. */
const resolution = 10

const buildInfo = Metric.gauge("build_info", {
  description: "Release of the running service, as a label; always 1",
  attributes: { version, node: process.version }
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

const collectionSeconds = (attributes: Metric.Metric.AttributeSet) =>
  Metric.histogram("nodejs_gc_duration_seconds", {
    description: "Time of a garbage collection, by kind",
    boundaries: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    attributes
  })

/** By the number that Node.js gives each kind. */
const collectionsByKind = new Map(
  ([
    [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
    [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
    [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
    [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"]
  ] as const).map(([number, kind]) => {
    const attributes = { kind }
    return [number, collectionSeconds(attributes)] as const
  })
)

const isCollection = Schema.is(
  Schema.Struct({ duration: Schema.Number, detail: Schema.Struct({ kind: Schema.Number }) })
)

/** Observes garbage collections until the scope closes. */
const observeCollections: Effect.Effect<void, never, Scope.Scope> = Effect.contextWith((context) => {
  const updaters = new Map([...collectionsByKind].map(([kind, metric]) => [kind, updaterOf(metric, context)]))
  return Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          if (isCollection(entry)) updaters.get(entry.detail.kind)?.(entry.duration / 1000)
        }
      })
      observer.observe({ entryTypes: ["gc"] })
      return observer
    }),
    (observer) => Effect.sync(() => observer.disconnect())
  ))
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
  yield* observeCollections
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
