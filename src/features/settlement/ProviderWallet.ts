/**
 * The provider wallet: resolves names to players, games and sessions and settles by `domain/settlement/Settlement.ts`.
 *
 * A message is known by its transaction id before anything else about it is looked at. Where a name in it leads nowhere, so that
 * no player can be asked, the store is: a known id still gets its answer, and only an unknown one is refused for the name.
 */
import { Context, Effect, type Exit, Layer } from "effect"
import { type CreditTerms, flagLargeCredits, isExamined } from "../../domain/wallet/LargeCredits.ts"
import type { Step } from "../../domain/state/Decision.ts"
import type { Provider } from "../../domain/state/Operator.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import {
  type Action,
  type Bet,
  type BetCode,
  type CloseRound,
  closeRound,
  ownPolicy,
  payPromoWin,
  type PromoWin,
  type PromoWinCode,
  type Rollback,
  type RollbackCode,
  settle,
  settleAll,
  settleBetWin,
  type SettledGame,
  type Settlement,
  type SettlementCode,
  unknownGame,
  type Win,
  type WinCode
} from "../../domain/settlement/Settlement.ts"
import type { Game } from "../games/Game.ts"
import { Games } from "../games/Games.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import type { WalletSession } from "../games/SessionTokens.ts"
import { ActiveOperators } from "../operators/ActiveOperators.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import type * as Wire from "../../contract/settlement/Api.ts"
import { invalidSession, makePlayerBalances, noSuchPlayer, type PlayerBalances } from "./PlayerBalances.ts"
import { ProviderTransactions } from "./ProviderTransactions.ts"

/** Messages as providers send them; `game_id` is the provider's own id, money is minor units. */
export type BetMessage = Omit<typeof Wire.Bet.Type, "request_id">
export type BetWinMessage = Omit<typeof Wire.BetWin.Type, "request_id">
export type WinMessage = Omit<typeof Wire.Win.Type, "request_id">
export type RollbackMessage = Omit<typeof Wire.Rollback.Type, "request_id">
export type PromoWinMessage = Omit<typeof Wire.PromoWin.Type, "request_id">
export type CloseRoundMessage = Omit<typeof Wire.CloseRound.Type, "request_id">
export type ActionMessage = typeof Wire.BatchAction.Type

export type TransactionStatus = "unknown" | "processed" | "rolled_back" | "tombstone"

type Settled<Code extends SettlementCode, A = Settlement> = Effect.Effect<A, Refusal<Code> | ActorRefusal>

/** Settles without a fiber and says true; says false, and has done nothing, where a name is not in memory and has to be looked up. */
type Start<Message, Code extends SettlementCode, A = Settlement> = (
  provider: Provider,
  message: Message,
  done: (exit: Exit.Exit<A, Refusal<Code> | ActorRefusal>) => void
) => boolean

/** Whether a large credit among the messages may raise an alert, by the terms of the player. */
const needsTerms = (message: ActionMessage): boolean => message.action === "win" && isExamined(message.amount)

export class ProviderWallet extends Context.Service<
  ProviderWallet,
  PlayerBalances & {
    readonly bet: (provider: Provider, message: BetMessage) => Settled<BetCode>
    readonly win: (provider: Provider, message: WinMessage) => Settled<WinCode>
    readonly betWin: (provider: Provider, message: BetWinMessage) => Settled<BetCode | WinCode>
    /** In order, all or nothing. All actions are one player's. */
    readonly batch: (
      provider: Provider,
      actions: ReadonlyArray<ActionMessage>
    ) => Settled<SettlementCode, ReadonlyArray<Settlement>>
    readonly rollback: (provider: Provider, message: RollbackMessage) => Settled<RollbackCode>
    readonly closeRound: (provider: Provider, message: CloseRoundMessage) => Settled<"NOT_FOUND">
    readonly promoWin: (provider: Provider, message: PromoWinMessage) => Settled<PromoWinCode>
    /** The frequent calls, for the express lane; `done` is called once, perhaps at once. They have no spans. */
    readonly start: {
      readonly bet: Start<BetMessage, BetCode>
      readonly win: Start<WinMessage, WinCode>
      readonly betWin: Start<BetWinMessage, BetCode | WinCode>
      readonly rollback: Start<RollbackMessage, RollbackCode>
      readonly batch: Start<ReadonlyArray<ActionMessage>, SettlementCode, ReadonlyArray<Settlement>>
    }
    readonly transactionStatus: (
      provider: Provider,
      transactionId: string
    ) => Effect.Effect<TransactionStatus, Refusal<"TRY_AGAIN">>
  }
>()("pitboss/settlement/ProviderWallet") {
  static readonly layerWithoutRepository = Layer.effect(
    ProviderWallet,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const games = yield* Games
      const operators = yield* ActiveOperators
      const refs = yield* PlayerRefs
      const { creditTerms, find: findTransaction } = yield* ProviderTransactions

      const toSettled = (game: Game | undefined): SettledGame =>
        // an original takes no bets from outside: its rounds are decided here
        game === undefined
          ? unknownGame
          : {
            id: game.id,
            providerId: game.provider.id,
            type: game.type,
            active: game.active && game.original === null
          }

      const findWarmGame = (provider: Provider, gameId: string): SettledGame | undefined => {
        const warm = games.findByExternalIdUnsafe(provider.id, gameId)
        return warm === undefined ? undefined : toSettled(warm)
      }

      const findGame = (provider: Provider, gameId: string): Effect.Effect<SettledGame, Refusal<"TRY_AGAIN">> => {
        const warm = findWarmGame(provider, gameId)
        return warm === undefined
          ? Effect.map(games.findByExternalId(provider.id, gameId), toSettled)
          : Effect.succeed(warm)
      }

      const { authenticate, balance, findSession, peek } = yield* makePlayerBalances

      /** Player of a known message id whose own names do not resolve; the refusal when unknown. */
      const playerOfKnown = <E>(provider: Provider, transactionId: string, refusal: E) =>
        Effect.flatMap(
          findTransaction(provider.id, transactionId),
          (known): Effect.Effect<number, E> =>
            known === undefined ? Effect.fail(refusal) : Effect.succeed(known.playerId)
        )

      const playerOfRef = (
        provider: Provider,
        message: Pick<RollbackMessage, "player_ref" | "transaction_id">
      ): Effect.Effect<number, Refusal<"NOT_FOUND" | "TRY_AGAIN" | "DUPLICATE_TRANSACTION">> => {
        const playerId = refs.parse(provider.id, message.player_ref)
        return playerId !== undefined
          ? Effect.succeed(playerId)
          : Effect.flatMap(playerOfKnown(provider, message.transaction_id, noSuchPlayer), () =>
            Effect.fail(
              refuse(
                "DUPLICATE_TRANSACTION",
                `The transaction ${message.transaction_id} was used for something else.`,
                {
                  transaction_id: message.transaction_id
                }
              )
            ))
      }

      const toBet = (
        provider: Provider,
        message: BetMessage,
        game: SettledGame,
        session: WalletSession | undefined
      ): Bet => ({
        action: "bet",
        policy: ownPolicy,
        providerId: provider.id,
        transactionId: message.transaction_id,
        currency: message.currency,
        game,
        roundId: message.round_id,
        amount: message.amount,
        isFree: message.is_free === true,
        // sessions of a deactivated operator take no new bets; open rounds are still settled
        session: session?.mode === "real" && operators.isActive(session.operatorId)
          ? { id: session.sessionId, expiresAt: session.expiresAt }
          : null,
        closesRound: message.round_closed ?? false
      })

      const toWin = (
        provider: Provider,
        message: Omit<WinMessage, "player_ref">,
        game: SettledGame
      ): Win => ({
        action: "win",
        policy: ownPolicy,
        providerId: provider.id,
        transactionId: message.transaction_id,
        currency: message.currency,
        game,
        roundId: message.round_id,
        betTransactionId: message.bet_transaction_id,
        amount: message.amount,
        closesRound: message.round_closed ?? false
      })

      const toRollback = (provider: Provider, message: RollbackMessage): Rollback => ({
        action: "rollback",
        policy: ownPolicy,
        providerId: provider.id,
        transactionId: message.transaction_id,
        targetTransactionId: message.target_transaction_id,
        closesRound: false
      })

      const toAction = (
        provider: Provider,
        message: ActionMessage,
        game: SettledGame,
        session: WalletSession | undefined
      ): Action =>
        message.action === "bet"
          ? toBet(provider, message, game, session)
          : message.action === "win"
          ? toWin(provider, message, game)
          : toRollback(provider, message)

      const playerOfBet = (
        provider: Provider,
        message: BetMessage,
        session: WalletSession | undefined
      ): Effect.Effect<number, Refusal<"INVALID_SESSION" | "TRY_AGAIN">> =>
        session === undefined
          ? playerOfKnown(provider, message.transaction_id, invalidSession)
          : Effect.succeed(session.playerId)

      const betStep = (action: Bet): Step<Settlement, Refusal<BetCode>> => (player, context) =>
        settle(player, action, context)

      const winStep =
        (action: Win, terms: CreditTerms | null): Step<Settlement, Refusal<WinCode>> => (player, context) =>
          flagLargeCredits(settle(player, action, context), context, terms)

      const rollbackStep = (action: Rollback): Step<Settlement, Refusal<RollbackCode>> => (player, context) =>
        settle(player, action, context)

      const betWinStep = (
        provider: Provider,
        message: BetWinMessage,
        game: SettledGame,
        session: WalletSession | undefined,
        terms: CreditTerms | null
      ): Step<Settlement, Refusal<BetCode | WinCode>> => {
        const placed = toBet(provider, { ...message, round_closed: false }, game, session)
        const paid = toWin(
          provider,
          { ...message, ...message.win, bet_transaction_id: message.transaction_id },
          game
        )
        return (player, context) => flagLargeCredits(settleBetWin(player, placed, paid, context), context, terms)
      }

      const batchStep = (actions: ReadonlyArray<Action>, terms: CreditTerms | null): Step<
        ReadonlyArray<Settlement>,
        Refusal<SettlementCode>
      > =>
      (player, context) => flagLargeCredits(settleAll(player, actions, context), context, terms)

      const bet = Effect.fnUntraced(function*(provider: Provider, message: BetMessage) {
        const session = findSession(provider, message.session_token)
        const playerId = yield* playerOfBet(provider, message, session)
        const game = yield* findGame(provider, message.game_id)
        return yield* actors.ask(null, playerId, betStep(toBet(provider, message, game, session)))
      })

      const win = Effect.fnUntraced(function*(provider: Provider, message: WinMessage) {
        const playerId = yield* playerOfRef(provider, message)
        const action = toWin(provider, message, yield* findGame(provider, message.game_id))
        const terms = isExamined(message.amount) ? yield* creditTerms(playerId) : null
        return yield* actors.ask(null, playerId, winStep(action, terms))
      })

      const rollback = Effect.fnUntraced(function*(provider: Provider, message: RollbackMessage) {
        const playerId = yield* playerOfRef(provider, message)
        return yield* actors.ask(null, playerId, rollbackStep(toRollback(provider, message)))
      })

      const betWin: ProviderWallet["Service"]["betWin"] = Effect.fnUntraced(function*(provider, message) {
        const session = findSession(provider, message.session_token)
        const playerId = yield* playerOfBet(provider, message, session)
        const game = yield* findGame(provider, message.game_id)
        const terms = isExamined(message.win.amount) ? yield* creditTerms(playerId) : null
        return yield* actors.ask(null, playerId, betWinStep(provider, message, game, session, terms))
      })

      const start: ProviderWallet["Service"]["start"] = {
        bet: (provider, message, done) => {
          const session = findSession(provider, message.session_token)
          const game = findWarmGame(provider, message.game_id)
          if (session === undefined || game === undefined) return false
          actors.post(null, session.playerId, betStep(toBet(provider, message, game, session)), done)
          return true
        },
        win: (provider, message, done) => {
          const playerId = refs.parse(provider.id, message.player_ref)
          const game = findWarmGame(provider, message.game_id)
          if (playerId === undefined || game === undefined || isExamined(message.amount)) return false
          actors.post(null, playerId, winStep(toWin(provider, message, game), null), done)
          return true
        },
        betWin: (provider, message, done) => {
          const session = findSession(provider, message.session_token)
          const game = findWarmGame(provider, message.game_id)
          if (session === undefined || game === undefined || isExamined(message.win.amount)) return false
          actors.post(null, session.playerId, betWinStep(provider, message, game, session, null), done)
          return true
        },
        rollback: (provider, message, done) => {
          const playerId = refs.parse(provider.id, message.player_ref)
          if (playerId === undefined) return false
          actors.post(null, playerId, rollbackStep(toRollback(provider, message)), done)
          return true
        },
        batch: (provider, messages, done) => {
          const actions: Array<Action> = []
          let playerId: number | undefined
          for (const message of messages) {
            const session = message.action === "bet" ? findSession(provider, message.session_token) : undefined
            const owner = message.action === "bet" ? session?.playerId : refs.parse(provider.id, message.player_ref)
            const game = message.action === "rollback" ? unknownGame : findWarmGame(provider, message.game_id)
            playerId ??= owner
            if (owner === undefined || owner !== playerId || game === undefined || needsTerms(message)) return false
            actions.push(toAction(provider, message, game, session))
          }
          if (playerId === undefined) return false
          actors.post(null, playerId, batchStep(actions, null), done)
          return true
        }
      }

      const batch: ProviderWallet["Service"]["batch"] = Effect.fnUntraced(function*(provider, messages) {
        const actions: Array<Action> = []
        let playerId: number | undefined
        for (const [index, message] of messages.entries()) {
          const session = message.action === "bet" ? findSession(provider, message.session_token) : undefined
          const owner = message.action === "bet"
            ? yield* playerOfBet(provider, message, session)
            : yield* playerOfRef(provider, message)
          playerId ??= owner
          if (owner !== playerId) {
            return yield* Effect.fail(
              refuseFields({ [`actions.${index}`]: ["must be for the same player as the first"] })
            )
          }
          const game = message.action === "rollback" ? unknownGame : yield* findGame(provider, message.game_id)
          actions.push(toAction(provider, message, game, session))
        }
        if (playerId === undefined) return yield* Effect.fail(refuseFields({ actions: ["must not be empty"] }))
        const terms = messages.some(needsTerms) ? yield* creditTerms(playerId) : null
        return yield* actors.ask(null, playerId, batchStep(actions, terms))
      })

      const close: ProviderWallet["Service"]["closeRound"] = Effect.fnUntraced(function*(provider, message) {
        const playerId = refs.parse(provider.id, message.player_ref)
        if (playerId === undefined) return yield* Effect.fail(noSuchPlayer)
        const game = yield* findGame(provider, message.game_id)
        if (game === unknownGame) return yield* Effect.fail(refuse("NOT_FOUND", "This provider has no such game."))
        const command: CloseRound = {
          action: "close_round",
          policy: ownPolicy,
          providerId: provider.id,
          game,
          roundId: message.round_id
        }
        return yield* actors.ask(null, playerId, (player, context) => closeRound(player, command, context))
      })

      const promoWin: ProviderWallet["Service"]["promoWin"] = Effect.fnUntraced(function*(provider, message) {
        const playerId = yield* playerOfRef(provider, message)
        const { amount, campaign_id: campaignId, currency, kind, transaction_id: transactionId } = message
        const command: PromoWin = {
          action: "promo_win",
          policy: ownPolicy,
          providerId: provider.id,
          transactionId,
          amount,
          currency,
          kind,
          campaignId
        }
        const terms = isExamined(amount) ? yield* creditTerms(playerId) : null
        return yield* actors.ask(
          null,
          playerId,
          (player, context) => flagLargeCredits(payPromoWin(player, command, context), context, terms)
        )
      })

      const transactionStatus: ProviderWallet["Service"]["transactionStatus"] = Effect.fn(
        "ProviderWallet.transactionStatus"
      )(function*(provider, transactionId) {
        const found = yield* findTransaction(provider.id, transactionId)
        if (found === undefined) return "unknown"
        return found.kind === "tombstone" ? "tombstone" : found.rolledBack ? "rolled_back" : "processed"
      })

      return ProviderWallet.of({
        authenticate,
        balance,
        bet,
        win,
        betWin,
        batch,
        rollback,
        closeRound: close,
        promoWin,
        start,
        peek,
        transactionStatus
      })
    })
  )

  static readonly layer = ProviderWallet.layerWithoutRepository.pipe(Layer.provide(ProviderTransactions.layer))
}
