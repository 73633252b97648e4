/**
 * OpenTelemetry traces, enabled by the standard `OTEL_` variables (`docs/operations.md`, "Traces"); no spans are created while disabled.
 *
 * A span holds names, ids and outcomes only: for a failure its code or the error's name, never its message, which may quote a value.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Cause, Config, Context, Effect, Exit, Layer, Option, Random, References, Tracer } from "effect"
import { HttpClient, HttpClientError } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import { isObject } from "./Table.ts"
import { StartupError } from "./StartupError.ts"

/** Whether spans are created. Hot paths read it once, when they are built. */
export const Traced = Context.Reference<boolean>("pitboss/platform/Traced", { defaultValue: () => false })

interface Sampler {
  /** Whether a trace that begins here is exported. */
  readonly root: () => boolean
  /** Whether a trace that began elsewhere under this id is exported. */
  readonly remote: (traceId: string, isSampled: boolean) => boolean
}

interface TracingSettings {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly isJson: boolean
  /** Time-out of the collector. */
  readonly timeoutMs: number
  readonly sampler: Sampler
  readonly serviceName: string
  readonly attributes: { readonly [name: string]: string }
}

const text = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.map((given) => Option.getOrElse(given, () => "").trim()),
    Effect.mapError(() => new StartupError({ message: `${name} cannot be read` }))
  )

/** The first of the variables that is set. */
const firstOf = (...names: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(names, text), (found) => found.find((one) => one !== "") ?? "")

const wrong = (name: string, expected: string) => new StartupError({ message: `${name} must be ${expected}` })

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part.trim())
  } catch {
    return undefined
  }
}

/** Parses `key=value,key2=value2`, percent-encoded; undefined when malformed. */
const pairsOf = (list: string): { readonly [name: string]: string } | undefined => {
  const pairs: Array<readonly [string, string]> = []
  for (const part of list.split(",").filter((one) => one.trim() !== "")) {
    const at = part.indexOf("=")
    const [key, value] = [decoded(part.slice(0, Math.max(0, at))), decoded(part.slice(at + 1))]
    if (at <= 0 || key === undefined || key === "" || value === undefined) return undefined
    pairs.push([key, value])
  }
  return Object.fromEntries(pairs)
}

/** The last 13 digits of a trace id as a number from 0 to 1: the same decision in every service. */
const fractionOf = (traceId: string): number => Number.parseInt(traceId.slice(-13), 16) / 16 ** 13

const samplerOf = (name: string, ratio: number, random: Random.Random): Sampler | undefined => {
  const byChance = () => random.nextDoubleUnsafe() < ratio
  switch (name) {
    case "always_on":
      return { root: () => true, remote: () => true }
    case "always_off":
      return { root: () => false, remote: () => false }
    case "traceidratio":
      return { root: byChance, remote: (traceId) => fractionOf(traceId) < ratio }
    case "":
    case "parentbased_always_on":
      return { root: () => true, remote: (_, isSampled) => isSampled }
    case "parentbased_always_off":
      return { root: () => false, remote: (_, isSampled) => isSampled }
    case "parentbased_traceidratio":
      return { root: byChance, remote: (_, isSampled) => isSampled }
    default:
      return undefined
  }
}

/** Undefined while traces are disabled. */
const load: Effect.Effect<TracingSettings | undefined, StartupError> = Effect.gen(function*() {
  const exporter = yield* text("OTEL_TRACES_EXPORTER")
  if (exporter !== "" && exporter !== "otlp" && exporter !== "none") {
    return yield* wrong("OTEL_TRACES_EXPORTER", "otlp or none")
  }
  const own = yield* text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
  const common = yield* text("OTEL_EXPORTER_OTLP_ENDPOINT")
  const isDisabled = (yield* text("OTEL_SDK_DISABLED")).toLowerCase() === "true"
  if (isDisabled || exporter === "none" || (own === "" && common === "")) return undefined
  const url = own === "" ? `${common.replace(/\/$/, "")}/v1/traces` : own
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    return yield* wrong(
      own === "" ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
      "an http or https address"
    )
  }
  const protocol = yield* firstOf("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
  if (!["", "http/protobuf", "http/json"].includes(protocol)) {
    return yield* wrong("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf or http/json")
  }
  const headers = pairsOf(yield* firstOf("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"))
  if (headers === undefined) return yield* wrong("OTEL_EXPORTER_OTLP_HEADERS", "a list like key=value,other=value")
  const attributes = pairsOf(yield* text("OTEL_RESOURCE_ATTRIBUTES"))
  if (attributes === undefined) return yield* wrong("OTEL_RESOURCE_ATTRIBUTES", "a list like key=value,other=value")
  const time = yield* firstOf("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
  const timeoutMs = time === "" ? 10_000 : Number(time)
  if (!(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= 60_000)) {
    return yield* wrong("OTEL_EXPORTER_OTLP_TIMEOUT", "a number of milliseconds from 1 to 60000")
  }
  const argument = yield* text("OTEL_TRACES_SAMPLER_ARG")
  const ratio = argument === "" ? 1 : Number(argument)
  if (!(ratio >= 0 && ratio <= 1)) return yield* wrong("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1")
  const sampler = samplerOf(yield* text("OTEL_TRACES_SAMPLER"), ratio, yield* Random.Random)
  if (sampler === undefined) {
    return yield* wrong(
      "OTEL_TRACES_SAMPLER",
      "one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio"
    )
  }
  const serviceName = (yield* text("OTEL_SERVICE_NAME")) || (attributes["service.name"] ?? "pitboss")
  return { url, headers, isJson: protocol === "http/json", timeoutMs, sampler, serviceName, attributes }
})

/** Requests, jobs and deliveries begin traces; the service's own polling does not. */
const isEntry = ({ kind, name }: { readonly kind: Tracer.SpanKind; readonly name: string }): boolean =>
  kind === "server" || name.startsWith("job ") || name.startsWith("webhook ")

/** Failure with a name and no message. */
class NamedFailure extends Error {
  constructor(name: string) {
    super(name)
    this.name = name
    this.stack = name
  }
}

const nameOf = (error: unknown): string => {
  if (!isObject(error)) return typeof error
  if ("_tag" in error && error._tag === "Refusal" && "code" in error) return String(error.code)
  if ("_tag" in error) return String(error._tag)
  return error instanceof Error ? error.name : "an object"
}

/** Exit of a span: for a failure its code, tag or name. An answer with an error status counts as failed. */
const spanExit = ({ attributes }: Tracer.Span, exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) {
    const error = attributes.get("error.type")
    return typeof error === "string" ? Exit.die(new NamedFailure(error)) : exit
  }
  return Cause.hasInterruptsOnly(exit.cause) ? exit : Exit.die(new NamedFailure(nameOf(Cause.squash(exit.cause))))
}

/** Restricts a tracer to sampled traces. */
const sampled = (inner: Tracer.Tracer, sampler: Sampler): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const parent = Option.getOrUndefined(options.parent)
      const span = inner.span({
        ...options,
        sampled: parent === undefined
          ? isEntry(options) && sampler.root()
          : parent._tag === "ExternalSpan"
          ? sampler.remote(parent.traceId, parent.sampled)
          : parent.sampled
      })
      const end = span.end.bind(span)
      if (!span.sampled) return span
      return Object.assign(span, {
        end: (at: bigint, exit: Exit.Exit<unknown, unknown>) => end(at, spanExit(span, exit))
      })
    }
  })

/** Concurrent export requests of a thousand spans each. Above it the exporter pauses for a minute and drops spans. */
const maxSending = 8

/** Bounds the requests pending on a slow or unresponsive collector. */
const boundedClient = (timeoutMs: number) => (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  let sending = 0
  return HttpClient.transform(client, (send, request) =>
    Effect.suspend(() => {
      if (sending >= maxSending) {
        const reason = new HttpClientError.EncodeError({ request, description: "too many requests are pending" })
        return Effect.fail(new HttpClientError.HttpClientError({ reason }))
      }
      sending++
      return send.pipe(
        // reads the whole answer: its end may be as late as its beginning
        Effect.tap((response) => Effect.ignore(response.arrayBuffer)),
        Effect.timeoutOrElse({
          duration: timeoutMs,
          orElse: () =>
            Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({ request, description: "no answer in time" })
              })
            )
        }),
        Effect.ensuring(Effect.sync(() => sending--))
      )
    }))
}

/** Traces as configured. Pending spans are sent when the layer closes, within two seconds. */
export const layerTracing = Layer.unwrap(Effect.gen(function*() {
  const settings = yield* load
  if (settings === undefined) return Layer.succeed(References.TracerEnabled, false)
  const { attributes, headers, isJson, sampler, serviceName, timeoutMs, url } = settings
  const client = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, boundedClient(timeoutMs)))
  const exported = Layer.effect(
    Tracer.Tracer,
    Effect.map(
      OtlpTracer.make({ url, headers, resource: { serviceName, attributes }, shutdownTimeout: "2 seconds" }),
      (inner) => sampled(inner, sampler)
    )
  )
  return Layer.merge(exported, Layer.succeed(Traced, true)).pipe(Layer.provide([
    OtlpExporter.layerFlusher,
    isJson ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf,
    Layer.provide(client, NodeHttpClient.layerUndici)
  ]))
}))
