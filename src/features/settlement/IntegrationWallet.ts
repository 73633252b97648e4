/**
 * Wallet for vendor protocols: resolves names to players, games and sessions, converts exact amounts to minor units, and includes the player's funds
 * in every outcome, refusals too (`docs/decisions/0043-provider-protocols.md`).
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { Context as Circumstances, Decision, Step } from "../../domain/state/Decision.ts"
import type { Player } from "../../domain/state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { stakeableBonus } from "../../domain/settlement/Bets.ts"
import { exchangeSession, isSessionGivenUp, isSessionRunning } from "../../domain/settlement/Launch.ts"
import {
  type Action,
  type Bet,
  settleAll,
  type SettledGame,
  type SettlementPolicy,
  unknownGame
} from "../../domain/settlement/Settlement.ts"
import { minorDigits } from "../../domain/Standards.ts"
import { type CreditTerms, flagLargeCredits, isExamined } from "../../domain/wallet/LargeCredits.ts"
import { type Amount, toMinorUnits } from "../../protocols/Decimal.ts"
import type {
  Funds,
  Identified,
  PlayerName,
  SettleCall,
  WalletAction,
  WalletCall,
  WalletOutcome
} from "../../protocols/Protocol.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { FreeRounds } from "../freeRounds/FreeRounds.ts"
import type { Game } from "../games/Game.ts"
import { Games } from "../games/Games.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { SessionTokens, type WalletSession } from "../games/SessionTokens.ts"
import { ActiveOperators } from "../operators/ActiveOperators.ts"
import { ProviderTransactions } from "./ProviderTransactions.ts"
import { VendorPlayers } from "../integrations/VendorPlayers.ts"
import { gameOfRound, inRoundOfBet, isInRoundOfBet } from "./RoundOfBet.ts"

/** The calling provider. */
export interface CallingProvider {
  readonly providerId: number
  readonly policy: SettlementPolicy
}

type Settled = Extract<WalletOutcome, { readonly _tag: "Settled" }>

/** A refusal of a known player. */
type RefusedPlayer = Refusal & { readonly funds?: Funds }

/** Player and session of a call. */
interface Named {
  readonly playerId: number
  /** Session of the call's token; undefined without one, or for one of another player. */
  readonly session: WalletSession | undefined
}

const noSuchPlayer = refuse("NOT_FOUND", "This provider has no such player.")

/** `over`: it was one of ours. */
const invalidSession = (session: "unknown" | "over") =>
  refuse("INVALID_SESSION", "The wallet session is unknown or over. Launch the game again.", { session })

const wholeAmountRefusal = refuseFields({ amount: ["must be a whole number of the currency's minor units"] })

const otherCurrency = (currency: string) => refuseFields({ currency: [`must be the player's currency ${currency}`] })

/** Maximum decimal places of a currency: an upper bound in minor units of an amount whose currency is not known yet. */
const maxDigits = 4

const mayBeExamined = (action: WalletAction): boolean =>
  (action.action === "win" || action.action === "promo_win" || action.action === "adjust") &&
  isExamined(toMinorUnits(action.amount, maxDigits) ?? Number.POSITIVE_INFINITY)

/** Whether free rounds have to be looked up: a free bet that names them settles without. */
const needsGrant = ({ grant }: SettleCall): boolean => grant !== undefined && (grant.mustExist || grant.finishes)

/** Winnings of free rounds that a call ends, minor units; null when not stated. */
const wonOf = ({ won }: Exclude<SettleCall["grant"], undefined>, { funds, settlements }: Settled): number | null =>
  won === undefined
    ? settlements.reduce((sum, { bonusAmount, realAmount }) => sum + realAmount + bonusAmount, 0)
    : (won && toMinorUnits(won, minorDigits(funds.currency))) ?? null

const noSuchGrant = refuse("NOT_FOUND", "There are no such free rounds of this player.")

/** Funds available for the game; without one, including bonus money of any game. */
const fundsOf = (player: Player, game: SettledGame | undefined): Funds => ({
  currency: player.currency,
  real: player.real,
  bonus: game === undefined ? player.bonus : stakeableBonus(player, game)
})

/** The wallet's actions of a call. Undefined when an amount is none of the currency. */
const toActions = (
  { closings, currency, game, policy, providerId, session }: {
    readonly providerId: number
    readonly policy: SettlementPolicy
    readonly game: SettledGame
    readonly session: Bet["session"]
    readonly currency: string
    readonly closings: SettleCall
  }
): ReadonlyArray<Action> | undefined => {
  const digits = minorDigits(currency)
  const roundId = closings.roundId ?? ""
  const actions: Array<Action> = []
  const minor = (amount: Amount, minimum: number): number | undefined => {
    const units = toMinorUnits(amount, digits)
    return units === undefined || units < minimum ? undefined : units
  }
  for (const action of closings.actions) {
    const about = { providerId, policy, currency, game, roundId }
    switch (action.action) {
      case "bet": {
        const amount = minor(action.amount, 0)
        if (amount === undefined) return undefined
        const { closesRound, isFree, transactionId } = action
        actions.push({
          ...about,
          action: "bet",
          transactionId,
          closesRound,
          session,
          amount: isFree === true ? 0 : amount
        })
        break
      }
      case "win": {
        const amount = minor(action.amount, 0)
        if (amount === undefined) return undefined
        actions.push({ ...about, ...action, amount })
        break
      }
      case "promo_win": {
        const amount = minor(action.amount, 0)
        if (amount === undefined) return undefined
        actions.push({ ...about, ...action, amount })
        break
      }
      case "adjust": {
        const amount = minor(action.amount, Number.NEGATIVE_INFINITY)
        if (amount === undefined) return undefined
        actions.push({ ...about, ...action, amount })
        break
      }
      case "rollback":
        actions.push({ providerId, policy, ...action })
        break
      case "close_round":
        actions.push({ ...about, ...action })
        break
    }
  }
  return actions
}

/** Protocol calls; they never fail: a refusal is a `Refused` outcome. */
export class IntegrationWallet extends Context.Service<IntegrationWallet, {
  /**
   * Starts a call without a fiber and says true; `done` is called once, perhaps at once. Says false, with nothing done, where something has to
   * be looked up first.
   */
  readonly start: (
    provider: CallingProvider,
    call: WalletCall,
    done: (exit: Exit.Exit<WalletOutcome>) => void
  ) => boolean
  readonly run: (provider: CallingProvider, call: WalletCall) => Effect.Effect<WalletOutcome>
}>()("pitboss/integrations/IntegrationWallet") {
  static readonly layer = Layer.effect(
    IntegrationWallet,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const games = yield* Games
      const sessions = yield* SessionTokens
      const operators = yield* ActiveOperators
      const refs = yield* PlayerRefs
      const players = yield* VendorPlayers
      const freeRounds = yield* FreeRounds
      const transactions = yield* ProviderTransactions
      const { creditTerms, find: findTransaction } = transactions

      const toSettled = (game: Game): SettledGame => ({
        id: game.id,
        providerId: game.provider.id,
        type: game.type,
        active: game.active
      })

      /** The game in memory; undefined when it has to be looked up, `unknownGame` where the call names none. */
      const warmGame = (providerId: number, gameId: string | null): SettledGame | undefined => {
        if (gameId === null) return unknownGame
        const warm = games.findByExternalIdUnsafe(providerId, gameId)
        return warm === undefined ? undefined : toSettled(warm)
      }

      const findGame = (providerId: number, gameId: string | null): Effect.Effect<SettledGame, ActorRefusal> => {
        const warm = warmGame(providerId, gameId)
        return warm !== undefined
          ? Effect.succeed(warm)
          : Effect.map(
            games.findByExternalId(providerId, gameId ?? ""),
            (game) => game === undefined ? unknownGame : toSettled(game)
          )
      }

      /** Resolves a player's name without a query; undefined when its transaction has to be looked up. */
      const nameOf = (providerId: number, { ref, token, transactionId }: PlayerName): Named | Refusal | undefined => {
        const verified = token === null ? undefined : sessions.verify(token)
        const session = verified?.providerId === providerId ? verified : undefined
        if (ref !== null) {
          const playerId = refs.parse(providerId, ref)
          if (playerId === undefined) return token === null ? noSuchPlayer : invalidSession("unknown")
          return session !== undefined && session.playerId !== playerId
            ? invalidSession("unknown")
            : { playerId, session }
        }
        if (session !== undefined) return { playerId: session.playerId, session }
        return transactionId === null ? invalidSession("unknown") : undefined
      }

      const findName = Effect.fnUntraced(function*(providerId: number, name: PlayerName) {
        const named = nameOf(providerId, name)
        if (named !== undefined) return "_tag" in named ? yield* Effect.fail(named) : named
        const found = yield* findTransaction(providerId, name.transactionId ?? "")
        return found === undefined
          ? yield* Effect.fail(
            refuse("BET_NOT_FOUND", "There is no such transaction, and nothing else names the player.")
          )
          : { playerId: found.playerId, session: undefined }
      })

      /** The session that bets are placed under. */
      const sessionOf = ({ session }: Named, call: SettleCall): Bet["session"] =>
        call.session === "none" && session === undefined
          ? "none"
          // sessions of a deactivated operator take no new bets; open rounds are still settled
          : session?.mode === "real" && operators.isActive(session.operatorId)
          ? { id: session.sessionId, expiresAt: session.expiresAt }
          : null

      const settleStep = (
        { policy, providerId }: CallingProvider,
        call: SettleCall,
        named: Named,
        game: SettledGame,
        terms: CreditTerms | null
      ): Step<Pick<Settled, "settlements" | "funds">, RefusedPlayer> => {
        const session = sessionOf(named, call)
        const played = call.gameId === null ? undefined : game
        const { gameId, roundId } = call
        return (
          player: Player,
          context: Circumstances
        ): Decision<Pick<Settled, "settlements" | "funds">, RefusedPlayer> => {
          const currency = call.currency ?? player.currency
          const isUnnamed = gameId === null && roundId !== null
          if (isUnnamed && currency !== player.currency) {
            return { _tag: "Refuse", error: { ...otherCurrency(player.currency), funds: fundsOf(player, played) } }
          }
          const ofRound = isUnnamed ? gameOfRound(player, providerId, roundId) : game
          const actions = toActions({
            providerId,
            policy,
            game: ofRound ?? unknownGame,
            session: session === "none" && !operators.isActive(player.operatorId) ? null : session,
            currency,
            // a round that cannot be found is left as it is
            closings: ofRound !== undefined ? call : {
              ...call,
              actions: call.actions.filter(({ action }) => action !== "close_round")
            }
          })
          if (actions === undefined) {
            return { _tag: "Refuse", error: { ...wholeAmountRefusal, funds: fundsOf(player, played) } }
          }
          const decision = flagLargeCredits(settleAll(player, actions, context), context, terms)
          switch (decision._tag) {
            case "Missing":
              return decision
            case "Refuse":
              return { _tag: "Refuse", error: { ...decision.error, funds: fundsOf(player, played) } }
            case "Accept":
              return { ...decision, reply: { settlements: decision.reply, funds: fundsOf(decision.state, played) } }
          }
        }
      }

      const refOf = (providerId: number, playerId: number, { ref }: PlayerName): string =>
        ref ?? refs.playerRef(providerId, playerId)

      /** Tells a session that is over from one that never was. */
      const explained = (refusal: Refusal, named: Named): Refusal =>
        refusal.code === "INVALID_SESSION" && named.session !== undefined ? invalidSession("over") : refusal

      const settledOutcome = (
        { providerId }: CallingProvider,
        { player }: SettleCall,
        named: Named,
        settled: Pick<Settled, "settlements" | "funds">
      ): WalletOutcome => ({ _tag: "Settled", ...settled, playerRef: refOf(providerId, named.playerId, player) })

      const refusedOutcome = (
        refusal: RefusedPlayer,
        providerId: number,
        name: PlayerName,
        named: Named | undefined
      ): WalletOutcome => ({
        _tag: "Refused",
        refusal: named === undefined ? refusal : explained(refusal, named),
        playerRef: named === undefined ? name.ref : refOf(providerId, named.playerId, name),
        funds: refusal.funds ?? null
      })

      const start: IntegrationWallet["Service"]["start"] = (provider, call, done) => {
        if (call.kind !== "settle" || needsGrant(call) || call.actions.some(mayBeExamined)) return false
        const named = nameOf(provider.providerId, call.player)
        const game = warmGame(provider.providerId, call.gameId)
        if (named === undefined || game === undefined) return false
        if ("_tag" in named) {
          done(Exit.succeed(refusedOutcome(named, provider.providerId, call.player, undefined)))
          return true
        }
        const isElsewhere = call.inRound !== undefined &&
          !isInRoundOfBet(actors.peek(null, named.playerId), provider.providerId, call)
        if (isElsewhere) return false
        actors.post(null, named.playerId, settleStep(provider, call, named, game, null), (exit) => {
          if (Exit.isSuccess(exit)) return done(Exit.succeed(settledOutcome(provider, call, named, exit.value)))
          const failure = Exit.findErrorOption(exit)
          done(
            failure._tag === "Some"
              ? Exit.succeed(refusedOutcome(failure.value, provider.providerId, call.player, named))
              // only defects are left
              : Exit.die(exit.cause)
          )
        })
        return true
      }

      const settleFor = Effect.fnUntraced(function*(provider: CallingProvider, sent: SettleCall, named: Named) {
        const { providerId } = provider
        const call = sent.inRound === undefined
          ? sent
          // first of all the player: on a node that it is not of, nothing is looked up
          : yield* inRoundOfBet(transactions, yield* actors.read(null, named.playerId), providerId, sent)
        const game = yield* findGame(providerId, call.gameId)
        const terms = call.actions.some(mayBeExamined) ? yield* creditTerms(named.playerId) : null
        const settled = actors.ask(null, named.playerId, settleStep(provider, call, named, game, terms))
        return yield* Effect.match(settled, {
          onFailure: (refusal: RefusedPlayer): WalletOutcome => refusedOutcome(refusal, providerId, call.player, named),
          onSuccess: (settled): WalletOutcome => settledOutcome(provider, call, named, settled)
        })
      })

      /** Settles a call that ends free rounds or belongs to some: they identify the player where the call does not. */
      const settleGrant = Effect.fnUntraced(
        function*(provider: CallingProvider, call: SettleCall, grant: Exclude<SettleCall["grant"], undefined>) {
          const found = yield* freeRounds.find(provider.providerId, grant.reference)
          if (found === undefined && grant.mustExist) return yield* Effect.fail(noSuchGrant)
          const { ref, token, transactionId } = call.player
          const isNamed = ref !== null || token !== null || transactionId !== null
          const named = isNamed || found === undefined
            ? yield* findName(provider.providerId, call.player)
            : { playerId: found.playerId, session: undefined }
          const isOfPlayer = found?.playerId === named.playerId
          if (!isOfPlayer && grant.mustExist) return yield* Effect.fail(noSuchGrant)
          const outcome = yield* settleFor(provider, call, named)
          if (found !== undefined && isOfPlayer && grant.finishes && outcome._tag === "Settled") {
            yield* freeRounds.finish(found.id, wonOf(grant, outcome))
          }
          return outcome
        }
      )

      const settle = (provider: CallingProvider, call: SettleCall) =>
        call.grant !== undefined && needsGrant(call)
          ? settleGrant(provider, call, call.grant)
          : Effect.flatMap(findName(provider.providerId, call.player), (named) => settleFor(provider, call, named))

      /** The player of a call that settles nothing: under a token that runs, or by a reference that this provider was given. */
      const present = Effect.fnUntraced(function*(
        { providerId }: CallingProvider,
        name: PlayerName,
        { mayBeExchanged = false, mayBeOver = false } = {}
      ) {
        const named = yield* findName(providerId, name)
        const player = yield* actors.read(null, named.playerId)
        const now = yield* Clock.currentTimeMillis
        const { session } = named
        if (name.token === null) {
          return player.providerIds.includes(providerId) ? { named, player } : yield* Effect.fail(noSuchPlayer)
        }
        if (session === undefined) return yield* Effect.fail(invalidSession("unknown"))
        const isRunning = mayBeOver ||
          operators.isActive(session.operatorId) && isSessionRunning(player, session.expiresAt, now) &&
            (mayBeExchanged || !isSessionGivenUp(player, session.sessionId))
        return isRunning ? { named, player } : yield* Effect.fail(invalidSession("over"))
      })

      const exchanged = Effect.fnUntraced(function*(session: WalletSession) {
        const { expiresAt, sessionId } = yield* actors.ask(
          null,
          session.playerId,
          exchangeSession({
            id: session.sessionId,
            gameId: session.gameId,
            providerId: session.providerId,
            expiresAt: session.expiresAt,
            platform: null,
            ip: null
          })
        )
        return sessions.issue({ ...session, sessionId, expiresAt })
      })

      const identify = Effect.fnUntraced(
        function*(provider: CallingProvider, call: Extract<WalletCall, { readonly kind: "identify" }>) {
          const { named, player } = yield* present(provider, call.player, { mayBeExchanged: call.exchange })
          const { session } = named
          const about = yield* players.find(player.id)
          const game = yield* findGame(provider.providerId, call.gameId)
          const identified: Identified = {
            ...about,
            playerRef: refOf(provider.providerId, player.id, call.player),
            token: call.exchange && session?.mode === "real" ? yield* exchanged(session) : call.player.token,
            country: player.country,
            language: player.language
          }
          const outcome: WalletOutcome = {
            _tag: "Identified",
            player: identified,
            funds: fundsOf(player, call.gameId === null ? undefined : game)
          }
          return outcome
        }
      )

      const balance = Effect.fnUntraced(
        function*(provider: CallingProvider, call: Extract<WalletCall, { readonly kind: "balance" }>) {
          const { player } = yield* present(provider, call.player, call)
          const game = yield* findGame(provider.providerId, call.gameId)
          const funds = fundsOf(player, call.gameId === null ? undefined : game)
          if (call.currency !== null && call.currency !== player.currency) {
            return yield* Effect.fail<RefusedPlayer>({ ...otherCurrency(player.currency), funds })
          }
          const outcome: WalletOutcome = {
            _tag: "Balance",
            playerRef: refOf(provider.providerId, player.id, call.player),
            funds
          }
          return outcome
        }
      )

      const balances = Effect.fnUntraced(
        function*(provider: CallingProvider, call: Extract<WalletCall, { readonly kind: "balances" }>) {
          const { player } = yield* present(provider, call.player)
          const asked = yield* Effect.forEach(call.gameIds, (gameId) => findGame(provider.providerId, gameId))
          const outcome: WalletOutcome = {
            _tag: "Balances",
            playerRef: refOf(provider.providerId, player.id, call.player),
            funds: asked.map((game) => fundsOf(player, game))
          }
          return outcome
        }
      )

      const handle = (
        provider: CallingProvider,
        call: WalletCall
      ): Effect.Effect<WalletOutcome, RefusedPlayer> => {
        switch (call.kind) {
          case "identify":
            return identify(provider, call)
          case "balance":
            return balance(provider, call)
          case "balances":
            return balances(provider, call)
          case "settle":
            return settle(provider, call)
        }
      }

      const run: IntegrationWallet["Service"]["run"] = (provider, call) =>
        handle(provider, call).pipe(
          Effect.catch((refusal) =>
            Effect.succeed(refusedOutcome(refusal, provider.providerId, call.player, undefined))
          )
        )

      return IntegrationWallet.of({ start, run })
    })
  ).pipe(Layer.provide(ProviderTransactions.layer))
}
