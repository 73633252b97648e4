/** Staff API endpoints for game rounds and provider messages. */
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { auditReason, ofOperator, ofPlayer, period } from "../common/StaffFields.ts"
import { action, anyRole } from "../common/StaffAction.ts"
import { integer, oneOf, reference, text } from "../common/Fields.ts"
import { cursorPage, cursorQuery, part, partQuery, single } from "../common/Pagination.ts"
import { currencyCode, id, money, timestamp } from "../common/Resource.ts"
import { callKinds, callResults } from "../../domain/settlement/MessageStory.ts"
import { transactionKinds, transactionStatuses } from "../../domain/state/Rounds.ts"
import { Transaction } from "../ledger/TransactionResource.ts"

const optional = Schema.optionalKey

/** A round that no provider has ended. */
const OpenRound = Schema.Struct({
  operator_id: id,
  player_id: id,
  provider: Schema.String,
  game_id: id,
  game: Schema.String,
  round_id: Schema.String,
  real_stake: money,
  bonus_stake: money,
  currency: currencyCode,
  opened_at: timestamp
})

/** Whether more bets may come. */
export const roundStates = ["open", "closed"] as const

/** A player's part in a round: of a live game's, many players have one each. */
export const PlayerRound = Schema.Struct({
  operator_id: id,
  player_id: id,
  username: Schema.String,
  currency: currencyCode,
  state: Schema.Literals(roundStates),
  real_stake: money.annotate({ description: "Minor units, of the bets that stand." }),
  bonus_stake: money.annotate({ description: "Minor units, of the bets that stand." }),
  paid_wins: Schema.Int.annotate({ description: "How many wins above zero stand." }),
  taken_back: Schema.Int.annotate({ description: "How many messages are rolled back." }),
  opened_at: timestamp
})

const wins = money.annotate({ description: "Minor units, of the wins that stand, in both wallets." })

/** A line of the search. */
export const RoundLine = Schema.Struct({
  ...PlayerRound.fields,
  wins,
  result: money.annotate({ description: "The player's: wins less stakes." }),
  provider: Schema.String.annotate({ description: "Its slug." }),
  game_id: id,
  game_external_id: Schema.String,
  game: Schema.String.annotate({ description: "Its name." }),
  round_id: Schema.String
})

/** A message that a provider sent, or the tombstone of one that was rolled back before it came. */
export const RoundMessage = Schema.Struct({
  transaction_id: Schema.String.annotate({ description: "The provider's." }),
  player_id: id,
  kind: Schema.Literals(transactionKinds),
  status: Schema.Literals(transactionStatuses),
  amount: money.annotate({ description: "Minor units, as the message said." }),
  real_amount: money.annotate({ description: "What moved in the real wallet, signed." }),
  bonus_amount: money.annotate({ description: "What moved in the bonus wallet, signed." }),
  target_transaction_id: Schema.NullOr(Schema.String).annotate({
    description: "The bet of a win, the target of a rollback."
  }),
  rolled_back_by: Schema.NullOr(Schema.String).annotate({
    description: "The rollback that took it back last and stands."
  }),
  detail: Schema.NullOr(Schema.String),
  entry_ids: Schema.Array(id),
  at: timestamp
})

/** A call of a provider that moved no money, with the answer that was given: kept for 30 days. */
export const KeptCall = Schema.Struct({
  id,
  at: timestamp,
  operator_id: Schema.NullOr(id).annotate({ description: "Null: the call named no player." }),
  provider: Schema.String.annotate({ description: "Its slug." }),
  player_id: Schema.NullOr(id),
  kind: Schema.Literals(callKinds),
  method: Schema.String.annotate({ description: "As the protocol calls it." }),
  transaction_id: Schema.NullOr(Schema.String).annotate({
    description: "The provider's; null for the end of a round."
  }),
  target_transaction_id: Schema.NullOr(Schema.String).annotate({
    description: "The bet of a win, the target of a rollback."
  }),
  game_external_id: Schema.NullOr(Schema.String),
  round_id: Schema.NullOr(Schema.String),
  amount: Schema.NullOr(Schema.String).annotate({
    description: "Major units, as sent, with the sign by which it would have moved the player's money."
  }),
  currency: Schema.NullOr(Schema.String),
  result: Schema.Literals(callResults).annotate({
    description: "`replayed`: answered as the first time; `ignored`: its rollback had come first."
  }),
  code: Schema.NullOr(Schema.String).annotate({ description: "Why it was refused." }),
  reason: Schema.NullOr(Schema.String).annotate({ description: "The limit or the restriction that refused it." }),
  status: Schema.Int.annotate({ description: "HTTP status of the answer." }),
  answer: Schema.String.annotate({ description: "The answer's body, its first 500 characters." })
})

const NamedProvider = Schema.Struct({ id, slug: Schema.String, name: Schema.String })
const NamedGame = Schema.Struct({ id, external_id: Schema.String, name: Schema.String })

export const MessagePlayer = Schema.Struct({ id, operator_id: id, username: Schema.String, currency: currencyCode })

/** The part of a message's player in its round. */
export const MessageRound = Schema.Struct({
  ...Struct.pick(PlayerRound.fields, ["state", "real_stake", "bonus_stake", "paid_wins", "taken_back", "opened_at"]),
  wins
})

export const MessageDetails = Schema.Struct({
  provider: NamedProvider,
  transaction_id: Schema.String.annotate({ description: "The provider's." }),
  story: Schema.String.annotate({ description: "What became of it, in plain sentences; instants in UTC." }),
  player: Schema.NullOr(MessagePlayer).annotate({ description: "Null: no call named one." }),
  game: Schema.NullOr(NamedGame),
  round_id: Schema.NullOr(Schema.String),
  round: Schema.NullOr(MessageRound).annotate({ description: "The player's part in it; null where there is none." }),
  message: Schema.NullOr(RoundMessage).annotate({ description: "Null: no call under this id was accepted." }),
  related: Schema.Array(RoundMessage).annotate({
    description: "Its rollbacks, and what it names: the bet of a win, the target of a rollback."
  }),
  entries: Schema.Array(Transaction),
  calls: Schema.Array(KeptCall).annotate({
    description: "Calls with its id, or about taking it back, that moved no money; the last 100, oldest first."
  })
})

export const RoundDetails = Schema.Struct({
  provider: NamedProvider,
  game: NamedGame,
  round_id: Schema.String,
  original_round_id: Schema.NullOr(id).annotate({ description: "Of a round of an original, which no message makes." }),
  players: Schema.Array(Schema.Struct({
    ...PlayerRound.fields,
    wins: money.annotate({ description: "Minor units, of the wins that stand, in both wallets." }),
    last_message_at: timestamp
  })),
  messages: Schema.Array(RoundMessage),
  entries: Schema.Array(Transaction),
  calls: Schema.Array(KeptCall).annotate({
    description: "Calls about it that moved no money; the last 100, oldest first."
  }),
  is_cut: Schema.Boolean.annotate({
    description: "Whether there are more messages than are shown: the round has very many. Name a player."
  })
})

const roundPath = {
  provider: reference.annotate({ description: "Id or slug of the provider." }),
  game: reference.annotate({ description: "The provider's id of the game, or ours." }),
  round: reference.annotate({ description: "The provider's id of the round." })
}

export const RoundGroup = HttpApiGroup.make("round").annotate(OpenApi.Description, "Rounds of games").add(
  HttpApiEndpoint.get("list", "/rounds/open", {
    query: {
      ...partQuery,
      ...ofOperator,
      older_than_hours: optional(
        integer(24, 87_600).annotate({ description: "Open for at least so many hours, 24 or more (48)." })
      )
    },
    success: part(OpenRound)
  }).annotateMerge(
    action("Rounds without an end, the oldest first: to be reconciled with their providers", {
      roles: anyRole,
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("search", "/rounds", {
    query: {
      ...cursorQuery,
      ...ofOperator,
      ...ofPlayer,
      provider: optional(reference.annotate({ description: "Filter by provider, id or slug." })),
      game: optional(
        reference.annotate({ description: "Filter by game: its name, the provider's id of it, or ours." })
      ),
      transaction: optional(
        reference.annotate({
          description:
            "Filter by a message: the provider's id of it, or the id of an entry. With --provider where two providers have that id."
        })
      ),
      state: optional(oneOf(roundStates).annotate({ description: "Filter by state." })),
      ...period
    },
    success: cursorPage(RoundLine)
  }).annotateMerge(action("Rounds, the last opened first", { roles: anyRole, concern: "operator" })),
  HttpApiEndpoint.get("message", "/messages/:provider/:transaction", {
    params: {
      provider: roundPath.provider,
      transaction: text(300).annotate({ description: "The provider's id of the message." })
    },
    query: {
      ...ofPlayer,
      by: optional(
        oneOf(["message", "entry"]).annotate({
          description: "What the id is of: the message, or an entry of the ledger that it posted (message)."
        })
      )
    },
    success: single(MessageDetails)
  }).annotateMerge(
    action(
      "What became of one message: what it moved, what took it back, and every call that was refused or replayed",
      {
        roles: anyRole,
        concern: "operator"
      }
    )
  ),
  HttpApiEndpoint.get("calls", "/messages", {
    query: {
      ...cursorQuery,
      ...ofOperator,
      ...ofPlayer,
      provider: optional(reference.annotate({ description: "Filter by provider, id or slug." })),
      transaction: optional(text(300).annotate({ description: "Filter by the provider's id of a message." })),
      round: optional(reference.annotate({ description: "Filter by the provider's id of a round." })),
      kind: optional(oneOf(callKinds).annotate({ description: "Filter by kind." })),
      result: optional(oneOf(callResults).annotate({ description: "Filter by result." })),
      ...period
    },
    success: cursorPage(KeptCall)
  }).annotateMerge(
    action("Calls of providers that were refused or replayed, of the last 30 days, newest first", {
      roles: anyRole,
      concern: "operator"
    })
  ),
  HttpApiEndpoint.get("show", "/rounds/:provider/:game/:round", {
    params: roundPath,
    query: ofPlayer,
    success: single(RoundDetails)
  }).annotateMerge(
    action("One round with every message that came and its entries", { roles: anyRole, concern: "operator" })
  ),
  HttpApiEndpoint.post("close", "/rounds/:provider/:game/:round/close", {
    params: roundPath,
    payload: Schema.Struct({
      reason: auditReason,
      player: optional(
        integer(1, Number.MAX_SAFE_INTEGER).annotate({
          description: "Id of a player: closes this part of the round only."
        })
      )
    }),
    success: single(RoundDetails)
  }).annotateMerge(
    action(
      "Close a round that its provider did not end; a win that comes all the same is paid if the provider may send one",
      { roles: ["support", "payments"], concern: "operator" }
    )
  )
)
