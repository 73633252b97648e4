/**
 * The site of a small casino, as an operator would write it: on the client package and on Node.js, nothing else of this repository. The browser gets
 * session tokens here and speaks the player's API itself, through this server, so that both have one origin. What the site asks and what it is told is
 * kept for the drawer of the page.
 */
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { stripTypeScriptTypes } from "node:module"
import { extname, join } from "node:path"
import {
  createClient,
  type Event,
  type OperatorClient,
  PitbossError,
  verifyWebhook,
  WebhookError
} from "../package/client/src/index.ts"

export interface CasinoOptions {
  /** The service. */
  readonly url: string
  readonly key: string
  readonly secret: string
  readonly port: number
  /** Secret of the webhook at `/webhooks`; without one the site follows events. */
  readonly webhookSecret: string | undefined
  /** What goes wrong beside a request. */
  readonly onProblem: (message: string) => void
}

/** A line of the drawer. */
interface Line {
  readonly from: "site" | "webhook" | "event"
  readonly what: string
  readonly status: number | undefined
  readonly milliseconds: number | undefined
  readonly body: unknown
}

/** A visitor with a cookie; a player once registered. */
interface Visit {
  readonly client: OperatorClient
  readonly lines: Array<Line>
  readonly listeners: Set<(line: Line, number: number) => void>
  /** How many lines there were, those that are not kept included. */
  shown: number
  player: number | undefined
}

/** What the site refuses itself. */
class SiteError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const root = join(import.meta.dirname, "..", "..")
const pageFolder = "scripts/casino/page"
/** Sources in the checkout, compiled files in the packed service. */
const extension = extname(import.meta.filename)

const cookieName = "casino_visit"
const mostVisits = 1000
const mostLines = 200
const mostListeners = 4
const largestBody = 65_536
const currency = "EUR"

const headers = {
  "content-security-policy":
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

/** The fake payment provider: takes cards whose check digit is right, and declines one that payment providers use for it. */
const charge = (card: string): string => {
  const digits = card.replaceAll(/\D/g, "")
  const sum = digits.split("").reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  if (digits.length < 13 || sum % 10 !== 0) throw new SiteError(422, "This is no card number.")
  if (digits === "4000000000000002") throw new SiteError(402, "The card was declined.")
  return `Card, ends in ${digits.slice(-4)}`
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > largestBody) throw new SiteError(413, "The request is too large.")
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

type Fields = { readonly [name: string]: unknown }

/** Fields of a form that the page sends. Only JSON: a form of another site cannot send that. */
const formOf = async (request: IncomingMessage): Promise<Fields> => {
  if (request.headers["content-type"] !== "application/json") throw new SiteError(415, "JSON is expected.")
  try {
    return Object(JSON.parse((await bodyOf(request)).toString("utf8")))
  } catch (error) {
    throw error instanceof SiteError ? error : new SiteError(400, "The request is not JSON.")
  }
}

const textOf = (form: Fields, name: string): string => {
  const value = form[name]
  if (typeof value !== "string" || value.trim() === "") {
    throw new SiteError(422, `${name.replaceAll("_", " ")} is missing.`)
  }
  return value.trim()
}

const numberOf = (form: Fields, name: string): number => {
  const value = form[name]
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new SiteError(422, `${name} is no whole number.`)
  return value
}

const playerOf = (event: Event): number | undefined => {
  for (const part of [event.data["player"], event.data["payment"], event.data["bonus"]]) {
    const { id, player_id }: { readonly id?: unknown; readonly player_id?: unknown } = Object(part)
    const player = part === event.data["player"] ? id : player_id
    if (typeof player === "number") return player
  }
  return undefined
}

const send = (response: ServerResponse, status: number, type: string, body: string | Buffer): void => {
  response.writeHead(status, { ...headers, "content-type": type }).end(body)
}

const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  send(response, status, "application/json", JSON.stringify(value))

/** A file of the page. Code is sent as JavaScript; the address names the file as it is here. */
const pageFile = (path: string): { readonly type: string; readonly text: string } | undefined => {
  const [, name = ""] = /^\/app\/([\w./-]+)$/.exec(path) ?? []
  const isOurs = [`${pageFolder}/`, "scripts/package/client/src/"].some((folder) => name.startsWith(folder))
  if (!isOurs || name.includes("..") || !existsSync(join(root, name))) return undefined
  const text = readFileSync(join(root, name), "utf8")
  if (name.endsWith(".css")) return { type: "text/css; charset=utf-8", text }
  if (extname(name) !== extension) return undefined
  return {
    type: "text/javascript; charset=utf-8",
    text: extension === ".ts" ? stripTypeScriptTypes(text) : text
  }
}

/** Starts the site. It ends with `close`. */
export const startCasino = async (options: CasinoOptions): Promise<{ readonly url: string; close: () => void }> => {
  const { key, onProblem, secret, url, webhookSecret } = options
  const visits = new Map<string, Visit>()
  const ended = new AbortController()

  const show = (visit: Visit, line: Line): void => {
    visit.lines.push(line)
    if (visit.lines.length > mostLines) visit.lines.shift()
    visit.shown++
    for (const listener of visit.listeners) listener(line, visit.shown)
  }

  const tell = (from: "webhook" | "event", event: Event): void => {
    const player = playerOf(event)
    for (const visit of visits.values()) {
      if (visit.player !== undefined && visit.player === player) {
        show(visit, { from, what: event.type, status: undefined, milliseconds: undefined, body: event.data })
      }
    }
  }

  /** A visit with a client whose calls are its own lines. */
  const newVisit = (): Visit => {
    const recording: typeof fetch = async (address, init) => {
      const began = performance.now()
      const answer = await fetch(address, init)
      const path = new URL(address instanceof Request ? address.url : address).pathname.replace("/api/v1", "")
      show(visit, {
        from: "site",
        what: `${init?.method ?? "GET"} ${path}`,
        status: answer.status,
        milliseconds: Math.round(performance.now() - began),
        body: await answer.clone().json().catch(() => undefined)
      })
      return answer
    }
    const visit: Visit = {
      client: createClient({ baseUrl: url, key, secret, fetch: recording }),
      lines: [],
      listeners: new Set(),
      shown: 0,
      player: undefined
    }
    return visit
  }

  const visitOf = (request: IncomingMessage): Visit | undefined => {
    const [, id = ""] = new RegExp(`(?:^|; )${cookieName}=([\\w-]+)`).exec(request.headers.cookie ?? "") ?? []
    return visits.get(id)
  }

  const playing = (visit: Visit): number => {
    if (visit.player === undefined) throw new SiteError(401, "Register first.")
    return visit.player
  }

  /** What the page asks the site, each for the visitor's own player. */
  const actions: { readonly [route: string]: (visit: Visit, form: Fields) => Promise<unknown> } = {
    "GET /site/visit": async ({ client, player }) =>
      player === undefined
        ? { player: null, self_exclusion: null }
        : { player, self_exclusion: (await client.limits.get(player)).self_exclusion },
    "POST /site/leave": (visit) => {
      visit.player = undefined
      visit.lines.length = 0
      return Promise.resolve({ player: null })
    },
    "POST /site/register": async (visit, form) => {
      if (visit.player !== undefined) throw new SiteError(409, "You are registered.")
      const player = await visit.client.players.create({
        username: textOf(form, "username"),
        email: textOf(form, "email"),
        first_name: textOf(form, "first_name"),
        last_name: textOf(form, "last_name"),
        birth_date: textOf(form, "birth_date"),
        country: textOf(form, "country"),
        currency,
        terms_accepted: true
      })
      visit.player = player.id
      return { player: player.id, username: player.username }
    },
    "POST /site/token": (visit) => visit.client.players.createSessionToken(playing(visit), { ttl_minutes: 30 }),
    "POST /site/deposit": async (visit, form) => {
      const info = charge(textOf(form, "card"))
      return visit.client.deposits.create(playing(visit), {
        amount: numberOf(form, "amount"),
        external_reference: `card-${randomUUID()}`,
        payment_method: "card",
        info
      })
    },
    "GET /site/games": async (visit) => {
      const found = []
      for await (const game of visit.client.games.list({ per_page: 100 })) if (game.is_original) found.push(game)
      return found
    },
    "GET /site/bonuses": async (visit) => {
      const player = playing(visit)
      const [offered, granted] = await Promise.all([
        visit.client.bonuses.catalogue(),
        visit.client.bonuses.list(player, { per_page: 5 })
      ])
      return { offered: offered.data, granted: granted.data }
    },
    "POST /site/bonus": (visit, form) =>
      visit.client.bonuses.grant(playing(visit), { bonus_id: numberOf(form, "bonus_id") })
  }

  /** The player's API under the site's own address. */
  const passOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given: Record<string, string> = {}
    for (const name of ["authorization", "content-type", "accept", "idempotency-key"]) {
      const value = request.headers[name]
      if (typeof value === "string") given[name] = value
    }
    const method = request.method ?? "GET"
    const body = method === "GET" ? undefined : new Uint8Array(await bodyOf(request))
    const answer = await fetch(url + request.url, {
      method,
      headers: given,
      redirect: "manual",
      signal: AbortSignal.timeout(10_000),
      ...(body === undefined || body.length === 0 ? {} : { body })
    })
    const kept = ["content-type", "x-request-id", "retry-after", "idempotent-replayed"].flatMap((name) => {
      const value = answer.headers.get(name)
      return value === null ? [] : [[name, value]]
    })
    response.writeHead(answer.status, { ...headers, ...Object.fromEntries(kept) })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }

  /** Lines of the drawer, those there are and those to come; a browser that comes back says which it has. */
  const stream = (visit: Visit, request: IncomingMessage, response: ServerResponse): void => {
    if (visit.listeners.size >= mostListeners) throw new SiteError(429, "The drawer is open in other windows.")
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
    const write = (line: Line, number: number) =>
      void response.write(`id: ${number}\ndata: ${JSON.stringify(line)}\n\n`)
    const last = Number(request.headers["last-event-id"] ?? 0)
    for (const [at, line] of visit.lines.entries()) {
      const number = visit.shown - visit.lines.length + at + 1
      if (!(number <= last)) write(line, number)
    }
    visit.listeners.add(write)
    response.on("close", () => visit.listeners.delete(write))
  }

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (webhookSecret === undefined) throw new SiteError(404, "There is no webhook.")
    tell(
      "webhook",
      await verifyWebhook({ body: await bodyOf(request), headers: request.headers, secret: webhookSecret })
    )
    response.writeHead(204).end()
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://casino")
    const route = `${request.method} ${pathname}`
    if (route === "POST /webhooks") return receive(request, response)
    if (pathname.startsWith("/api/v1/player/")) return passOn(request, response)
    if (route === "GET /") {
      const id = randomUUID()
      if (visitOf(request) === undefined) {
        visits.set(id, newVisit())
        const [oldest = ""] = visits.keys()
        if (visits.size > mostVisits) visits.delete(oldest)
        response.setHeader("set-cookie", `${cookieName}=${id}; HttpOnly; SameSite=Strict; Path=/`)
      }
      const document = readFileSync(join(root, pageFolder, "index.html"), "utf8")
      return send(response, 200, "text/html; charset=utf-8", document.replace("Main.ts", `Main${extension}`))
    }
    const file = request.method === "GET" ? pageFile(pathname) : undefined
    if (file !== undefined) return send(response, 200, file.type, file.text)
    const visit = visitOf(request)
    const action = actions[route]
    if (route !== "GET /site/calls" && action === undefined) throw new SiteError(404, "There is no such page.")
    if (visit === undefined) throw new SiteError(401, "Reload the page.")
    if (action === undefined) return stream(visit, request, response)
    sendJson(response, 200, await action(visit, request.method === "POST" ? await formOf(request) : {}))
  }

  const refuse = (response: ServerResponse, error: unknown): void => {
    if (response.headersSent) return void response.destroy()
    if (error instanceof PitbossError) {
      const { code, details, message, status = 502 } = error
      return sendJson(response, status, { error: { code, message, details } })
    }
    const [status, message] = error instanceof SiteError
      ? [error.status, error.message]
      : error instanceof WebhookError
      ? [400, error.code]
      : [500, "The site failed."]
    if (status === 500) onProblem(error instanceof Error ? error.message : String(error))
    sendJson(response, status, { error: { code: "SITE", message, details: {} } })
  }

  /** Tells of events where no webhook does: those from now on. */
  const follow = async (): Promise<void> => {
    const events = createClient({ baseUrl: url, key, secret }).events
    const created_from = new Date().toISOString()
    for await (const event of events.follow({ created_from }, { signal: ended.signal })) tell("event", event)
  }

  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => refuse(response, error))
  })
  server.requestTimeout = 30_000
  server.listen(options.port, "127.0.0.1")
  await once(server, "listening")
  if (webhookSecret === undefined) {
    follow().catch((error: unknown) => onProblem(error instanceof Error ? error.message : String(error)))
  }
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : options.port}`,
    close: () => {
      ended.abort()
      server.closeAllConnections()
      server.close()
    }
  }
}
