/** Answers in one write: head and body as one text, made without Node.js's own head (`docs/decisions/0041-one-way-through-http.md`). */
import { Cause, Clock, Effect } from "effect"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import { Drain } from "./Drain.ts"

/** Idle time of a kept connection. Longer than the minute that load balancers usually keep one: they let go first. */
export const keepAliveMs = 75_000

const connectionLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n\r\n`

/**
 * Writes an answer, unless the caller has gone. `lines`: its header lines, each with its line end, without length, date and connection.
 */
export type WriteAnswer = (
  source: IncomingMessage,
  target: ServerResponse,
  status: number,
  lines: string,
  /** Undefined for an answer without one. */
  body: string | undefined
) => void

/** Runs what answers a request outside a fiber: a defect is logged and closes the connection, and reaches no other request. */
export type Contain = (target: ServerResponse, work: () => void) => void

export const makeContain: Effect.Effect<Contain> = Effect.map(Effect.context<never>(), (context) => {
  const fork = Effect.runForkWith(context)
  return (target, work) => {
    try {
      work()
    } catch (defect) {
      fork(Effect.logError("answer failed", Cause.die(defect)))
      target.destroy()
    }
  }
})

const close = ["connection", "close"]

/** Names and values in turn, as `writeHead` takes them. */
const pairsOf = (lines: string): Array<string> =>
  lines.split("\r\n").slice(0, -1).flatMap((line) => {
    const at = line.indexOf(": ")
    return [line.slice(0, at), line.slice(at + 2)]
  })

export const makeWriteAnswer: Effect.Effect<WriteAnswer, never, Drain> = Effect.gen(function*() {
  const drain = yield* Drain
  const clock = yield* Clock.Clock
  let second = -1
  let date = ""

  const dateLine = (): string => {
    const now = clock.currentTimeMillisUnsafe()
    const current = Math.floor(now / 1000)
    if (current !== second) {
      second = current
      date = `Date: ${new Date(now).toUTCString()}\r\n`
    }
    return date
  }

  return (source, target, status, lines, body) => {
    if (target.destroyed) return
    if (body === undefined) {
      target.writeHead(status, [...pairsOf(lines), ...drain.isDraining() ? close : []]).end()
      return
    }
    const length = Buffer.byteLength(body)
    const isDraining = drain.isDraining()
    if (target.shouldKeepAlive && source.httpVersionMinor === 1 && source.method !== "HEAD" && !isDraining) {
      target.statusCode = status
      // what `writeHead` would make of the same headers: Node.js sends it with the first bytes of the body
      Object.assign(target, {
        _header: `HTTP/1.1 ${status} ${
          STATUS_CODES[status] ?? ""
        }\r\n${lines}content-length: ${length}\r\n${dateLine()}${connectionLines}`
      })
    } else {
      target.writeHead(status, [
        ...pairsOf(lines),
        "content-length",
        String(length),
        ...isDraining ? close : []
      ])
    }
    // most bodies are ASCII, which is the same bytes in Latin-1 and need not be encoded
    target.end(body, length === body.length ? "latin1" : "utf8")
  }
})
