/** Operator API endpoints of a sandbox, an operator for tests: its clock, its reset, and simulated actions of providers and staff. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { alertRules, alertStatuses, severities } from "../../domain/compliance/AlertRules.ts"
import { documentExpiry, kycStatuses } from "../../domain/state/Player.ts"
import { about, RequiredFeature, RequiredScope, SecretAnswer } from "../common/Annotations.ts"
import { refusals } from "../common/Errors.ts"
import { amountFrom, date, instant, integer, oneOf, pathId } from "../common/Fields.ts"
import { created, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { PaymentRequest } from "../payments/PaymentResource.ts"
import { Player } from "../players/PlayerResource.ts"

const optional = Schema.optionalKey

/** How the messages of a round arrive. */
const messageOrders = ["normal", "crossed"] as const

/** A round that the provider of a game is to play. */
export const SandboxRound = Schema.Struct({
  game_id: integer(1, Number.MAX_SAFE_INTEGER).annotate({ description: "Id in the catalogue; none of an original." }),
  bet: amountFrom(0),
  win: optional(amountFrom(0)),
  rollback: optional(Schema.Boolean.annotate({ description: "Whether the provider rolls the bet back (false)." })),
  duplicates: optional(
    integer(0, 10).annotate({ description: "How many times each message is sent again (0)." })
  ),
  order: optional(
    oneOf(messageOrders).annotate({
      description:
        "`crossed`: what follows the bet arrives before it, and a win that is refused is sent again (normal)."
    })
  )
}).annotate({ identifier: "SandboxRound", examples: [{ game_id: 88, bet: 100, win: 250, duplicates: 1 }] })

export type SandboxRound = typeof SandboxRound.Type

const object = Schema.Record(Schema.String, Schema.Unknown)

/** A message of the provider, in Pitboss's own protocol, and its answer. */
const SandboxMessage = Schema.Struct({ path: Schema.String, request: object, status: Schema.Int, answer: object })

export type SandboxMessage = typeof SandboxMessage.Type

const SandboxMessages = Schema.Struct({ messages: Schema.Array(SandboxMessage) }).annotate({
  identifier: "SandboxMessages",
  examples: [{
    messages: [{
      path: "/api/v1/provider/wallet/bet",
      request: { transaction_id: "bet-1041", round_id: "round-77", amount: 100, currency: "EUR" },
      status: 200,
      answer: { data: { transaction_id: "bet-1041", balance: 900 } }
    }]
  }]
})

const SandboxKyc = Schema.Struct({
  status: oneOf(kycStatuses),
  document_expires_on: optional(
    Schema.NullOr(date).annotate({ description: `With verified: ${documentExpiry}, like 2031-05-31.` })
  )
}).annotate({ identifier: "SandboxKyc", examples: [{ status: "verified" }] })

/** An alert to raise. */
export const SandboxAlert = Schema.Struct({
  player_id: integer(1, Number.MAX_SAFE_INTEGER),
  rule: optional(oneOf(alertRules).annotate({ description: "large_deposit when absent." })),
  severity: optional(oneOf(severities).annotate({ description: "medium when absent." }))
}).annotate({ identifier: "SandboxAlert", examples: [{ player_id: 48213, rule: "structuring", severity: "high" }] })

export type SandboxAlert = typeof SandboxAlert.Type

const RaisedAlert = Schema.Struct({
  id,
  player_id: id,
  rule: Schema.Literals(alertRules),
  severity: Schema.Literals(severities),
  status: Schema.Literals(alertStatuses),
  created_at: timestamp
}).annotate({ identifier: "RaisedAlert" })

/** Clock of a sandbox. */
const SandboxClock = Schema.Struct({
  now: timestamp,
  advancing: Schema.Boolean,
  target: Schema.NullOr(timestamp).annotate({ description: "Where the clock is to come; null while it goes on." })
}).annotate({
  identifier: "SandboxClock",
  examples: [{ now: "2026-12-24T18:00:00.000Z", advancing: false, target: null }]
})

/** Where to advance a clock to: one of the two. */
const ClockAdvance = Schema.Struct({
  to: optional(instant.annotate({ description: "At most 400 days later than the clock, 3650 than the real time." })),
  seconds: optional(integer(1, 400 * 86_400))
}).annotate({ identifier: "ClockAdvance", examples: [{ seconds: 90_000 }] })

/** A sandbox after its reset. */
const ResetSandbox = Schema.Struct({
  operator_id: id.annotate({ description: "Id of the successor, which has the slug and the keys." }),
  archived_operator_id: id.annotate({ description: "Id of the operator whose players and ledger these were." })
}).annotate({ identifier: "ResetSandbox", examples: [{ operator_id: 7311, archived_operator_id: 1207 }] })

const move = <const Name extends string, const Path extends `/${string}`>(
  name: Name,
  path: Path,
  summary: string,
  description: string
) =>
  HttpApiEndpoint.post(name, path, {
    params: { payment: pathId },
    success: single(PaymentRequest),
    error: refusals("PAYMENT_REQUEST_INVALID", "PLAYER_RESTRICTED")
  })
    .annotate(RequiredScope, "sandbox")
    .annotate(RequiredFeature, "payments")
    .annotate(SecretAnswer, true)
    .annotateMerge(about(summary, description))

export const SandboxGroup = HttpApiGroup.make("sandbox")
  .add(
    HttpApiEndpoint.get("clock", "/sandbox/clock", { success: single(SandboxClock), error: refusals("NOT_FOUND") })
      .annotate(RequiredScope, "sandbox")
      .annotateMerge(about("The clock", "By which everything of the operator goes; real time until it is advanced.")),
    HttpApiEndpoint.post("advanceClock", "/sandbox/clock/advance", {
      payload: ClockAdvance,
      success: [
        single(SandboxClock),
        single(SandboxClock).pipe(HttpApiSchema.status(202)).annotate({
          description: "It goes on: `Location` says where to ask."
        })
      ],
      error: refusals("NOT_FOUND")
    })
      .annotate(RequiredScope, "sandbox")
      .annotateMerge(about(
        "Advance the clock",
        "What falls due on the way happens in order, at the time at which it was due, with its events; deliveries that fall due start. Audit lines, signatures, rates, " +
          "idempotency keys, the retention of events and staff keep real time. The clock is never turned back."
      )),
    HttpApiEndpoint.post("reset", "/sandbox/reset", {
      success: single(ResetSandbox),
      error: refusals("NOT_FOUND", "INVALID_REQUEST")
    })
      .annotate(RequiredScope, "sandbox")
      .annotateMerge(about(
        "Begin anew",
        "Keys, webhooks, methods, bonuses, registers and settings pass to a successor of the operator without players. The old one is archived; nothing is deleted. The " +
          "clock is not turned back, player tokens and game sessions are over."
      )),
    HttpApiEndpoint.post("playRound", "/sandbox/players/:player/rounds", {
      params: { player: pathId },
      payload: SandboxRound,
      success: single(SandboxMessages),
      error: refusals("PLAYER_RESTRICTED", "LIMIT_EXCEEDED", "GAME_UNAVAILABLE")
    })
      .annotate(RequiredScope, "sandbox")
      .annotate(RequiredFeature, "games")
      .annotate(SecretAnswer, true)
      .annotateMerge(about(
        "Play a round as the game's provider would",
        "Launches the game, then sends its messages through the wallet: the bet, and a win, a rollback or the end of the round. A refused bet is followed by no win."
      )),
    move(
      "approve",
      "/sandbox/withdrawals/:payment/approve",
      "Approve a withdrawal",
      "As staff would; one approval is enough."
    ),
    move("pay", "/sandbox/withdrawals/:payment/pay", "Pay an approved withdrawal out", "As staff would."),
    move(
      "reject",
      "/sandbox/withdrawals/:payment/reject",
      "Refuse a withdrawal",
      "As staff would: the amount returns to the player."
    ),
    move(
      "chargeback",
      "/sandbox/deposits/:payment/chargeback",
      "Charge a deposit back",
      "As staff would: the amount leaves the player's balance, below zero if it has to."
    ),
    HttpApiEndpoint.post("moveKyc", "/sandbox/players/:player/kyc", {
      params: { player: pathId },
      payload: SandboxKyc,
      success: single(Player)
    })
      .annotate(RequiredScope, "sandbox")
      .annotate(SecretAnswer, true)
      .annotateMerge(about(
        "Say how far a player's identity is known",
        "As staff would, through the statuses that lie on the way: each is an event."
      )),
    HttpApiEndpoint.post("raiseAlert", "/sandbox/alerts", {
      payload: SandboxAlert,
      success: created(RaisedAlert),
      error: refusals("NOT_FOUND")
    })
      .annotate(RequiredScope, "sandbox")
      .annotateMerge(about("Raise an alert", "As the rule would; it stops no withdrawal."))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Sandbox",
    description:
      "For operators that were made for testing; for any other these paths are NOT_FOUND. The key needs the scope `sandbox`."
  }))
