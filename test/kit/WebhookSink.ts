/** Webhook receiver for tests: records requests and answers as configured. */
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import * as Http from "node:http"
import { listening } from "./Listening.ts"

export interface Received {
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: string
}

/** `hang` never answers. */
export type Reply = number | "hang" | ((response: Http.ServerResponse) => void)

export interface Sink {
  readonly url: string
  readonly port: number
  readonly received: Array<Received>
  /** Answer to the next requests. */
  answer: (received: Received, index: number) => Reply
  /** Waits until so many have come. */
  readonly arrived: (count: number) => Effect.Effect<void>
  /** How many connections were made to it. */
  readonly connections: () => number
  /** Closes hanging connections. */
  readonly cut: () => void
}

/** Waits, in real time, until something holds. */
export const soon = (holds: () => boolean): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setInterval(() => {
      if (!holds()) return
      clearInterval(timer)
      resume(Effect.void)
    }, 5)
    return Effect.sync(() => clearInterval(timer))
  })

/** A sink at a free port of the loopback, until the scope closes. */
export const makeSink = Effect.fnUntraced(function*(answer: Sink["answer"] = () => 200) {
  let connections = 0
  const server = Http.createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const received = {
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8")
      }
      const reply = sink.answer(received, sink.received.push(received) - 1)
      if (reply === "hang") return
      if (typeof reply === "number") response.writeHead(reply).end("thank you")
      else reply(response)
    })
  })
  server.on("connection", () => connections++)
  const port = yield* listening(server, () => server.closeAllConnections())
  const sink: Sink = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received: [],
    answer,
    arrived: (count) => soon(() => sink.received.length >= count),
    connections: () => connections,
    cut: () => server.closeAllConnections()
  }
  return sink
})

/** The signature that a secret gives a message, put together from the words of the specification. */
export const expectedSignature = (secret: string, { body, headers }: Received): string =>
  createHmac("sha256", Buffer.from(secret, "utf8"))
    .update(Buffer.concat([Buffer.from(String(headers["x-service-timestamp"])), Buffer.from("."), Buffer.from(body)]))
    .digest("hex")

/** Asks again, in real time, until an answer is right. */
export const eventually = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<A, E, R>, isRight: (answer: A) => boolean): Effect.fn.Return<A, E, R> {
    for (;;) {
      const answer = yield* ask
      if (isRight(answer)) return answer
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
    }
  }
)
