import { Context, Layer } from "effect"
import { doubling, type Family, Histogram } from "../platform/Measures.ts"

/** 0.25 milliseconds to 8 seconds. */
const bounds = doubling(0.000_25, 16)

/** Other methods are counted together: a name is the caller's to choose. */
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

/**
 * How long requests take, for `/metrics`: one histogram per route, method and status. A route is the path with its parameters' names,
 * `none` for all paths that are no route, so that there are as many as the service has and no more.
 */
export class RequestMetrics extends Context.Service<RequestMetrics, {
  /** `nanoseconds` is the time from the first byte to the answer. */
  readonly observe: (method: string, route: string, status: number, nanoseconds: bigint) => void
  readonly family: () => Family
}>()("pitboss/http/RequestMetrics") {
  static readonly layer = Layer.sync(RequestMetrics, () => {
    /** By route, and then by status and method in one number. */
    const routes = new Map<string, Map<number, Histogram>>()
    return {
      observe: (method, route, status, nanoseconds) => {
        let histograms = routes.get(route)
        if (histograms === undefined) routes.set(route, histograms = new Map())
        const name = status * 8 + methods.indexOf(method) + 1
        let histogram = histograms.get(name)
        if (histogram === undefined) histograms.set(name, histogram = new Histogram(bounds))
        histogram.observe(Number(nanoseconds) / 1e9)
      },
      family: () => ({
        type: "histogram",
        name: "pitboss_http_request_duration_seconds",
        help: "Time to answer a request, by route and status.",
        samples: [...routes].flatMap(([route, histograms]) =>
          [...histograms].map(([name, histogram]) =>
            [{ method: methods[name % 8 - 1] ?? "other", route, status: String(name >> 3) }, histogram] as const
          )
        )
      })
    }
  })
}
