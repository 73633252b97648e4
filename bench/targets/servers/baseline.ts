// The baseline: the same provider call on Fastify and node-postgres, one PostgreSQL transaction per bet.
import { Schema } from "effect"
import { fastify } from "fastify"
import { announce } from "./Announce.ts"
import { baselineStyles, makePlaceBet, openPool } from "./BaselineBets.ts"
import { ProviderCalls } from "./ProviderCalls.ts"

const options = Schema.decodeUnknownSync(Schema.Struct({
  DATABASE_URL: Schema.String,
  POOL_SIZE: Schema.NumberFromString,
  STYLE: Schema.Literals(baselineStyles)
}))(process.env)

const pool = await openPool(options.DATABASE_URL, options.STYLE, options.POOL_SIZE)
const placeBet = makePlaceBet(pool, options.STYLE)

// Providers and games change rarely: kept in memory, as a service does.
const { rows: providers } = await pool.query<{ readonly id: number; readonly key: string; readonly secret: string }>(
  "SELECT id, key, secret FROM providers"
)
const { rows: games } = await pool.query<
  { readonly id: number; readonly provider_id: number; readonly external_id: string }
>("SELECT id, provider_id, external_id FROM games")
const calls = new ProviderCalls(providers.map(({ key, secret }) => [key, secret]))
const providerIds = new Map(providers.map(({ id, key }) => [key, id]))
const gameIds = new Map(games.map((game) => [`${game.provider_id}/${game.external_id}`, game.id]))

class CallRefused extends Error {
  readonly statusCode: number
  readonly code: string
  constructor(statusCode: number, code: string) {
    super(code)
    this.statusCode = statusCode
    this.code = code
  }
}

const statuses: Readonly<Record<string, number>> = {
  INVALID_SESSION: 401,
  INSUFFICIENT_FUNDS: 402,
  NOT_FOUND: 404,
  DUPLICATE_TRANSACTION: 409,
  ROUND_CLOSED: 409,
  PLAYER_RESTRICTED: 422,
  VALIDATION_FAILED: 422
}

const text = { type: "string", minLength: 1, maxLength: 128 } as const
const integer = { type: "integer" } as const

const bodySchema = {
  type: "object",
  required: ["request_id", "transaction_id", "session_token", "game_id", "round_id", "amount", "currency"],
  properties: {
    request_id: text,
    transaction_id: text,
    session_token: { ...text, maxLength: 512 },
    game_id: text,
    round_id: text,
    amount: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    currency: { type: "string", minLength: 3, maxLength: 3 }
  }
} as const

const replySchema = {
  type: "object",
  properties: {
    data: {
      type: "object",
      properties: {
        request_id: text,
        transaction_id: text,
        status: text,
        wallet_transaction_ids: { type: "array", items: integer },
        real_amount: integer,
        bonus_amount: integer,
        balance: integer,
        bonus_balance: integer,
        currency: text,
        wallet_seq: integer,
        round_state: text
      }
    }
  }
} as const

interface BetBody {
  readonly request_id: string
  readonly transaction_id: string
  readonly session_token: string
  readonly game_id: string
  readonly round_id: string
  readonly amount: number
  readonly currency: string
}

const app = fastify({ logger: false, bodyLimit: 256 * 1024 })

// The signature is over the raw bytes, so they are verified before they are parsed.
app.removeAllContentTypeParsers()
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
  const raw = typeof body === "string" ? Buffer.from(body, "utf8") : body
  const refusal = calls.refusal(request.method, request.url, request.headers, raw)
  if (refusal !== undefined) return done(new CallRefused(401, refusal))
  try {
    done(null, JSON.parse(raw.toString("utf8")))
  } catch {
    done(new CallRefused(422, "INVALID_REQUEST"))
  }
})

app.setErrorHandler((error, _request, reply) => {
  const refused = error instanceof CallRefused
    ? error
    : error instanceof Error && "validation" in error && error.validation !== undefined
    ? new CallRefused(422, "VALIDATION_FAILED")
    : new CallRefused(500, "SERVER_ERROR")
  return reply.code(refused.statusCode).send({ error: { code: refused.code, message: refused.code, details: {} } })
})

app.post<{ Body: BetBody }>(
  "/api/v1/provider/wallet/bet",
  { schema: { body: bodySchema, response: { 200: replySchema } } },
  async (request) => {
    const bet = request.body
    const providerId = providerIds.get(String(request.headers["x-provider-key"]))
    const gameId = gameIds.get(`${providerId}/${bet.game_id}`)
    if (providerId === undefined || gameId === undefined) throw new CallRefused(404, "NOT_FOUND")
    const outcome = await placeBet({
      providerId,
      transactionId: bet.transaction_id,
      sessionToken: bet.session_token,
      gameId,
      roundId: bet.round_id,
      amount: bet.amount,
      currency: bet.currency
    })
    if ("refusal" in outcome) throw new CallRefused(statuses[outcome.refusal] ?? 422, outcome.refusal)
    return {
      data: {
        request_id: bet.request_id,
        transaction_id: bet.transaction_id,
        status: outcome.status,
        wallet_transaction_ids: [outcome.entryId],
        real_amount: -bet.amount,
        bonus_amount: 0,
        balance: outcome.balance,
        bonus_balance: outcome.bonusBalance,
        currency: bet.currency,
        wallet_seq: outcome.walletSeq,
        round_state: "open"
      }
    }
  }
)

await app.listen({ host: "127.0.0.1", port: 0 })
announce(app.server)
