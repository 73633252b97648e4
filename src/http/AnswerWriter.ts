/** Writes the head and body of a response as one string, without Node.js's header code (`docs/decisions/0041-one-way-through-http.md`). */
import { Cause, Clock, Effect } from "effect"
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import { Drain } from "./Drain.ts"

/** Keep-alive time-out. Longer than the usual minute of load balancers, so that they close first. */
export const keepAliveMs = 75_000

const connectionLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1000}\r\n\r\n`

/**
 * Writes an answer unless the caller has disconnected. `lines`: header lines with line ends, except length, date and connection.
 */
export type WriteAnswer = (
  source: IncomingMessage,
  target: ServerResponse,
  status: number,
  lines: string,
  /** Undefined for an answer without a body. */
  body: string | undefined
) => void

/** Runs code that answers a request outside a fiber: a defect is logged, closes the connection and affects no other request. */
export type Contain = (target: ServerResponse, work: () => void) => void

export const makeContain: Effect.Effect<Contain> = Effect.map(Effect.context<never>(), (context) => {
  const fork = Effect.runForkWith(context)
  return (target, work) => {
    try {
      work()
    } catch (defect) {
      fork(Effect.logError("response callback threw", Cause.die(defect)))
      target.destroy()
    }
  }
})

const close = ["connection", "close"]

/** Alternating names and values, the form of `writeHead`. */
const pairsOf = (lines: string): Array<string> =>
  lines.split("\r\n").slice(0, -1).flatMap((line) => {
    const at = line.indexOf(": ")
    return [line.slice(0, at), line.slice(at + 2)]
  })

export const makeWriteAnswer: Effect.Effect<WriteAnswer, never, Drain> = Effect.gen(function*() {
  const drain = yield* Drain
  const clock = yield* Clock.Clock
  // Kept: second, date. The header `Date` of this second. Several nodes: its own.
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
      // as `writeHead` would build it; Node.js sends it with the first bytes of the body
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
    // most bodies are ASCII: the same bytes in Latin-1, which needs no encoding
    target.end(body, length === body.length ? "latin1" : "utf8")
  }
})
