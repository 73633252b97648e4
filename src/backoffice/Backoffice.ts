/** The back office as a whole: everything that staff do, on the capabilities it is done to. */
import { Layer } from "effect"
import { Alerts } from "./Alerts.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { AuditLog } from "./AuditLog.ts"
import { BonusesOnOffer } from "./BonusesOnOffer.ts"
import { Catalogue } from "./Catalogue.ts"
import { Corrections } from "./Corrections.ts"
import { ExchangeRates } from "./ExchangeRates.ts"
import { LedgerAudit } from "./LedgerAudit.ts"
import { MethodsOnOffer } from "./MethodsOnOffer.ts"
import { Operators } from "./Operators.ts"
import { PlayerNotes } from "./PlayerNotes.ts"
import { Providers } from "./Providers.ts"
import { StaffAccounts } from "./Staff.ts"
import { StaffReads } from "./StaffReads.ts"
import { WebhookDeliveries } from "./WebhookDeliveries.ts"
import { WebhookEndpoints } from "./WebhookEndpoints.ts"

/** Needs `SqlClient`, `Ids`, `Secrets`, `Settings`, and the capabilities `Credentials`, `Games`, `PaymentMethods`, `Attempts` and `Holds`. */
export const layerBackoffice = Layer.mergeAll(
  StaffAccounts.layer,
  StaffReads.layer,
  Operators.layer,
  ApiKeys.layer,
  Providers.layer,
  Catalogue.layer,
  MethodsOnOffer.layer,
  BonusesOnOffer.layer,
  WebhookEndpoints.layer,
  WebhookDeliveries.layer,
  Alerts.layer,
  ExchangeRates.layer,
  PlayerNotes.layer,
  Corrections.layer,
  LedgerAudit.layer
).pipe(Layer.provideMerge(AuditLog.layer))
