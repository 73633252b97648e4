/** A player's balances, and deposits into the wallet. */
import { Context, Effect, Layer } from "effect"
import { type Bounds, type Factor, thresholdIn } from "../../domain/CurrencyConversion.ts"
import type { KeyedReply } from "../../domain/state/StoringReply.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { type Deposit, type DepositRefusal, depositStep, type PaymentOutcome } from "../../domain/payment/Payments.ts"
import type { Player } from "../../domain/state/Player.ts"
import { unverifiedAllowance } from "../../domain/payment/Withdrawals.ts"
import type { PaymentMethod } from "../payments/Methods.ts"
import { type KnownTerms, makePlanTerms, noTerms } from "../payments/PaymentPlans.ts"
import { Thresholds } from "../payments/Thresholds.ts"
import type { AskedRegisters } from "../../domain/player/RegisterAdmission.ts"
import { Cases } from "../cases/Cases.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { Registers } from "../registers/Registers.ts"
import { isLacking, type Lacking, planned } from "../../store/Planned.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"
import { type KnownPlayer, lackingPlayer, noPlayer } from "../../store/PlayerPlans.ts"
import { type PlayerCommand, runCommand, startCommand, type Started } from "../../store/PlayerCommands.ts"

export interface WalletView {
  readonly player: Player
  /** Remaining minor units withdrawable without verification; null without a limit. */
  readonly unverifiedWithdrawalAllowance: number | null
}

export interface DepositRequest {
  /** Minor units, positive. */
  readonly amount: number
  readonly externalReference: string
  readonly paymentMethod: string | null
  readonly info: string | null
  readonly notes: string | null
}

/** A deposit to decide; cap and bounds in the player's currency. */
const toDeposit = (
  { amount, externalReference, info, notes, paymentMethod: methodCode }: DepositRequest,
  terms: Pick<Deposit, "method" | "bounds" | "dailyCap">
): Deposit => ({ ...terms, amount, externalReference, methodCode, info, notes })

const ownBounds = ({ maxDeposit, minDeposit }: PaymentMethod): Bounds => ({ min: minDeposit, max: maxDeposit })

/** What was looked up for a view; a factor is null where there is no rate. */
interface KnownView extends KnownPlayer {
  readonly factor: Factor | null | undefined
}

const nothingKnown: KnownView = { ...noPlayer, factor: undefined }

export class Wallet extends Context.Service<Wallet, {
  /** The committed balances of a player (SPEC section 2.3). */
  readonly view: (operator: Operator, playerId: number) => Effect.Effect<WalletView, ActorRefusal>
  /** As `view`, synchronously; undefined when the answer needs waiting or is a refusal. */
  readonly viewAtOnce: (operator: Operator, playerId: number) => WalletView | undefined
  /** As `view`, for staff: a player of any operator. */
  readonly staffView: (playerId: number) => Effect.Effect<WalletView, ActorRefusal>
  /** Credits a deposit, or returns the existing one with the reference (SPEC section 4.4). */
  readonly deposit: (
    operator: Operator,
    playerId: number,
    request: DepositRequest,
    answering: KeyedReply<PaymentOutcome>
  ) => Effect.Effect<PaymentOutcome, DepositRefusal | ActorRefusal>
  /**
   * As `deposit`, without a fiber, for a request with this signature: `done` is called once, perhaps at once. False when nothing was done: something
   * has to be looked up first.
   */
  readonly startDeposit: (
    operator: Operator,
    playerId: number,
    request: DepositRequest,
    accepted: AcceptedSignature,
    done: (exit: Started<PaymentOutcome, DepositRefusal>) => void
  ) => boolean
}>()("pitboss/wallet/Wallet") {
  static readonly layer = Layer.effect(
    Wallet,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const registers = yield* Registers
      const planTerms = yield* makePlanTerms
      const thresholds = yield* Thresholds
      const cases = yield* Cases

      /** A case of the month about a player whom the cap on net deposits refuses: whether the cap fits is for staff to see. */
      const noteRefused = Effect.fnUntraced(function*(operatorId: number, playerId: number, refusal: Refusal) {
        const { limit, resets_at: resetsAt } = refusal.details
        if (limit !== "net_deposit_cap" || typeof resetsAt !== "string") return
        const { rules: { code, version } } = yield* actors.read(operatorId, playerId)
        yield* cases.open({
          player: playerId,
          operator: operatorId,
          type: "affordability",
          by: "compliance",
          note: `The cap on net deposits refuses a deposit (${code}, version ${version}).`,
          occurrence: `month until ${resetsAt}`
        })
      })

      const planView = (
        { currency: base, id, kycWithdrawalThreshold }: Operator,
        playerId: number,
        known: KnownView
      ): WalletView | Lacking<KnownView, ActorRefusal> => {
        const player = actors.peek(id, playerId) ?? known.player
        if (player === undefined) {
          return lackingPlayer(actors, id, playerId)
        }
        const { currency, kycStatus } = player
        if (kycStatus === "verified" || kycWithdrawalThreshold === null) {
          return { player, unverifiedWithdrawalAllowance: null }
        }
        if (currency === base) {
          return { player, unverifiedWithdrawalAllowance: unverifiedAllowance(player, kycWithdrawalThreshold) }
        }
        return known.factor === undefined
          ? {
            _tag: "Lacking",
            lookUp: () => Effect.map(thresholds.factor({ currency, base }), (factor) => ({ factor: factor ?? null }))
          }
          : {
            player,
            unverifiedWithdrawalAllowance: unverifiedAllowance(
              player,
              thresholdIn(kycWithdrawalThreshold, known.factor ?? undefined)
            )
          }
      }

      const view: Wallet["Service"]["view"] = (operator, playerId) =>
        planned(nothingKnown, (known) => planView(operator, playerId, known))

      const viewAtOnce: Wallet["Service"]["viewAtOnce"] = (operator, playerId) => {
        const view = planView(operator, playerId, nothingKnown)
        return isLacking(view) ? undefined : view
      }

      const staffView = Effect.fn("Wallet.staffView")(function*(playerId: number) {
        const player = yield* actors.read(null, playerId)
        const { kycThreshold } = yield* thresholds.caps(player.operatorId, player.currency)
        return { player, unverifiedWithdrawalAllowance: unverifiedAllowance(player, kycThreshold) }
      })

      const planDeposit = (
        operator: Operator,
        playerId: number,
        request: DepositRequest,
        known: KnownTerms,
        asked?: AskedRegisters
      ): PlayerCommand<PaymentOutcome, DepositRefusal> | Lacking<KnownTerms, ActorRefusal> => {
        const { dailyDepositCap, id } = operator
        const terms = planTerms({
          operator,
          playerId,
          methodCode: request.paymentMethod,
          boundsOf: ownBounds,
          caps: [dailyDepositCap]
        }, known)
        if (isLacking(terms)) return terms
        const { bounds, inCurrency, method } = terms
        const deposit = toDeposit(request, { method, bounds, dailyCap: inCurrency(dailyDepositCap) })
        return { operatorId: id, playerId, step: depositStep(deposit, asked), isNameless: false }
      }

      const deposit: Wallet["Service"]["deposit"] = Effect.fnUntraced(
        function*(operator, playerId, request, answering) {
          return yield* registers.through(playerId, "deposit", (asked) =>
            Effect.flatMap(
              planned(noTerms, (known) => planDeposit(operator, playerId, request, known, asked)),
              (command) => runCommand(actors, command, answering)
            )).pipe(
              // the next refused deposit opens what this one could not
              Effect.tapError((refusal) => Effect.ignore(noteRefused(operator.id, playerId, refusal)))
            )
        }
      )

      const startDeposit: Wallet["Service"]["startDeposit"] = (operator, playerId, request, accepted, done) => {
        const command = planDeposit(operator, playerId, request, noTerms)
        const cap = actors.peek(operator.id, playerId)?.rules.deposits.net_cap ?? null
        if (isLacking(command) || cap !== null || registers.mayAsk(operator, playerId, "deposit")) return false
        startCommand(actors, command, accepted, done)
        return true
      }

      return Wallet.of({ view, viewAtOnce, staffView, deposit, startDeposit })
    })
  )
}
