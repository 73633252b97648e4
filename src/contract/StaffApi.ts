/** Assembles the staff API, served on the back-office port. Group and endpoint name form the action that roles allow. */
import { HttpApi, HttpApiMiddleware } from "effect/http-api"
import type { CurrentStaff } from "./common/StaffMiddleware.ts"
import { refusals } from "./common/Errors.ts"
import { staffDocumented } from "./document/StaffDocument.ts"
import { PaymentGroup, PaymentMethodGroup } from "./payments/StaffApi.ts"
import { GameGroup } from "./games/StaffApi.ts"
import { ImportGroup } from "./moving/StaffApi.ts"
import { KeyGroup } from "./keys/StaffApi.ts"
import { LedgerGroup } from "./ledger/StaffApi.ts"
import { ObligationGroup } from "./obligations/StaffApi.ts"
import { LicenseeGroup, OperatorGroup } from "./operators/StaffApi.ts"
import { ProfileGroup } from "./profiles/StaffApi.ts"
import { ProviderGroup } from "./providers/StaffApi.ts"
import { RegisterGroup, ScreeningGroup } from "./registers/StaffApi.ts"
import { StaffGroup } from "./staff/StaffApi.ts"
import { SessionGroup, SignInGroup } from "./staffSessions/StaffApi.ts"
import { AuditGroup } from "./audit/StaffApi.ts"
import { CaseGroup } from "./cases/StaffApi.ts"
import { DataGroup } from "./privacy/StaffApi.ts"
import { AlertGroup } from "./compliance/StaffApi.ts"
import { BonusGroup, PromoGroup } from "./bonuses/StaffApi.ts"
import { CorrectionGroup } from "./corrections/StaffApi.ts"
import { StaffFreeRoundsGroup } from "./freeRounds/StaffApi.ts"
import { PlayerGroup } from "./players/StaffApi.ts"
import { JobGroup } from "./jobs/StaffApi.ts"
import { RoundGroup } from "./rounds/StaffApi.ts"
import { SearchGroup } from "./search/StaffApi.ts"
import { DeliveryGroup, WebhookGroup } from "./webhooks/StaffApi.ts"
import { RateGroup, ReportGroup } from "./reports/StaffApi.ts"
import { NodeGroup } from "./nodes/StaffApi.ts"
import { FiguresGroup } from "./figures/StaffApi.ts"
import { SecretGroup } from "./secrets/StaffApi.ts"

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
    "INVALID_CREDENTIALS",
    "RATE_LIMITED",
    "INSUFFICIENT_SCOPE",
    "INVALID_REQUEST",
    "VALIDATION_FAILED",
    "SERVER_ERROR",
    "TRY_AGAIN"
  )
}) {}

export const BackofficeApi = staffDocumented(
  HttpApi.make("backoffice")
    .add(
      StaffGroup,
      SessionGroup,
      LicenseeGroup,
      OperatorGroup,
      ProfileGroup,
      RegisterGroup,
      ScreeningGroup,
      KeyGroup,
      ProviderGroup,
      GameGroup,
      PaymentMethodGroup,
      BonusGroup,
      PromoGroup,
      StaffFreeRoundsGroup,
      PlayerGroup,
      ObligationGroup,
      CorrectionGroup,
      ImportGroup,
      PaymentGroup,
      WebhookGroup,
      DeliveryGroup,
      AlertGroup,
      CaseGroup,
      DataGroup,
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
)
