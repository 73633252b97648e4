/** Spans of requests, in the caller's trace when a W3C `traceparent` was sent. */
import { Context, Effect, type Exit, Option, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"
import { Traced } from "../platform/Tracing.ts"

interface TracedRequest {
  readonly method: string
  readonly traceparent: string | undefined
  readonly id: string
}

export interface RequestTraces {
  readonly around: <A, E, R>(request: TracedRequest, handled: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** As `around`, for effects that fail with refusals; `statusOf` gives the response status. */
  readonly aroundAnswer: <A, E, R>(
    request: TracedRequest,
    route: string,
    handled: Effect.Effect<A, E, R>,
    statusOf: (exit: Exit.Exit<A, E>) => number
  ) => Effect.Effect<A, E, R>
}

const setStatusOf = (span: Tracer.AnySpan | undefined, status: number): void => {
  if (span?._tag !== "Span") return
  span.attribute("http.response.status_code", status)
  if (status >= 500) span.attribute("error.type", String(status))
}

/** Adds status and route to the span of a request, known only after routing. */
export const recordAnswer = (context: Context.Context<never>, method: string, route: string, status: number): void => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  setStatusOf(span, status)
  if (span?._tag !== "Span" || route === "none") return
  span.attribute("http.route", route)
  Object.assign(span, { name: `${method} ${route}` })
}

const optionsOf = ({ id, method, traceparent }: TracedRequest): Tracer.SpanOptionsNoTrace => {
  const parent = traceparent === undefined
    ? undefined
    : Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })))
  return {
    kind: "server",
    ...(parent === undefined ? { root: true } : { parent }),
    attributes: { "http.request.method": method, "pitboss.request_id": id }
  }
}

/** Undefined when traces are disabled. */
export const makeRequestTraces: Effect.Effect<RequestTraces | undefined> = Effect.map(
  Effect.service(Traced),
  (isTraced) =>
    isTraced
      ? {
        around: (request, handled) => Effect.withSpan(handled, request.method, optionsOf(request)),
        aroundAnswer: (request, route, handled, statusOf) =>
          Effect.flatten(Effect.withSpan(
            Effect.tap(Effect.exit(handled), (exit) =>
              Effect.contextWith((context: Context.Context<never>) =>
                Effect.sync(() => recordAnswer(context, request.method, route, statusOf(exit)))
              )),
            request.method,
            optionsOf(request)
          ))
      }
      : undefined
)
