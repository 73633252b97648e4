/**
 * Fake of a national register on one port: its wire over TLS and over plain HTTP, and `PUT /_people`, `PUT /_mode` that say what it knows and how it
 * fails. Each start has a certificate authority of its own.
 */
import { Effect, Option, Schema } from "effect"
import { randomUUID } from "node:crypto"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import type { ConnectionKind } from "../../src/domain/register/Register.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"
import { makeAuthority } from "./Certificates.ts"
import { gamstop, generic, screening, spelpaus } from "./JsonWires.ts"
import { lookUpIn, People } from "./People.ts"
import { type Asked, type Given, parsed, type Wire } from "./Wire.ts"
import { cruks, oasis, rofus } from "./XmlWires.ts"

const wires: Readonly<Record<ConnectionKind, Wire>> = {
  gamstop,
  spelpaus,
  rofus,
  cruks,
  oasis,
  generic,
  screening
}

/** How a register answers, in the order in which `--help` lists them. */
export const modes = [
  /** As it should. */
  "ok",
  /** 503. */
  "down",
  /** Only after `delay_ms`. */
  "slow",
  /** 200 with a page of HTML. */
  "garbage",
  /** The beginning of an answer, and the end of the connection. */
  "half",
  /** The end of the connection. */
  "reset",
  /** An answer with a value of another type or word. */
  "wrong_type",
  /** An answer to another question. */
  "wrong_request",
  /** A redirect to the same question. */
  "redirect",
  /** A proper answer with more than 64 KiB. */
  "huge",
  /** Over TLS, a certificate of an authority that nobody knows. */
  "certificate"
] as const

const Mode = Schema.Struct({
  mode: Schema.Literals(modes),
  /** Of `slow`: longer than any question may last. */
  delay_ms: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 600_000 })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(15_000))
  )
})

export type Mode = (typeof modes)[number]

const decodeMode = Schema.decodeUnknownOption(Mode)
const decodePeople = Schema.decodeUnknownOption(People, { onExcessProperty: "error" })

/** Questions that are remembered. */
const maxAsked = 10_000
const maxBodyBytes = 4 * 1024 * 1024

interface FakeRegister {
  readonly kind: ConnectionKind
  /** Settings of a connection, those for TLS included. */
  readonly settings: { readonly [name: string]: string }
  /** Address of `/_people` and `/_mode`. */
  readonly url: string
  /** The latest questions, with all that came: `path` without its query. */
  readonly asked: ReadonlyArray<Asked>
  readonly know: (people: People) => void
  /** From the next connection on; those that are open are closed. */
  readonly setMode: (mode: Mode, delayMs?: number) => void
}

interface FakeOptions {
  readonly kind: ConnectionKind
  /** 0 for a free one. */
  readonly port?: number
  readonly people?: People
  /** Its settings name `http:`, and nothing for TLS. */
  readonly isPlain?: boolean
  readonly onAsked?: () => void
}

const readBody = (request: Http.IncomingMessage, use: (body: string) => void): void => {
  const chunks: Array<Buffer> = []
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBodyBytes) request.destroy()
    else chunks.push(chunk)
  })
  request.on("end", () => use(Buffer.concat(chunks).toString("utf8")))
}

const host = "127.0.0.1"

/** Starts a register until its scope ends. */
export const makeFakeRegister = Effect.fnUntraced(function*({ kind, ...options }: FakeOptions) {
  const wire = wires[kind]
  const authority = makeAuthority(`Fake register ${kind}`)
  const own = authority.issue(host)
  const foreign = makeAuthority("Unknown").issue(host)
  const client = authority.issue(host)
  const contextOf = ({ certificate, key }: typeof own) => ({ cert: certificate, key, ca: authority.certificate })

  const asked: Array<Asked> = []
  let lookUp = lookUpIn(options.people ?? [])
  let mode: Mode = "ok"
  let delayMs = 0
  const sockets = new Set<Net.Socket>()
  const timers = new Set<NodeJS.Timeout>()

  const know = (people: People): void => {
    lookUp = lookUpIn(people)
  }

  const setMode = (next: Mode, delay = 15_000): void => {
    mode = next
    delayMs = delay
    tls.setSecureContext(contextOf(next === "certificate" ? foreign : own))
    for (const socket of sockets) socket.destroy()
  }

  const later = (ms: number, run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer)
      run()
    }, ms)
    timers.add(timer)
  }

  const send = (response: Http.ServerResponse, { body = "", headers = {}, status }: Given): void => {
    response.writeHead(status, headers).end(body)
  }

  /** Answers as the mode says. */
  const reply = (response: Http.ServerResponse, path: string, given: Given): void => {
    const body = given.body ?? ""
    if (mode === "down") return send(response, { status: 503 })
    if (mode === "slow") return later(delayMs, () => send(response, given))
    if (mode === "garbage") {
      return send(response, { status: 200, headers: { "content-type": "text/html" }, body: "<html><p>Welcome</html>" })
    }
    if (mode === "redirect") return send(response, { status: 307, headers: { location: path } })
    if (mode === "huge") return send(response, { ...given, body: body + " ".repeat(80_000) })
    if (mode === "reset") {
      response.destroy()
      return
    }
    if (mode === "half") {
      response.writeHead(given.status, { ...given.headers, "content-length": String(body.length + 100) })
      response.write(body.slice(0, Math.ceil(body.length / 2)))
      return later(20, () => response.destroy())
    }
    send(response, given)
  }

  const steer = (request: Http.IncomingMessage, response: Http.ServerResponse, body: string): void => {
    const refuse = (words: string) => send(response, { status: 400, body: `${words}\n` })
    if (request.method !== "PUT") return send(response, { status: 405, headers: { allow: "PUT" } })
    if (request.url === "/_people") {
      const people = decodePeople(parsed(body))
      if (Option.isNone(people)) {
        return refuse("a JSON list of people: personal_id, or first_name, last_name and birth_date, and a verdict")
      }
      know(people.value)
      return send(response, { status: 204 })
    }
    // a word, alone or in quotes, or an object
    const given = parsed(body) ?? body.trim()
    const next = decodeMode(typeof given === "string" ? { mode: given } : given)
    if (Option.isNone(next)) return refuse(`a mode: ${modes.join(", ")}`)
    response.once("finish", () => setMode(next.value.mode, next.value.delay_ms))
    response.setHeader("connection", "close")
    send(response, { status: 204 })
  }

  const serve = (request: Http.IncomingMessage, response: Http.ServerResponse): void =>
    readBody(request, (body) => {
      const path = request.url ?? "/"
      if (path === "/_people" || path === "/_mode") return steer(request, response, body)
      if (request.method !== "POST") return send(response, { status: 405, headers: { allow: "POST" } })
      const url = new URL(path, `http://${host}`)
      const question: Asked = {
        path: url.pathname,
        query: url.searchParams,
        header: (name) => request.headers[name]?.toString(),
        body
      }
      if (asked.length >= maxAsked) asked.splice(0, maxAsked / 10)
      asked.push(question)
      options.onAsked?.()
      const twist = mode === "wrong_type" || mode === "wrong_request" ? mode : "none"
      reply(
        response,
        path,
        wire.answer(question, { lookUp: lookUp.verdictOf, hitsOf: lookUp.hitsOf, twist, newId: randomUUID }) ??
          { status: 404 }
      )
    })

  const http = Http.createServer(serve)
  const tls = Https.createServer({
    ...contextOf(own),
    requestCert: wire.needsCertificate,
    rejectUnauthorized: wire.needsCertificate
  }, serve)
  const byte = 0x16
  /** Both on one port: a TLS handshake begins with a byte that no HTTP method has. */
  const listener = Net.createServer((socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    socket.on("error", () => socket.destroy())
    socket.once("data", (first) => {
      socket.pause()
      socket.unshift(first)
      ;(first[0] === byte ? tls : http).emit("connection", socket)
      process.nextTick(() => socket.resume())
    })
  })
  tls.on("tlsClientError", () => {})

  const port = yield* Effect.acquireRelease(
    Effect.callback<number, SimulatorError>((resume) => {
      const { port: wanted = 0 } = options
      listener.once("error", () => {
        resume(Effect.fail(new SimulatorError({ message: `port ${wanted} is taken: say another --port` })))
      })
      listener.listen(wanted, host, () => {
        const address = listener.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : wanted))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        for (const timer of timers) clearTimeout(timer)
        listener.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
  )
  const url = `http://${host}:${port}`
  const settings = options.isPlain === true ? wire.settings(url) : {
    ...wire.settings(`https://${host}:${port}`),
    ca: authority.certificate,
    ...wire.needsCertificate ? { client_certificate: client.certificate, client_key: client.key } : {}
  }
  return { kind, settings, url, asked, know, setMode } satisfies FakeRegister
})
