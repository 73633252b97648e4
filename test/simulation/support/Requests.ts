/** What clients ask of the service, and what it answers, as both would be after HTTP and JSON. */
import type { ExclusionPeriod } from "../../../src/domain/limit/Exclusions.ts"
import type { LimitField } from "../../../src/domain/limit/Limits.ts"
import type { PaymentMove } from "../../../src/domain/payment/PaymentMoves.ts"
import type { KycStatus, PlayerStatus } from "../../../src/domain/player/Player.ts"
import type { Details, RefusalCode } from "../../../src/domain/Refusal.ts"
import type { Settlement } from "../../../src/domain/settlement/Settlement.ts"
import type {
  ActionMessage,
  BetMessage,
  RollbackMessage,
  WinMessage
} from "../../../src/features/settlement/ProviderWallet.ts"
import type { CloseRoundMessage, PromoWinMessage } from "../../../src/features/settlement/ProviderWallet.ts"

/** What a game provider sends. */
export type ProviderRequest =
  | { readonly kind: "bet"; readonly providerId: number; readonly message: BetMessage }
  | {
    readonly kind: "bet_win"
    readonly providerId: number
    readonly message: BetMessage & { readonly win: { readonly transactionId: string; readonly amount: number } }
  }
  | { readonly kind: "win"; readonly providerId: number; readonly message: WinMessage }
  | { readonly kind: "rollback"; readonly providerId: number; readonly message: RollbackMessage }
  | { readonly kind: "batch"; readonly providerId: number; readonly actions: ReadonlyArray<ActionMessage> }
  | { readonly kind: "close"; readonly providerId: number; readonly message: CloseRoundMessage }
  | { readonly kind: "promo_win"; readonly providerId: number; readonly message: PromoWinMessage }
  | { readonly kind: "balance"; readonly providerId: number; readonly playerRef: string }
  | { readonly kind: "status"; readonly providerId: number; readonly transactionId: string }

interface OfPlayer {
  readonly operatorId: number
  readonly playerId: number
}

/** What an operator sends; `key` is its idempotency key. */
export type OperatorRequest =
  & OfPlayer
  & (
    | {
      readonly kind: "deposit"
      readonly key: string | null
      readonly amount: number
      readonly reference: string
      readonly method: string | null
    }
    | {
      readonly kind: "withdraw"
      readonly key: string | null
      readonly amount: number
      readonly reference: string | null
      readonly info: string
    }
    | { readonly kind: "limits"; readonly limits: { readonly [field in LimitField]?: number | null } }
    | { readonly kind: "exclude"; readonly key: string | null; readonly period: ExclusionPeriod }
    | { readonly kind: "account"; readonly status: PlayerStatus; readonly reason: string }
    | { readonly kind: "grant"; readonly key: string; readonly bonusId: number; readonly note: string }
    | { readonly kind: "redeem"; readonly key: string | null; readonly code: string }
    | { readonly kind: "launch"; readonly key: string | null; readonly gameId: number }
    | { readonly kind: "view" }
  )

/** What staff send. */
export type StaffRequest =
  | { readonly kind: "move"; readonly paymentId: number; readonly move: PaymentMove; readonly staff: string }
  | { readonly kind: "correct"; readonly playerId: number; readonly amount: number; readonly reason: string }
  | {
    readonly kind: "kyc"
    readonly playerId: number
    readonly status: KycStatus
    readonly documentDays: number | null
  }
  | { readonly kind: "restrict"; readonly playerId: number; readonly canBet: boolean; readonly canDeposit: boolean }
  | { readonly kind: "cancel_bonus"; readonly bonusId: number }

/** Work that comes round by itself. */
export interface JobRequest {
  readonly kind: "job"
  readonly job: "accounts" | "bonuses" | "idempotency-keys"
}

export type Request = ProviderRequest | OperatorRequest | StaffRequest | JobRequest

export type Answer =
  | { readonly _tag: "Settled"; readonly results: ReadonlyArray<Settlement> }
  | { readonly _tag: "Balances"; readonly playerId: number; readonly real: number; readonly bonus: number }
  | { readonly _tag: "Standing"; readonly status: string }
  /** An answer with a body, stored under an idempotency key or given again from there. */
  | { readonly _tag: "Reply"; readonly status: number; readonly body: string; readonly isReplay: boolean }
  | { readonly _tag: "Refused"; readonly code: RefusalCode; readonly details: Details; readonly isReplay: boolean }

/** Whether an answer settles nothing: the caller is to come again. */
export const isPassing = (answer: Answer): boolean =>
  answer._tag === "Refused" && (answer.code === "TRY_AGAIN" || answer.code === "IDEMPOTENCY_IN_PROGRESS")
