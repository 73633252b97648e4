import { Context, Effect, Layer, Metric } from "effect"

const duration = Metric.histogram("http_request_duration_seconds", {
  description: "Time to answer a request, by route and status.",
  boundaries: Metric.exponentialBoundaries({ start: 0.000_25, factor: 2, count: 16 })
})

/** How long requests take, for `/metrics`. One histogram per method, route and status. */
export class RequestMetrics extends Context.Service<RequestMetrics, {
  /** `route` is the path with its parameters' names, `nanoseconds` the time from the first byte to the answer. */
  readonly observe: (method: string, route: string, status: number, nanoseconds: bigint) => void
}>()("pitboss/http/RequestMetrics") {
  static readonly layer = Layer.effect(
    RequestMetrics,
    Effect.contextWith((context: Context.Context<never>) => {
      const histograms = new Map<string, typeof duration>()
      return Effect.succeed(RequestMetrics.of({
        observe: (method, route, status, nanoseconds) => {
          const name = `${status} ${method} ${route}`
          let histogram = histograms.get(name)
          if (histogram === undefined) {
            histogram = Metric.withAttributes(duration, { method, route, status: String(status) })
            histograms.set(name, histogram)
          }
          histogram.updateUnsafe(Number(nanoseconds) / 1e9, context)
        }
      }))
    })
  )
}
