import { Context, Effect, Layer, Metric } from "effect"

/** From 0.25 milliseconds to 8 seconds. */
const duration = Metric.histogram("http_request_duration_seconds", {
  description: "Time to answer a request, by route and status",
  boundaries: Metric.exponentialBoundaries({ start: 0.000_25, factor: 2, count: 17 })
})

/** Other methods are counted together: a name is the caller's to choose. */
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

/**
 * Durations of requests: one histogram per route, method and status. A route is the path with its parameters' names, `none` for all paths
 * that are no route, so that the number of series is bounded.
 */
export class RequestMetrics extends Context.Service<RequestMetrics, {
  /** `nanoseconds` is the time from the first byte to the answer. */
  readonly observe: (method: string, route: string, status: number, nanoseconds: bigint) => void
}>()("pitboss/http/RequestMetrics") {
  static readonly layer = Layer.effect(
    RequestMetrics,
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => {
        /** By route, and then by status and method in one number. */
        const routes = new Map<string, Map<number, typeof duration>>()
        return {
          observe: (method, route, status, nanoseconds) => {
            let series = routes.get(route)
            if (series === undefined) routes.set(route, series = new Map())
            const known = methods.indexOf(method)
            const name = status * 8 + known + 1
            let histogram = series.get(name)
            if (histogram === undefined) {
              histogram = Metric.withAttributes(duration, {
                method: methods[known] ?? "other",
                route,
                status: String(status)
              })
              series.set(name, histogram)
            }
            histogram.updateUnsafe(Number(nanoseconds) / 1e9, context)
          }
        }
      })
    )
  )
}
