/** Plans the provider calls that settle actions, single or in a batch. */
import { Effect } from "effect"
import { applyDueBonusesStep } from "../../../domain/bonus/BonusGrants.ts"
import type { Context as Circumstances, Decision, Step } from "../../../domain/state/Decision.ts"
import type { Player } from "../../../domain/state/Player.ts"
import { type Refusal, refuse, refuseFields } from "../../../domain/Refusal.ts"
import {
  type Action,
  type Bet,
  settle,
  settleAll,
  settleBetWin,
  type SettledGame,
  type Settlement,
  type SettlementRefusal,
  unknownGame
} from "../../../domain/settlement/Settlement.ts"
import { minorDigits } from "../../../domain/Standards.ts"
import { type CreditTerms, flagLargeCredits } from "../../../domain/wallet/LargeCredits.ts"
import { toMinorUnits } from "../../../protocols/Decimal.ts"
import type { ActionSubject, PlayerName, SettleCall, WalletOutcome } from "../../../protocols/Protocol.ts"
import { PlayerActors } from "../../../store/PlayerActors.ts"
import { FreeRounds } from "../../freeRounds/FreeRounds.ts"
import { OpeningSessions } from "../../games/OpeningSessions.ts"
import { ActiveOperators } from "../../operators/ActiveOperators.ts"
import { gameOfRound, isGameKnown, isInRoundOfBet } from "../RoundOfBet.ts"
import { type CallingProvider, idOfAction, mayBeExamined, toAction } from "../WalletActions.ts"
import {
  type Asking,
  type CallOf,
  fundsOf,
  type Known,
  type Lacking,
  type Named,
  nobody,
  otherCurrency,
  type Plan,
  type RefusedPlayer,
  type WalletLookups
} from "./WalletLookups.ts"

type Settled = Extract<WalletOutcome, { readonly _tag: "Settled" }>

const noSuchGrant = refuse("NOT_FOUND", "There are no such free rounds of this player.")

const wholeAmountRefusal = refuseFields({ amount: ["must be a whole number of the currency's minor units"] })

const otherPlayer = (index: number) =>
  refuseFields({ [`actions.${index}`]: ["must be for the same player as the first"] })

const emptyBatch = refuseFields({ actions: ["must not be empty"] })

/** Whether free rounds have to be looked up: a free bet that names them settles without. */
const needsGrant = ({ grant }: SettleCall): boolean => grant !== undefined && (grant.mustExist || grant.finishes)

/** Winnings of free rounds that a call ends, minor units; null when not stated. */
const wonOf = ({ won }: Exclude<SettleCall["grant"], undefined>, { funds, settlements }: Settled): number | null =>
  won === undefined
    ? settlements.reduce((sum, { bonusAmount, realAmount }) => sum + realAmount + bonusAmount, 0)
    : (won && toMinorUnits(won, minorDigits(funds.currency))) ?? null

type Settling = Decision<ReadonlyArray<Settlement>, SettlementRefusal>

/** A decision with one settlement, as one with a list. */
const asList = (decision: Decision<Settlement, SettlementRefusal>): Settling =>
  decision._tag === "Accept"
    ? {
      _tag: "Accept",
      state: decision.state,
      reply: [decision.reply],
      change: decision.change,
      idsUsed: decision.idsUsed
    }
    : decision

/** Settles actions as what they are: one, a bet with its win, or several. */
const settleActions = (
  player: Player,
  actions: ReadonlyArray<Action>,
  { isBatch, isOne }: { readonly isBatch: boolean; readonly isOne: boolean },
  context: Circumstances
): Settling => {
  const [first, second] = actions
  if (isBatch || first === undefined) return settleAll(player, actions, context)
  if (second === undefined) return asList(settle(player, first, context))
  return isOne && first.action === "bet" && second.action === "win" && actions.length === 2
    ? asList(settleBetWin(player, first, second, context))
    : settleAll(player, actions, context)
}

/** A refusal writes nothing, but a bonus that is over is no longer shown. */
const refuseShowing = (refusal: Refusal, player: Player, context: Circumstances, played: SettledGame | undefined) => ({
  _tag: "Refuse" as const,
  error: { ...refusal, funds: fundsOf(applyDueBonusesStep(player, context).state, played) }
})

export const makeSettlementPlans = Effect.fnUntraced(function*(lookups: WalletLookups) {
  const operators = yield* ActiveOperators
  const actors = yield* PlayerActors
  const freeRounds = yield* FreeRounds
  const openings = yield* OpeningSessions
  const { gameOf, lackingGameOfRound, lackingGrant, lackingRound, lackingTerms, refOf, refused, resolve } = lookups

  /** The session that bets are placed under. */
  const sessionOf = ({ session }: Named, subject: ActionSubject): Bet["session"] =>
    subject.session === "none" && session === undefined
      ? "none"
      // sessions of a deactivated operator take no new bets; open rounds are still settled
      : session?.mode === "real" && operators.isActive(session.operatorId)
      ? { id: session.sessionId, expiresAt: session.expiresAt }
      : null

  /** Settles the actions that are made of the player's currency. */
  const settleStep = (
    provider: CallingProvider,
    name: PlayerName,
    named: Named,
    played: SettledGame | undefined,
    terms: CreditTerms | null,
    shape: { readonly isBatch: boolean; readonly isOne: boolean },
    actionsFor: (player: Player) => ReadonlyArray<Action> | Refusal
  ): Step<WalletOutcome, RefusedPlayer> =>
  (player, context) => {
    const actions = actionsFor(player)
    if ("_tag" in actions) return refuseShowing(actions, player, context, played)
    const opening = openings.refuse(player, actions, context.now)
    if (opening !== undefined) return refuseShowing(opening, player, context, played)
    const decision = flagLargeCredits(settleActions(player, actions, shape, context), context, terms)
    switch (decision._tag) {
      case "Missing":
        return decision
      case "Refuse":
        return refuseShowing(decision.error, player, context, played)
      case "Accept":
        return {
          _tag: "Accept",
          state: decision.state,
          reply: {
            _tag: "Settled",
            settlements: decision.reply,
            playerRef: refOf(provider.providerId, named, name),
            funds: fundsOf(decision.state, played)
          },
          change: decision.change,
          idsUsed: decision.idsUsed
        }
    }
  }

  /** The rules' actions of a call for one player. */
  const actionsOf = (
    provider: CallingProvider,
    call: SettleCall,
    session: Bet["session"],
    game: SettledGame,
    found: SettledGame | null | undefined,
    player: Player
  ): ReadonlyArray<Action> | Refusal => {
    const { gameId, roundId } = call
    const currency = call.currency ?? player.currency
    const isUnnamed = gameId === null && roundId !== null
    if (isUnnamed && currency !== player.currency) return otherCurrency(player.currency)
    const ofRound = isUnnamed ? gameOfRound(player, provider.providerId, roundId) ?? found ?? undefined : game
    const place = {
      currency,
      game: ofRound ?? unknownGame,
      roundId: roundId ?? "",
      session: session === "none" && !operators.isActive(player.operatorId) ? null : session
    }
    const actions: Array<Action> = []
    for (const action of call.actions) {
      // a round that cannot be found is left as it is, and so is one of an unknown game, for which the transactions before it are not refused
      const isLost = ofRound === undefined || (ofRound.id === unknownGame.id && call.actions.length > 1)
      if (isLost && action.action === "close_round") continue
      const made = toAction(provider, place, action)
      if (made === undefined) return wholeAmountRefusal
      actions.push(made)
    }
    return actions
  }

  /** Plans a call for a player who was found. */
  const planSettled = (
    provider: CallingProvider,
    sent: SettleCall,
    named: Named,
    known: Known
  ): Lacking | Asking => {
    const { providerId } = provider
    const isAway = sent.inRound !== undefined && known.inRound === undefined &&
      !isInRoundOfBet(actors.peek(null, named.playerId), providerId, sent)
    if (isAway) return lackingRound(providerId, named.playerId, sent)
    const call = known.inRound ?? sent
    const isGameless = call.gameId === null && known.gameOfRound === undefined &&
      !isGameKnown(actors.peek(null, named.playerId), providerId, call)
    if (isGameless) return lackingGameOfRound(providerId, named.playerId, call)
    const game = gameOf(providerId, call.gameId, known)
    if ("_tag" in game) return game
    const isExamined = call.actions.some(mayBeExamined)
    if (isExamined && known.terms === undefined) return lackingTerms(named.playerId)
    const session = sessionOf(named, call)
    const played = call.gameId === null ? undefined : game
    const shape = { isBatch: false, isOne: call.isOne === true }
    const actionsFor = (player: Player) => actionsOf(provider, call, session, game, known.gameOfRound, player)
    return {
      _tag: "Asking",
      name: call.player,
      named,
      step: settleStep(provider, call.player, named, played, known.terms ?? null, shape, actionsFor)
    }
  }

  /** Plans a call that ends free rounds or belongs to some: they identify the player where the call does not. */
  const planGrant = (
    provider: CallingProvider,
    call: SettleCall,
    grant: Exclude<SettleCall["grant"], undefined>,
    known: Known
  ): Plan => {
    const { providerId } = provider
    const found = known.grant
    if (found === undefined) return lackingGrant(providerId, grant.reference)
    if (found === null && grant.mustExist) return refused(noSuchGrant, providerId, call.player)
    const { ref, token, transactionId } = call.player
    const isNamed = ref !== null || token !== null || transactionId !== null
    const named = isNamed || found === null
      ? resolve(providerId, call.player, idOfAction(call.actions[0]), known)
      : { playerId: found.playerId, session: undefined }
    if ("_tag" in named) return named._tag === "Lacking" ? named : refused(named, providerId, call.player)
    const isOfPlayer = found?.playerId === named.playerId
    if (!isOfPlayer && grant.mustExist) return refused(noSuchGrant, providerId, call.player)
    const plan = planSettled(provider, call, named, known)
    return plan._tag === "Lacking" || found === null || !isOfPlayer || !grant.finishes ? plan : {
      ...plan,
      after: (outcome) => outcome._tag === "Settled" ? freeRounds.finish(found.id, wonOf(grant, outcome)) : Effect.void
    }
  }

  const planSettle = (provider: CallingProvider, call: SettleCall, known: Known): Plan => {
    if (call.grant !== undefined && needsGrant(call)) return planGrant(provider, call, call.grant, known)
    const named = resolve(provider.providerId, call.player, idOfAction(call.actions[0]), known)
    if (!("_tag" in named)) return planSettled(provider, call, named, known)
    return named._tag === "Lacking" ? named : refused(named, provider.providerId, call.player)
  }

  const planBatch = (provider: CallingProvider, { entries }: CallOf<"batch">, known: Known): Plan => {
    const { providerId } = provider
    const [first] = entries
    let owner: Named | undefined
    const places: Array<{ readonly game: SettledGame; readonly session: Bet["session"] }> = []
    for (const [index, entry] of entries.entries()) {
      const named = resolve(providerId, entry.player, idOfAction(entry.action), known)
      if ("_tag" in named) return named._tag === "Lacking" ? named : refused(named, providerId, entry.player)
      owner ??= named
      if (named.playerId !== owner.playerId) return refused(otherPlayer(index), providerId, entry.player)
      const game = gameOf(providerId, entry.gameId, known)
      if ("_tag" in game) return game
      places.push({ game, session: sessionOf(named, entry) })
    }
    if (first === undefined || owner === undefined) {
      return refused(emptyBatch, providerId, nobody)
    }
    const isExamined = entries.some(({ action }) => mayBeExamined(action))
    if (isExamined && known.terms === undefined) return lackingTerms(owner.playerId)
    const actionsFor = (player: Player): ReadonlyArray<Action> | Refusal => {
      const actions: Array<Action> = []
      for (const [index, { game, session }] of places.entries()) {
        const entry = entries[index] ?? first
        const place = { game, session, roundId: entry.roundId ?? "", currency: entry.currency ?? player.currency }
        const made = toAction(provider, place, entry.action)
        if (made === undefined) return wholeAmountRefusal
        actions.push(made)
      }
      return actions
    }
    const shape = { isBatch: true, isOne: false }
    return {
      _tag: "Asking",
      name: first.player,
      named: owner,
      step: settleStep(provider, first.player, owner, undefined, known.terms ?? null, shape, actionsFor)
    }
  }

  return { planSettle, planBatch }
})
