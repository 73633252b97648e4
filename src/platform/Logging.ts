/**
 * Log: human-readable on a terminal, otherwise one JSON object per line on standard output. The request and the player of a line are read from the
 * fiber that writes it, so that a request without log lines has no overhead.
 */
import { Cause, type Context, Effect, Layer, Logger, Metric, References } from "effect"
import { registerCounter } from "./Metrics.ts"
import { standardOutput } from "./Output.ts"
import { Settings } from "./Settings.ts"
import { isObject } from "./Table.ts"

/** Fields of a line besides its message, from the context of its fiber. */
export type LogFields = (context: Context.Context<never>) => { readonly [name: string]: unknown }

/** Removes personal data and secrets from foreign texts: a database quotes rejected values, a defect anything. */
const scrub = (text: string): string =>
  text
    .replaceAll(/[\w.+%-]+@[\w-]+(\.[\w-]+)+/g, "<e-mail>")
    .replaceAll(/\b(pt|gs|pbs|sk_live|sk_test|ps_live|whsec)_[A-Za-z0-9_+/=-]{8,}/g, "$1_<secret>")
    .replaceAll(/(postgres(?:ql)?:\/\/[^:@/\s]+:)[^@\s]+@/g, "$1<secret>@")
    .replaceAll(/(Bearer )[^\s",}]+/g, "$1<secret>")
    // values of a duplicate or missing key
    .replaceAll(/(Key \([^)]*\)=)\([^)]*\)/g, "$1(<value>)")

/** SQLSTATE classes whose messages quote row values: data exceptions, and messages of triggers. */
const quoting = /^(22|P0)/

const messageOf = (error: Error): string => {
  const code = "code" in error ? String(error.code) : ""
  return `${error.name}: ${quoting.test(code) ? `SQLSTATE ${code}` : error.message}`
}

/** Stack frames of the service, or the first foreign ones if there are none. */
const framesOf = ({ stack }: Error): string => {
  const frames = (stack ?? "").split("\n").filter((line) => line.startsWith("    at "))
  const ownFrames = frames.filter((line) => !line.includes("node_modules") && !line.includes("(node:"))
  return (ownFrames.length > 0 ? ownFrames : frames).slice(0, 8).map((line) => `\n${line}`).join("")
}

/** Error text with its frames, without the values that caused it. */
const errorText = (error: unknown, depth = 0): string => {
  if (!(error instanceof Error)) return tagOf(error)
  const { cause } = error
  const reason = "reason" in error && isObject(error.reason) && "cause" in error.reason ? error.reason.cause : undefined
  const within = [cause, reason].find((one) => one instanceof Error && one !== error)
  return messageOf(error) + framesOf(error) +
    (within === undefined || depth > 3 ? "" : `\ncaused by ${errorText(within, depth + 1)}`)
}

/** For a value that is not an error: a refusal's code, otherwise its tag or type. */
const tagOf = (value: unknown): string => {
  if (!isObject(value)) return typeof value
  if ("code" in value) return String(value.code)
  return "_tag" in value ? String(value._tag) : "an object"
}

const causeText = (cause: Cause.Cause<unknown>): string =>
  cause.reasons.map((reason) =>
    Cause.isFailReason(reason)
      ? errorText(reason.error)
      : Cause.isDieReason(reason)
      ? errorText(reason.defect)
      : "interrupted"
  ).join("\n")

/** One line, without its terminator. */
const lineOf = (options: Logger.Options<unknown>, fieldsOf: LogFields): string => {
  const { cause, date, fiber, logLevel, message } = options
  const parts = Array.isArray(message) ? message : [message]
  const words = parts.filter((part) => !Cause.isCause(part))
  const causes = [cause, ...parts.filter((part) => Cause.isCause(part))].filter(({ reasons }) => reasons.length > 0)
  return scrub(JSON.stringify({
    timestamp: date.toISOString(),
    level: logLevel.toLowerCase(),
    message: words.map((part) => typeof part === "string" ? part : JSON.stringify(part)).join(" "),
    ...fieldsOf(fiber.context),
    ...fiber.getRef(References.CurrentLogAnnotations),
    ...(causes.length === 0 ? undefined : { cause: causes.map(causeText).join("\n") })
  }))
}

/** A logger of JSON lines. */
export const jsonLines = (fieldsOf: LogFields, write: (line: string) => void): Logger.Logger<unknown, void> =>
  Logger.make((options) => write(lineOf(options, fieldsOf)))

const dropped = Metric.counter("log_lines_dropped_total", {
  description: "Log lines that could not be written: the disk is full, or the reader takes nothing",
  incremental: true
})

/** Logger of the service, at the configured level. */
export const layerLogging = (fieldsOf: LogFields) =>
  Layer.unwrap(Effect.map(Settings, ({ logLevel }) =>
    Layer.mergeAll(
      Logger.layer([
        standardOutput.isTerminal
          ? Logger.consolePretty()
          : jsonLines(fieldsOf, (line) => standardOutput.offer(line + "\n"))
      ]),
      Layer.effectDiscard(registerCounter(dropped, standardOutput.dropped)),
      Layer.succeed(References.MinimumLogLevel, logLevel)
    )))
