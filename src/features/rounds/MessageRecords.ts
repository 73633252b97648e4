/** Provider messages for staff: one message with its outcome, and the calls that were refused or replayed. */
import { Context, Effect, Layer } from "effect"
import { formatAmount } from "../../domain/bonus/BonusTermsText.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { iso } from "../../platform/Time.ts"
import { mapPart, type Part, type PartQuery } from "../../store/Cursors.ts"
import { orTryAgain } from "../../store/Rows.ts"
import { type Scope } from "../../store/OperatorScope.ts"
import { idIn } from "../../office/References.ts"
import { type KeptCall, KeptCalls, keptForDays } from "../integrations/KeptCalls.ts"
import { storyOf } from "../../contract/rounds/MessageFacts.ts"
import type { KeptCall as ShownCall, MessageDetails } from "../../contract/rounds/StaffApi.ts"
import { makeMessageParts } from "./internal/MessageParts.ts"
import { makeProviderMessages } from "./ProviderMessages.ts"

type Details = typeof MessageDetails.Type

/** Absent means any. */
export interface CallQuery extends PartQuery {
  readonly scope: Scope
  readonly playerId?: number | undefined
  /** Id or slug. */
  readonly provider?: string | undefined
  /** The provider's ids. */
  readonly transaction?: string | undefined
  readonly round?: string | undefined
  readonly kind?: KeptCall["kind"] | undefined
  readonly result?: KeptCall["result"] | undefined
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** A message as staff name it. */
interface NamedMessage {
  /** Id or slug. */
  readonly provider: string
  /** The provider's id of it, or that of an entry that it posted. */
  readonly transaction: string
  readonly isEntry: boolean
  readonly playerId?: number | undefined
}

const noProvider = refuse("NOT_FOUND", "There is no such provider.")

export class MessageRecords extends Context.Service<MessageRecords, {
  /**
   * A message with its story, its entries, its round, what it names and what names it, and the calls about it that moved no money; of a player if given. A
   * message that was never accepted is found by its refused calls.
   */
  readonly show: (scope: Scope, message: NamedMessage) => Effect.Effect<Details, Refusal<"NOT_FOUND" | "TRY_AGAIN">>
  /** Calls that moved no money, the newest first. */
  readonly calls: (
    query: CallQuery
  ) => Effect.Effect<Part<typeof ShownCall.Type>, Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "TRY_AGAIN">>
}>()("pitboss/rounds/MessageRecords") {
  static readonly layer = Layer.effect(
    MessageRecords,
    Effect.gen(function*() {
      const kept = yield* KeptCalls
      const providerMessages = yield* makeProviderMessages
      const parts = yield* makeMessageParts

      const unseen = ({ name, slug }: { readonly name: string; readonly slug: string }, id: string) =>
        refuse(
          "NOT_FOUND",
          `There is no message ${id} of ${name}: none was accepted, and none was refused in the last ${keptForDays} days. ` +
            `Look for the player's rounds of that time, compare the day with the provider's (provider reconcile ${slug}), or ask ${name} to send it again.`
        )

      /** The provider's id of the message that posted an entry. */
      const idOfEntry = Effect.fnUntraced(function*(scope: Scope, providerId: number, transaction: string) {
        const entryId = idIn(transaction)
        const entry = entryId === undefined ? undefined : yield* providerMessages.entry(scope, entryId)
        return entryId === undefined || entry === undefined
          ? undefined
          : yield* parts.messageOfEntry(providerId, entry.playerId, entryId, entry.at)
      })

      const show: MessageRecords["Service"]["show"] = Effect.fn("MessageRecords.show")(
        function*(scope, { isEntry, playerId, provider: providerNamed, transaction }) {
          const provider = yield* providerMessages.provider(providerNamed)
          if (provider === undefined) return yield* Effect.fail(noProvider)
          const id = isEntry ? yield* idOfEntry(scope, provider.id, transaction) : transaction
          if (id === undefined) return yield* Effect.fail(unseen(provider, transaction))
          const found = yield* parts.message(scope, provider.id, id)
          const isOther = playerId !== undefined && found !== undefined && found.message.player_id !== playerId
          const settled = isOther ? undefined : found
          const calls = yield* kept.about(scope, { providerId: provider.id, ids: [id], playerId })
          const last = calls.findLast((call) => call.transactionId === id)
          if (settled === undefined && last === undefined) return yield* Effect.fail(unseen(provider, id))
          const owner = settled?.message.player_id ?? last?.playerId ?? null
          const player = owner === null ? undefined : yield* parts.player(scope, owner)
          const named = settled === undefined && last?.gameExternalId !== undefined && last.gameExternalId !== null
            ? yield* providerMessages.game(provider.id, last.gameExternalId)
            : undefined
          const gameId = settled?.gameId ?? null
          const game = gameId === null ? named : yield* parts.game(gameId)
          const roundId = settled === undefined ? last?.roundId ?? null : settled.roundId
          const details: Omit<Details, "story"> = {
            provider,
            transaction_id: id,
            player: player ?? null,
            game: game ?? null,
            round_id: roundId,
            round: player === undefined || game === undefined || roundId === null
              ? null
              : yield* parts.round(player.id, game.id, roundId),
            message: settled?.message ?? null,
            related: settled === undefined ? [] : yield* parts.related(provider.id, settled.message, settled.at),
            entries: settled === undefined ? [] : yield* parts.entries(settled.message, settled.at),
            calls: calls.map((call) => shownCall(call, provider.slug))
          }
          const currency = player?.currency ?? "EUR"
          return {
            ...details,
            story: storyOf(details, {
              money: (amount) =>
                `${amount < 0 ? "-" : ""}${formatAmount(Math.abs(amount), currency, minorDigits(currency))}`,
              instant: (at) => at
            })
          }
        },
        orTryAgain
      )

      const calls: MessageRecords["Service"]["calls"] = Effect.fn("MessageRecords.calls")(
        function*({ provider: named, round, scope, transaction, ...query }) {
          const provider = named === undefined ? undefined : yield* providerMessages.provider(named)
          if (named !== undefined && provider === undefined) return yield* Effect.fail(noProvider)
          const found = yield* kept.list(scope, {
            ...query,
            providerId: provider?.id,
            transactionId: transaction,
            roundId: round
          })
          const slugs = yield* providerMessages.slugs(found.items.map(({ providerId }) => providerId))
          return mapPart(found, (call) => shownCall(call, slugs.get(call.providerId) ?? ""))
        },
        orTryAgain
      )

      return MessageRecords.of({ show, calls })
    })
  )
}

/** A kept call as it shows. `provider`: slug. */
export const shownCall = (call: KeptCall, provider: string): typeof ShownCall.Type => ({
  id: call.id,
  at: iso(call.at),
  operator_id: call.operatorId === 0 ? null : call.operatorId,
  provider,
  player_id: call.playerId,
  kind: call.kind,
  method: call.method,
  transaction_id: call.transactionId,
  target_transaction_id: call.targetTransactionId,
  game_external_id: call.gameExternalId,
  round_id: call.roundId,
  amount: call.amount,
  currency: call.currency,
  result: call.result,
  code: call.code,
  reason: call.reason,
  status: call.status,
  answer: call.answer
})
