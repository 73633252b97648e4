/** Balances and deposits of a player. */
import { Context, Effect, type Exit, Layer } from "effect"
import { type Bounds, boundsIn, oneForOne, thresholdIn } from "../../domain/CurrencyConversion.ts"
import { type KeyedReply, storingReply } from "../../domain/state/StoringReply.ts"
import type { AcceptedSignature } from "../../domain/state/AcceptedSignature.ts"
import { type Recorded, storingSignature } from "../../domain/state/StoringSignature.ts"
import type { Operator } from "../../domain/state/Operator.ts"
import { type Deposit, type DepositRefusal, depositStep, type PaymentOutcome } from "../../domain/payment/Payments.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { Refusal } from "../../domain/Refusal.ts"
import { unverifiedAllowance } from "../../domain/payment/Withdrawals.ts"
import { type PaymentMethod, PaymentMethods } from "../payments/Methods.ts"
import { Thresholds } from "../payments/Thresholds.ts"
import { type ActorRefusal, PlayerActors } from "../../store/PlayerActors.ts"

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
   * As `deposit`, without a fiber, for a request with this signature: `done` is called once, perhaps at once. False when nothing was done: the player
   * or the method is not in memory, or the player has another currency than the operator.
   */
  readonly startDeposit: (
    operator: Operator,
    playerId: number,
    request: DepositRequest,
    accepted: AcceptedSignature,
    done: (
      exit: Exit.Exit<Recorded<PaymentOutcome>, DepositRefusal | ActorRefusal | Refusal<"REPLAYED_REQUEST">>
    ) => void
  ) => boolean
}>()("pitboss/wallet/Wallet") {
  static readonly layer = Layer.effect(
    Wallet,
    Effect.gen(function*() {
      const actors = yield* PlayerActors
      const methods = yield* PaymentMethods
      const thresholds = yield* Thresholds

      const view = Effect.fnUntraced(function*(operator: Operator, playerId: number) {
        const player = yield* actors.read(operator.id, playerId)
        if (player.kycStatus === "verified") return { player, unverifiedWithdrawalAllowance: null }
        const { currency: base, kycWithdrawalThreshold } = operator
        const threshold = yield* thresholds.convert(kycWithdrawalThreshold, { currency: player.currency, base })
        return { player, unverifiedWithdrawalAllowance: unverifiedAllowance(player, threshold) }
      })

      const viewAtOnce = ({ currency, id, kycWithdrawalThreshold }: Operator, playerId: number) => {
        const player = actors.peek(id, playerId)
        if (player === undefined) return undefined
        if (kycWithdrawalThreshold !== null && player.currency !== currency) return undefined
        const threshold = thresholdIn(kycWithdrawalThreshold, oneForOne)
        return { player, unverifiedWithdrawalAllowance: unverifiedAllowance(player, threshold) }
      }

      const staffView = Effect.fn("Wallet.staffView")(function*(playerId: number) {
        const player = yield* actors.read(null, playerId)
        const threshold = yield* thresholds.kyc(player.operatorId, player.currency)
        return { player, unverifiedWithdrawalAllowance: unverifiedAllowance(player, threshold) }
      })

      const deposit = Effect.fnUntraced(function*(
        operator: Operator,
        playerId: number,
        request: DepositRequest,
        answering: KeyedReply<PaymentOutcome>
      ) {
        const { paymentMethod: methodCode } = request
        const method = methodCode === null ? null : (yield* methods.find(operator.id, methodCode)) ?? null
        const base = operator.currency
        const needsCurrency = operator.dailyDepositCap !== null ||
          method?.currencies.some((currency) => currency !== base)
        const currency = needsCurrency ? (yield* actors.read(operator.id, playerId)).currency : base
        const dailyCap = yield* thresholds.convert(operator.dailyDepositCap, { currency, base })
        const bounds = method === null
          ? null
          : yield* thresholds.bounds(ownBounds(method), { currency, base })
        const step = depositStep(toDeposit(request, { method, bounds, dailyCap }))
        return yield* actors.ask(operator.id, playerId, storingReply(step, answering.claim, answering.render))
      })

      const startDeposit: Wallet["Service"]["startDeposit"] = (operator, playerId, request, accepted, done) => {
        const { paymentMethod: code } = request
        const method = code === null ? null : methods.findUnsafe(operator.id, code)
        if (method === undefined || actors.peek(operator.id, playerId)?.currency !== operator.currency) return false
        const deposit = toDeposit(request, {
          method,
          bounds: method === null ? null : boundsIn(ownBounds(method), oneForOne),
          dailyCap: thresholdIn(operator.dailyDepositCap, oneForOne)
        })
        actors.post(operator.id, playerId, storingSignature(depositStep(deposit), accepted), done)
        return true
      }

      return Wallet.of({ view, viewAtOnce, staffView, deposit, startDeposit })
    })
  )
}
