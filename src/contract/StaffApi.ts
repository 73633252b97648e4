/** Staff API assembled, on the back-office port. Group and endpoint form the action that roles allow. */
import { Context } from "effect"
import { HttpApi, HttpApiMiddleware, OpenApi } from "effect/http-api"
import type { Role } from "../domain/Staff.ts"
import { refusals } from "./Errors.ts"
import { PaymentGroup, PaymentMethodGroup } from "../features/payments/StaffApi.ts"
import { GameGroup } from "../features/games/StaffApi.ts"
import { KeyGroup } from "../features/keys/StaffApi.ts"
import { LedgerGroup } from "../features/ledger/StaffApi.ts"
import { OperatorGroup } from "../features/operators/StaffApi.ts"
import { ProviderGroup } from "../features/providers/StaffApi.ts"
import { StaffGroup } from "../features/staff/StaffApi.ts"
import { SessionGroup, SignInGroup } from "../features/staffSessions/StaffApi.ts"
import { AuditGroup } from "../features/audit/StaffApi.ts"
import { AlertGroup } from "../features/compliance/StaffApi.ts"
import { BonusGroup, PromoGroup } from "../features/bonuses/StaffApi.ts"
import { CorrectionGroup } from "../features/corrections/StaffApi.ts"
import { StaffFreeRoundsGroup } from "../features/freeRounds/StaffApi.ts"
import { PlayerGroup } from "../features/players/StaffApi.ts"
import { JobGroup } from "../features/jobs/StaffApi.ts"
import { RoundGroup } from "../features/rounds/StaffApi.ts"
import { SearchGroup } from "../features/search/StaffApi.ts"
import { DeliveryGroup, WebhookGroup } from "../features/webhooks/StaffApi.ts"
import { RateGroup, ReportGroup } from "../features/reports/StaffApi.ts"
import { NodeGroup } from "../features/nodes/StaffApi.ts"
import { FiguresGroup } from "../features/figures/StaffApi.ts"
import { SecretGroup } from "../features/secrets/StaffApi.ts"

/** The acting staff account. */
export class CurrentStaff extends Context.Service<CurrentStaff, {
  /** Null for the bootstrap token. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** Ids of the operators that the actor may access; null: all. */
  readonly operators: ReadonlyArray<number> | null
  /** Audit log label of the actor. */
  readonly label: string
}>()("pitboss/contract/CurrentStaff") {}

/** Authenticates requests by a staff token (`Authorization: Bearer …`) or session cookie, and authorises the endpoint's action by role. */
export class StaffAuth extends HttpApiMiddleware.Service<StaffAuth, { provides: CurrentStaff }>()(
  "pitboss/contract/StaffAuth",
  {
    error: refusals(
      "MISSING_CREDENTIALS",
      "INVALID_API_KEY",
      "RATE_LIMITED",
      "INSUFFICIENT_SCOPE",
      "NOT_FOUND",
      "INVALID_REQUEST",
      "VALIDATION_FAILED",
      "SERVER_ERROR",
      "TRY_AGAIN"
    )
  }
) {}

/** Admits unauthenticated requests with backoff: for sign-in. */
export class SignInGuard extends HttpApiMiddleware.Service<SignInGuard>()("pitboss/contract/SignInGuard", {
  error: refusals(
    "INVALID_API_KEY",
    "RATE_LIMITED",
    "INSUFFICIENT_SCOPE",
    "INVALID_REQUEST",
    "VALIDATION_FAILED",
    "SERVER_ERROR",
    "TRY_AGAIN"
  )
}) {}

export const BackofficeApi = HttpApi.make("backoffice")
  .add(
    StaffGroup,
    SessionGroup,
    OperatorGroup,
    KeyGroup,
    ProviderGroup,
    GameGroup,
    PaymentMethodGroup,
    BonusGroup,
    PromoGroup,
    StaffFreeRoundsGroup,
    PlayerGroup,
    CorrectionGroup,
    PaymentGroup,
    WebhookGroup,
    DeliveryGroup,
    AlertGroup,
    LedgerGroup,
    SecretGroup,
    RoundGroup,
    SearchGroup,
    JobGroup,
    NodeGroup,
    RateGroup,
    ReportGroup,
    FiguresGroup,
    AuditGroup
  )
  .prefix("/backoffice/v1")
  .middleware(StaffAuth)
  // added last: without StaffAuth
  .add(SignInGroup.prefix("/backoffice/v1").middleware(SignInGuard))
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(OpenApi.Title, "Pitboss back office")
