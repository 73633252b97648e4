/** Durations of requests: one histogram per route, method and status. */
import { Context, Effect, Layer, Metric } from "effect"
import { updaterOf } from "../platform/Metrics.ts"

/** Histogram boundaries in seconds, from 0.25 ms. */
const boundaries = Metric.exponentialBoundaries({ start: 0.000_25, factor: 2, count: 17 })

const durationOf = (attributes: Metric.Metric.AttributeSet) =>
  Metric.histogram("http_request_duration_seconds", {
    description: "Time to answer a request, by route and status",
    boundaries,
    attributes
  })

/** Other methods share one label: callers may invent names. */
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

/**
 * The route of a series is the path template, `none` for all unknown paths, so that the number of series is bounded.
 */
export class RequestMetrics extends Context.Service<RequestMetrics, {
  /** `nanoseconds` is the time from the first byte to the answer. */
  readonly observe: (method: string, route: string, status: number, nanoseconds: bigint) => void
}>()("pitboss/http/RequestMetrics") {
  static readonly layer = Layer.effect(
    RequestMetrics,
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => {
        // Kept: routes. Series of the metrics. Several nodes: its own: metrics are of a node.
        /** By route, then by a number that combines status and method. */
        const routes = new Map<string, Map<number, (seconds: number) => void>>()
        return {
          observe: (method, route, status, nanoseconds) => {
            let series = routes.get(route)
            if (series === undefined) routes.set(route, series = new Map())
            const known = methods.indexOf(method)
            const name = status * 8 + known + 1
            let observe = series.get(name)
            if (observe === undefined) {
              const attributes = { method: methods[known] ?? "other", route, status: String(status) }
              observe = updaterOf(durationOf(attributes), context)
              series.set(name, observe)
            }
            observe(Number(nanoseconds) / 1e9)
          }
        }
      })
    )
  )
}
