/** Players in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { tellsOfPlayers } from "../common/Annotations.ts"
import { bonusStates } from "../../domain/state/Bonus.ts"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { PlayerBonus } from "../bonuses/BonusResource.ts"
import { amountFrom, date, instant, lines, oneOf, pathId, reference, text } from "../common/Fields.ts"
import { RetiredSeeds } from "../secrets/StaffApi.ts"
import { refusals } from "../common/Errors.ts"
import { Correction } from "../corrections/StaffApi.ts"
import { Limits } from "../responsibleGaming/LimitsResource.ts"
import {
  created,
  cursorPage,
  cursorQuery,
  nearPage,
  pageOrWalk,
  part,
  partQuery,
  single,
  walkQuery
} from "../common/Pagination.ts"
import { Player, PlayerFilterFields } from "./PlayerResource.ts"
import { kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { Transaction } from "../ledger/TransactionResource.ts"
import { Wallet } from "../wallet/WalletResource.ts"

const optional = Schema.optionalKey

const StaffPlayer = Schema.Struct({ operator_id: id, ...Player.fields })

const Note = Schema.Struct({
  id,
  player_id: id,
  author: Schema.String.annotate({
    description: "As the audit log names who acts; `operator:<id>` for what came with a payment or a grant."
  }),
  text: Schema.String,
  subject: Schema.String.annotate({
    description: "What it was written about: `player:<id>`, `payment:<id>` or `player_bonus:<id>`."
  }),
  created_at: timestamp
})

/** Orders of the list. */
export const playerOrders = ["newest", "oldest"] as const

/** A launch of a game, for money or for free. */
export const GameSession = Schema.Struct({
  id,
  game_id: id,
  game: Schema.String,
  provider: Schema.String,
  mode: Schema.Literals(["real", "demo"]),
  platform: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  opened_at: timestamp,
  expires_at: timestamp,
  ended_at: Schema.NullOr(timestamp).annotate({
    description:
      "When it was exchanged, its launch failed, or the player was signed out; null: by itself, at expires_at."
  })
})

export const timelineKinds = [
  "entry",
  "payment",
  "bonus",
  "session",
  "note",
  "alert",
  "limit",
  "exclusion",
  "audit"
] as const

/** Something that happened to a player. */
export const TimelineItem = Schema.Struct({
  at: timestamp,
  kind: Schema.Literals(timelineKinds),
  id,
  title: Schema.String,
  detail: Schema.NullOr(Schema.String).annotate({ [tellsOfPlayers]: true }),
  amount: Schema.NullOr(money),
  currency: Schema.NullOr(currencyCode),
  actor: Schema.NullOr(Schema.String).annotate({ description: "As the audit log names who acts." }),
  href: Schema.NullOr(Schema.String).annotate({
    description: "The address of its page, from the root of the back office."
  })
})

export const PlayerGroup = HttpApiGroup.make("player").add(
  HttpApiEndpoint.get("show", "/players/:player", {
    params: { player: pathId },
    query: { operator: optional(reference) },
    success: single(StaffPlayer)
  }),
  HttpApiEndpoint.get("list", "/players", {
    query: {
      ...walkQuery,
      ...nearPage,
      operator: optional(reference),
      sort: optional(oneOf(playerOrders)),
      starting_with: optional(text(254, {
        description:
          "Beginning of the username, the e-mail or the external id, in any case, or a whole id. Only the first page is there."
      })),
      ...PlayerFilterFields.fields,
      external_id: optional(text(128))
    },
    success: pageOrWalk(StaffPlayer)
  }),
  HttpApiEndpoint.get("wallet", "/players/:player/wallet", { params: { player: pathId }, success: single(Wallet) }),
  HttpApiEndpoint.get("transactions", "/players/:player/transactions", {
    params: { player: pathId },
    query: {
      ...walkQuery,
      type: optional(oneOf(entryTypes)),
      wallet: optional(oneOf(walletKinds)),
      created_from: optional(instant),
      created_to: optional(instant)
    },
    success: pageOrWalk(Transaction)
  }),
  HttpApiEndpoint.get("bonuses", "/players/:player/bonuses", {
    params: { player: pathId },
    query: { ...partQuery, state: optional(oneOf(bonusStates)) },
    success: part(PlayerBonus)
  }),
  HttpApiEndpoint.get("limits", "/players/:player/limits", { params: { player: pathId }, success: single(Limits) }),
  HttpApiEndpoint.get("sessions", "/players/:player/sessions", {
    params: { player: pathId },
    query: cursorQuery,
    success: cursorPage(GameSession)
  }),
  HttpApiEndpoint.get("timeline", "/players/:player/timeline", {
    params: { player: pathId },
    query: { ...cursorQuery, kind: optional(oneOf(timelineKinds)) },
    success: cursorPage(TimelineItem)
  }),
  HttpApiEndpoint.post("status", "/players/:player/status", {
    params: { player: pathId },
    payload: Schema.Struct({ status: oneOf(playerStatuses), reason: optional(lines(1000)) }),
    success: single(StaffPlayer)
  }),
  HttpApiEndpoint.post("kyc", "/players/:player/kyc", {
    params: { player: pathId },
    payload: Schema.Struct({
      status: oneOf(kycStatuses),
      document_expires_on: optional(Schema.NullOr(date)),
      reason: optional(text(500))
    }),
    success: single(StaffPlayer)
  }),
  HttpApiEndpoint.patch("restrict", "/players/:player/restrictions", {
    params: { player: pathId },
    payload: Schema.Struct({
      can_login: optional(Schema.Boolean),
      can_deposit: optional(Schema.Boolean),
      can_withdraw: optional(Schema.Boolean),
      can_bet: optional(Schema.Boolean),
      excluded_from_bonuses: optional(Schema.Boolean)
    }),
    success: single(StaffPlayer)
  }),
  HttpApiEndpoint.post("sign_out", "/players/:player/sign-out", {
    params: { player: pathId },
    payload: Schema.Struct({ reason: optional(text(500)) }),
    success: single(StaffPlayer)
  }),
  HttpApiEndpoint.post("correct", "/players/:player/corrections", {
    params: { player: pathId },
    payload: Schema.Struct({
      wallet: optional(oneOf(walletKinds)),
      amount: amountFrom(-Number.MAX_SAFE_INTEGER).annotate({ description: "Signed minor units, not zero." }),
      reason: text(500)
    }),
    success: [
      created(Transaction),
      single(Correction).pipe(HttpApiSchema.status(202)).annotate({
        description: "Above the operator's threshold: nothing is posted before a second person approves it."
      })
    ],
    error: refusals("LIMIT_EXCEEDED")
  }),
  HttpApiEndpoint.post("retire_seeds", "/players/:player/retired-seeds", {
    params: { player: pathId },
    payload: Schema.Struct({ reason: text(500) }),
    success: single(RetiredSeeds)
  }),
  HttpApiEndpoint.post("note", "/players/:player/notes", {
    params: { player: pathId },
    payload: Schema.Struct({ text: lines(2000).check(Schema.isPattern(/\S/u, { message: "must not be blank" })) }),
    success: created(Note)
  }),
  HttpApiEndpoint.get("notes", "/players/:player/notes", {
    params: { player: pathId },
    query: partQuery,
    success: part(Note)
  })
)
