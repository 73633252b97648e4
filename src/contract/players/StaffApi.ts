/** Staff API endpoints for players. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { auditReason, belongingTo, createdPeriod, ofOperator, period } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { EitherOf, tellsOfPlayers } from "../common/Annotations.ts"
import { bonusStates } from "../../domain/state/Bonus.ts"
import { entryTypes, walletKinds } from "../../domain/state/Change.ts"
import { PlayerBonus } from "../bonuses/BonusResource.ts"
import { amountFrom, date, instant, lines, oneOf, pathId, text } from "../common/Fields.ts"
import { RetiredSeeds } from "../secrets/StaffApi.ts"
import { refusals } from "../common/Errors.ts"
import { Consent, consentChange } from "../consents/ConsentResource.ts"
import { Correction } from "../corrections/StaffApi.ts"
import { PlayerCompliance } from "../obligations/StaffApi.ts"
import { Limits } from "../responsibleGaming/LimitsResource.ts"
import {
  exclusionPeriods,
  exclusionScopes,
  exclusionTypes,
  requestChannels
} from "../../domain/jurisdiction/ExclusionPeriods.ts"
import { Profile, Raise } from "../../domain/jurisdiction/Profile.ts"
import {
  created,
  cursorPage,
  cursorQuery,
  pageOrWalk,
  part,
  partQuery,
  single,
  walkQuery
} from "../common/Pagination.ts"
import { Player, PlayerFilterFields } from "./PlayerResource.ts"
import { documentExpiry, kycStatuses, playerStatuses } from "../../domain/state/Player.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { Transaction } from "../ledger/TransactionResource.ts"
import { statementForms, statementQuery } from "../statements/StatementResource.ts"
import { Wallet } from "../wallet/WalletResource.ts"

const optional = Schema.optionalKey

const StaffPlayer = Schema.Struct({ operator_id: id, ...Player.fields })

/** With what the player's jurisdiction says of exclusions and of raises. */
const StaffLimits = Schema.Struct({
  ...Limits.fields,
  rules: Schema.Struct({
    ...Struct.map(Struct.pick(Profile.fields, ["code", "name", "breaks"]), Schema.toType),
    raise: Schema.toType(Raise)
  })
})

/** An entry with the name of its game. */
const PlayerEntry = Schema.Struct({
  ...Transaction.fields,
  game: Schema.NullOr(Schema.String).annotate({ description: "Its name; null for what is not of a game." })
})

/** A player's consents to marketing. */
const PlayerConsents = Schema.Struct({ player_id: id, operator_id: id, consents: Schema.Array(Consent) })

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

const Ability = Schema.Struct({
  is_allowed: Schema.Boolean,
  code: Schema.NullOr(Schema.String).annotate({ description: "Code of the refusal; null where it is allowed." }),
  cause: Schema.NullOr(Schema.String).annotate({
    description: "Reason or limit in the refusal's details: `locked`, `time_out`, `compliance_hold`, `max_daily_bet`."
  }),
  message: Schema.NullOr(Schema.String).annotate({ description: "The refusal in words." }),
  until: Schema.NullOr(timestamp).annotate({ description: "End of the cause; null: it does not end by itself." })
}).annotate({ identifier: "Ability" })

/** What a player may do now. */
const Standing = Schema.Struct({
  sign_in: Ability,
  deposit: Ability,
  bet: Ability,
  withdraw: Ability,
  receive_bonuses: Ability
}).annotate({ identifier: "Standing" })

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
  "audit",
  "play"
] as const

/** Play at one game: entries that follow each other in the timeline. */
const PlayLine = Schema.Struct({
  game_id: id,
  from: timestamp,
  rounds: Schema.Int,
  staked: money.annotate({ description: "Minor units of both wallets, less bets that were taken back." }),
  won: money.annotate({ description: "Minor units of both wallets, less wins that were taken back." })
}).annotate({ identifier: "PlayLine" })

/** Something that happened to a player. */
export const TimelineItem = Schema.Struct({
  at: timestamp,
  kind: Schema.Literals(timelineKinds),
  id,
  title: Schema.String,
  detail: Schema.NullOr(Schema.String).annotate({ [tellsOfPlayers]: true }),
  play: Schema.NullOr(PlayLine).annotate({
    description:
      "Of play, which is folded by game up to 500 entries, and whose last moment is `at`; null for anything else."
  }),
  amount: Schema.NullOr(money),
  currency: Schema.NullOr(currencyCode),
  actor: Schema.NullOr(Schema.String).annotate({ description: "As the audit log names who acts." }),
  href: Schema.NullOr(Schema.String).annotate({
    description: "The address of its page, from the root of the back office."
  })
})

export const PlayerGroup = HttpApiGroup.make("player").annotate(OpenApi.Description, "Players").add(
  HttpApiEndpoint.get("show", "/players/:player", {
    params: { player: pathId },
    query: belongingTo,
    success: single(StaffPlayer)
  }).annotateMerge(action("One player", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("list", "/players", {
    query: {
      ...partQuery,
      ...ofOperator,
      sort: optional(oneOf(playerOrders).annotate({ description: "Order (newest)." })),
      starting_with: optional(text(254, {
        description:
          "Beginnings of words, each of a name, the username, the e-mail, the phone or the external id, whatever the case and accents, or a whole id. Only the first page is there."
      })),
      ...PlayerFilterFields.fields,
      external_id: optional(text(128, { description: "Filter by external id, exact match." }))
    },
    success: part(StaffPlayer)
  }).annotateMerge(action("Players, newest first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("wallet", "/players/:player/wallet", { params: { player: pathId }, success: single(Wallet) })
    .annotateMerge(action("The balances", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("transactions", "/players/:player/transactions", {
    params: { player: pathId },
    query: {
      ...walkQuery,
      type: optional(oneOf(entryTypes).annotate({ description: "Filter by type." })),
      wallet: optional(oneOf(walletKinds).annotate({ description: "Filter by wallet." })),
      ...createdPeriod
    },
    success: pageOrWalk(PlayerEntry)
  }).annotateMerge(action("The ledger, newest first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("statement", "/players/:player/statement", {
    params: { player: pathId },
    query: statementQuery,
    success: statementForms
  }).annotateMerge(
    action("A statement of a period of days: balances, totals and every entry", { roles: anyRole, concern: "operator" })
  ),
  HttpApiEndpoint.get("consents", "/players/:player/consents", {
    params: { player: pathId },
    success: single(PlayerConsents)
  }).annotateMerge(
    action("The consents to marketing, by channel and product", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.patch("consent", "/players/:player/consents", {
    params: { player: pathId },
    payload: Schema.Struct({ ...consentChange, reason: auditReason }),
    success: single(PlayerConsents)
  }).annotateMerge(
    action("Grant or withdraw a consent to marketing at the player's request", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("bonuses", "/players/:player/bonuses", {
    params: { player: pathId },
    query: {
      ...partQuery,
      state: optional(oneOf(bonusStates).annotate({ description: "Filter by state." })),
      ...period
    },
    success: part(PlayerBonus)
  }).annotateMerge(action("The bonuses that were granted, newest first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("limits", "/players/:player/limits", { params: { player: pathId }, success: single(StaffLimits) })
    .annotateMerge(
      action("The limits with what waits, and the self-exclusion", { roles: anyRole, concern: "operator" })
    ),
  HttpApiEndpoint.get("standing", "/players/:player/standing", {
    params: { player: pathId },
    success: single(Standing)
  })
    .annotateMerge(
      action("What the player may do now, each with the cause when not; balances aside", {
        roles: anyRole,
        concern: "operator"
      })
    ),
  HttpApiEndpoint.get("compliance", "/players/:player/compliance", {
    params: { player: pathId },
    success: single(PlayerCompliance)
  }).annotateMerge(
    action("The jurisdiction, and what it stops and asks for now", { roles: ["compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.post("jurisdiction", "/players/:player/jurisdiction", {
    params: { player: pathId },
    payload: Schema.Struct({
      to: text(64, { description: "Code of one of the operator's jurisdictions." }),
      reason: auditReason
    }),
    success: single(PlayerCompliance),
    error: refusals("RESPONSIBLE_GAMING_RULE")
  }).annotateMerge(
    action("Move a player to another jurisdiction; what is stricter counts at once, what is looser waits", {
      roles: ["compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.post("exclude", "/players/:player/exclusion", {
    params: { player: pathId },
    payload: Schema.Struct({
      period: optional(oneOf(exclusionPeriods).annotate({ description: "How long, in place of --until." })),
      until: optional(instant.annotate({ description: "End, in place of --period." })),
      type: optional(oneOf(exclusionTypes).annotate({ description: "Type (by the length)." })),
      scope: optional(
        oneOf(exclusionScopes).annotate({ description: "Where it holds (as the player's jurisdiction says)." })
      ),
      channel: oneOf(requestChannels).annotate({ description: "How the player asked." }),
      reason: auditReason
    }),
    success: single(Limits),
    error: refusals("RESPONSIBLE_GAMING_RULE")
  }).annotate(EitherOf, ["period", "until"]).annotateMerge(
    action("Exclude a player at the player's request; prolonged only, never shortened or lifted", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.patch("limit", "/players/:player/limits", {
    params: { player: pathId },
    payload: Schema.Struct({
      // any name: one that is no limit is refused, where a struct would pass over it
      set: Schema.Record(Schema.String, Schema.NullOr(Schema.Number)).annotate({
        description: "New values by limit; none takes one away."
      }),
      reason: auditReason
    }),
    success: single(Limits),
    error: refusals("RESPONSIBLE_GAMING_RULE")
  }).annotateMerge(
    action("Change limits at the player's request; a lower one at once, a higher one after the cooling-off", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("sessions", "/players/:player/sessions", {
    params: { player: pathId },
    query: { ...cursorQuery, ...period },
    success: cursorPage(GameSession)
  }).annotateMerge(action("Launches of games, the last first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("timeline", "/players/:player/timeline", {
    params: { player: pathId },
    query: {
      ...cursorQuery,
      kind: optional(
        oneOf(timelineKinds).annotate({ description: "Filter by kind; entry shows every entry of play." })
      ),
      ...period
    },
    success: cursorPage(TimelineItem)
  }).annotateMerge(action("Everything that happened, newest first", {
    // alerts and the audit log in it are for the roles that may list them
    roles: anyRole,
    concern: "operator"
  })),
  HttpApiEndpoint.post("status", "/players/:player/status", {
    params: { player: pathId },
    payload: Schema.Struct({
      status: oneOf(playerStatuses).annotate({ description: "New status." }),
      reason: optional(lines(1000, { description: "Why: a note on the player." }))
    }),
    success: single(StaffPlayer)
  }).annotateMerge(
    action("Lock, close or open an account; the reason stays as a note", {
      roles: ["support", "compliance"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.post("kyc", "/players/:player/kyc", {
    params: { player: pathId },
    payload: Schema.Struct({
      status: oneOf(kycStatuses).annotate({ description: "New status." }),
      document_expires_on: optional(
        Schema.NullOr(date).annotate({
          description: `With verified: ${documentExpiry}, like 2031-05-31.`
        })
      ),
      reason: optional(auditReason)
    }),
    success: single(StaffPlayer)
  }).annotateMerge(
    action("Say how far the identity is known", { roles: ["compliance"], concern: "operator", is: "authority" })
  ),
  HttpApiEndpoint.patch("restrict", "/players/:player/restrictions", {
    params: { player: pathId },
    payload: Schema.Struct({
      can_login: optional(Schema.Boolean.annotate({ description: "Whether session tokens are issued." })),
      can_deposit: optional(Schema.Boolean.annotate({ description: "Whether deposits are taken." })),
      can_withdraw: optional(Schema.Boolean.annotate({ description: "Whether withdrawals are taken." })),
      can_bet: optional(Schema.Boolean.annotate({ description: "Whether games open and bets are taken." })),
      excluded_from_bonuses: optional(Schema.Boolean.annotate({ description: "Whether no bonus is given." })),
      reason: optional(auditReason)
    }),
    success: single(StaffPlayer)
  }).annotateMerge(action("Switch abilities on or off", { roles: ["support", "compliance"], concern: "operator" })),
  HttpApiEndpoint.post("sign_out", "/players/:player/sign-out", {
    params: { player: pathId },
    payload: Schema.Struct({ reason: optional(auditReason) }),
    success: single(StaffPlayer)
  }).annotateMerge(
    action("End all session tokens and game sessions", { roles: ["support", "compliance"], concern: "operator" })
  ),
  HttpApiEndpoint.post("correct", "/players/:player/corrections", {
    params: { player: pathId },
    payload: Schema.Struct({
      wallet: optional(oneOf(walletKinds).annotate({ description: "Wallet (real)." })),
      amount: amountFrom(-Number.MAX_SAFE_INTEGER).annotate({ description: "Signed minor units, not zero." }),
      reason: auditReason
    }),
    success: [
      created(Transaction),
      single(Correction).pipe(HttpApiSchema.status(202)).annotate({
        description: "Above the operator's threshold: nothing is posted before a second person approves it."
      })
    ],
    error: refusals("LIMIT_EXCEEDED")
  }).annotateMerge(
    action("Set a balance right; above the operator's threshold a second person has to approve it", {
      roles: ["payments"],
      concern: "operator",
      is: "money"
    })
  ),
  HttpApiEndpoint.post("retire_seeds", "/players/:player/retired-seeds", {
    params: { player: pathId },
    payload: Schema.Struct({ reason: auditReason }),
    success: single(RetiredSeeds)
  }).annotateMerge(
    action("Retire the server seeds of originals that no master key opens any more", {
      roles: ["support"],
      concern: "operator"
    })
  ),
  HttpApiEndpoint.post("note", "/players/:player/notes", {
    params: { player: pathId },
    payload: Schema.Struct({
      text: lines(2000).check(Schema.isPattern(/\S/u, { message: "must not be blank" })).annotate({
        description: "The note."
      })
    }),
    success: created(Note)
  }).annotateMerge(action("Write a note; it is never changed", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("notes", "/players/:player/notes", {
    params: { player: pathId },
    query: { ...partQuery, ...period },
    success: part(Note)
  }).annotateMerge(
    action("What was written about a player, with payments and grants, newest first", {
      roles: anyRole,
      concern: "operator"
    })
  )
)
