/** Requests of clients and answers of the service, after HTTP and JSON decoding. */
import type { Details, RefusalCode } from "../../../src/domain/Refusal.ts"
import type { Settlement } from "../../../src/domain/settlement/Settlement.ts"
import type {
  ActionMessage,
  BetMessage,
  BetWinMessage,
  CloseRoundMessage,
  PromoWinMessage,
  RollbackMessage,
  WinMessage
} from "../../kit/OwnWallet.ts"
import type { What } from "./Plan.ts"

/** Requests of a game provider. */
export type ProviderRequest =
  | { readonly kind: "bet"; readonly providerId: number; readonly message: BetMessage }
  | { readonly kind: "bet_win"; readonly providerId: number; readonly message: BetWinMessage }
  | { readonly kind: "win"; readonly providerId: number; readonly message: WinMessage }
  | { readonly kind: "rollback"; readonly providerId: number; readonly message: RollbackMessage }
  | { readonly kind: "batch"; readonly providerId: number; readonly actions: ReadonlyArray<ActionMessage> }
  | (Planned<"vendor"> & { readonly playerId: number })
  | { readonly kind: "close"; readonly providerId: number; readonly message: CloseRoundMessage }
  | { readonly kind: "promo_win"; readonly providerId: number; readonly message: PromoWinMessage }
  | { readonly kind: "balance"; readonly providerId: number; readonly playerRef: string }
  | { readonly kind: "status"; readonly providerId: number; readonly transactionId: string }

type Planned<Kind extends What["kind"]> = Extract<What, { readonly kind: Kind }>

/** A request of an operator, as planned; `id` is that of its action, `key` its idempotency key. */
export type OperatorRequest =
  & Planned<"deposit" | "withdraw" | "limits" | "exclude" | "account" | "grant" | "redeem" | "launch" | "view">
  & { readonly operatorId: number; readonly playerId: number; readonly id: string; readonly key: string | null }

/** A request of staff, as planned. */
export type StaffRequest =
  | (Planned<"correct" | "kyc" | "restrict"> & { readonly playerId: number; readonly id: string })
  | (Planned<"move"> & { readonly paymentId: number })
  | (Planned<"cancel_bonus"> & { readonly bonusId: number })

export type JobRequest = Planned<"job">

export type Request = ProviderRequest | OperatorRequest | StaffRequest | JobRequest

export type Answer =
  | { readonly _tag: "Settled"; readonly results: ReadonlyArray<Settlement> }
  | { readonly _tag: "Balances"; readonly playerId: number; readonly real: number; readonly bonus: number }
  | { readonly _tag: "Standing"; readonly status: string }
  /** An answer with a body, stored under an idempotency key or replayed from there. */
  | { readonly _tag: "Reply"; readonly status: number; readonly body: string; readonly isReplay: boolean }
  | { readonly _tag: "Refused"; readonly code: RefusalCode; readonly details: Details; readonly isReplay: boolean }

/** Whether an answer is retryable, with nothing settled. */
export const isPassing = (answer: Answer): boolean =>
  answer._tag === "Refused" && (answer.code === "TRY_AGAIN" || answer.code === "IDEMPOTENCY_IN_PROGRESS")
