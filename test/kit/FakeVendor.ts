/** Fake vendor with a test protocol over real HTTP: plain JSON; a body `{"no": word}` with status 409 is a refusal. */
import { Effect, Schema } from "effect"
import * as Http from "node:http"
import { parseDecimal } from "../../src/protocols/Decimal.ts"
import {
  anyProtocol,
  type CatalogueGame,
  type Feed,
  type LaunchOrder,
  type LeftLine,
  type VendorFailure,
  type VendorTools
} from "../../src/protocols/Protocol.ts"
import { listening } from "./Listening.ts"

const FakeSettings = Schema.Struct({
  games_url: Schema.String,
  api_key: Schema.String.check(Schema.isMinLength(8, { message: "must have at least 8 characters" })),
  partner: Schema.optionalKey(Schema.Literals(["one", "two"]).annotate({ message: "must be one or two" }))
})

const Address = Schema.Struct({ url: Schema.String })
const Left = Schema.Struct({ id: Schema.NullOr(Schema.String), reason: Schema.String })
const leftLines = { odd: Schema.optionalKey(Schema.Array(Left)), unsettled: Schema.optionalKey(Schema.Int) }
const Catalogue = Schema.Struct({
  games: Schema.Array(Schema.Struct({
    externalId: Schema.String,
    name: Schema.String,
    type: Schema.Literals(["rng", "live"]),
    category: Schema.String,
    rtp: Schema.NullOr(Schema.Number),
    thumbnailUrl: Schema.NullOr(Schema.String)
  })),
  odd: Schema.Array(Left),
  withdrawn: Schema.Array(Left)
})
const Amount = Schema.Struct({ coefficient: Schema.Number, scale: Schema.Number })
const Lines = Schema.Union([
  Schema.Struct({
    by: Schema.Literal("transaction"),
    lines: Schema.Array(Schema.Struct({
      transactionId: Schema.String,
      kind: Schema.Literals(["bet", "win", "rollback"]),
      amount: Amount,
      currency: Schema.String,
      playerRef: Schema.String
    })),
    ...leftLines
  }),
  Schema.Struct({
    by: Schema.Literal("round"),
    lines: Schema.Array(Schema.Struct({
      roundId: Schema.String,
      gameId: Schema.String,
      playerRef: Schema.String,
      bet: Amount,
      win: Amount,
      currency: Schema.String
    })),
    ...leftLines
  })
])
const Issued = Schema.Struct({ id: Schema.String })
const Word = Schema.Struct({ no: Schema.String })

const failure = (kind: VendorFailure["kind"], word: string): VendorFailure => ({ _tag: "VendorFailure", kind, word })

/** Asks the fake vendor and reads its answer. */
const ask = Effect.fnUntraced(function*<S extends Schema.ConstraintDecoder<unknown>>(
  { send }: VendorTools,
  { api_key, games_url }: typeof FakeSettings.Type,
  path: string,
  body: object,
  Answer: S,
  isList = false
) {
  const answer = yield* send({
    isList,
    method: "POST",
    url: `${games_url}${path}`,
    headers: { "content-type": "application/json", "x-key": api_key },
    body: JSON.stringify(body)
  })
  const unreadable = () => failure("unavailable", "unreadable")
  if (answer.status === 200) {
    return yield* Effect.mapError(
      Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))(answer.body),
      unreadable
    )
  }
  const { no } = yield* Effect.mapError(
    Schema.decodeUnknownEffect(Schema.fromJsonString(Word))(answer.body),
    unreadable
  )
  return yield* Effect.fail(failure("refused", no))
})

/** The protocol `fake`. */
export const fakeProtocol = anyProtocol({
  name: "fake",
  settings: FakeSettings,
  secrets: ["api_key"],
  policy: {
    settledBets: "refuse",
    winsBeforeBets: "refuse",
    closedRounds: "refuse",
    afterTombstone: "refuse",
    wonWithinMs: null,
    sameMessage: "content"
  },
  refuse: () => undefined,
  bind: (settings) => ({
    receive: () => ({ _tag: "NotFound" }),
    outbound: {
      launch: (order, tools) => Effect.map(ask(tools, settings, "/launch", order, Address), ({ url }) => url),
      catalogue: (tools) => ask(tools, settings, "/games", {}, Catalogue, true),
      freeRounds: {
        issue: (order, tools) => Effect.map(ask(tools, settings, "/free-rounds", order, Issued), ({ id }) => id),
        cancel: (reference, playerRef, tools) =>
          Effect.asVoid(ask(tools, settings, "/free-rounds/cancel", { reference, playerRef }, Schema.Unknown))
      },
      feed: (day, tools) => ask(tools, settings, "/feed", day, Lines, true)
    }
  })
})

/** A protocol whose vendor can only launch. */
export const bareProtocol = anyProtocol({
  name: "bare",
  settings: Schema.Struct({ games_url: Schema.String }),
  secrets: [],
  policy: fakeProtocol.policy,
  refuse: () => undefined,
  bind: ({ games_url }) => ({
    receive: () => ({ _tag: "NotFound" }),
    outbound: { launch: () => Effect.succeed(games_url) }
  })
})

/** Major units as the feed has them. */
export const amount = (text: string) => parseDecimal(text) ?? { coefficient: 0, scale: 0 }

/** Next behaviour of the vendor: `hang` never answers, `no` refuses, `status` fails with that status. */
type Mood = "good" | "hang" | { readonly no: string } | { readonly status: number }

export interface FakeVendor {
  readonly url: string
  readonly settings: typeof FakeSettings.Type
  readonly asked: Array<{ readonly path: string; readonly key: string | undefined; readonly body: unknown }>
  mood: Mood
  games: ReadonlyArray<CatalogueGame>
  odd: ReadonlyArray<LeftLine>
  withdrawn: ReadonlyArray<LeftLine>
  feed: Feed
  /** Runs while a launch is asked for, which is answered after a promise that it returns. */
  launching: (order: LaunchOrder) => unknown
  /** As `launching`, while free rounds are asked for. */
  granting: () => unknown
  /** Closes hanging connections. */
  readonly cut: () => void
}

/** A vendor at a free port of the loopback, until the scope closes. */
export const makeFakeVendor = Effect.gen(function*() {
  const answerTo = (path: string, body: string): unknown => {
    switch (path) {
      case "/launch":
        return { url: `https://games.example/play?token=${JSON.parse(body).token}` }
      case "/games":
        return { games: vendor.games, odd: vendor.odd, withdrawn: vendor.withdrawn }
      case "/free-rounds":
        return { id: `vendor-${vendor.asked.length}` }
      case "/feed":
        return vendor.feed
      default:
        return {}
    }
  }
  const server = Http.createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8")
      const { headers, url: path = "" } = request
      vendor.asked.push({ path, key: headers["x-key"]?.toString(), body: JSON.parse(body) })
      const { mood } = vendor
      if (mood === "hang") return
      if (mood === "good") {
        const before = path === "/launch"
          ? vendor.launching(JSON.parse(body))
          : path === "/free-rounds"
          ? vendor.granting()
          : undefined
        const answer = () => response.writeHead(200).end(JSON.stringify(answerTo(path, body)))
        void Promise.resolve(before).then(answer, () => response.destroy())
      } else if ("no" in mood) response.writeHead(409).end(JSON.stringify(mood))
      else response.writeHead(mood.status).end("out of order")
    })
  })
  const port = yield* listening(server, () => server.closeAllConnections())
  const url = `http://127.0.0.1:${port}`
  const vendor: FakeVendor = {
    url,
    settings: { games_url: url, api_key: "a secret of the vendor" },
    asked: [],
    mood: "good",
    games: [],
    odd: [],
    withdrawn: [],
    feed: { by: "transaction", lines: [] },
    launching: () => {},
    granting: () => {},
    cut: () => server.closeAllConnections()
  }
  return vendor
})
