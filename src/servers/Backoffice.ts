/** Assembles the services behind the staff API. */
import { Layer } from "effect"
import { AlertCases } from "../features/compliance/AlertCases.ts"
import { Alerts } from "../features/compliance/Alerts.ts"
import { CaseWork } from "../features/cases/CaseWork.ts"
import { ApiKeys } from "../features/keys/ApiKeys.ts"
import { BonusCatalogue } from "../features/bonuses/BonusCatalogue.ts"
import { BonusGrants } from "../features/bonuses/BonusGrants.ts"
import { Catalogue } from "../features/games/Catalogue.ts"
import { Corrections } from "../features/corrections/Corrections.ts"
import { Exports } from "../features/moving/Exports.ts"
import { ImportRuns } from "../features/moving/ImportRuns.ts"
import { Imports } from "../features/moving/Imports.ts"
import { ExchangeRates } from "../features/exchangeRates/ExchangeRates.ts"
import { LedgerAudit } from "../features/ledger/LedgerAudit.ts"
import { LedgerEntries } from "../features/ledger/LedgerEntries.ts"
import { LedgerRestores } from "../features/ledger/LedgerRestores.ts"
import { BulkTransitions } from "../features/payments/BulkTransitions.ts"
import { PaymentQueue } from "../features/payments/PaymentQueue.ts"
import { PaymentMethodCatalogue } from "../features/payments/PaymentMethodCatalogue.ts"
import { Licensees } from "../features/operators/Licensees.ts"
import { Operators } from "../features/operators/Operators.ts"
import { RegisterSetup } from "../features/registers/RegisterSetup.ts"
import { ProfileVersions } from "../features/profiles/ProfileVersions.ts"
import { PlayerNotes } from "../features/players/PlayerNotes.ts"
import { PlayerHistory } from "../features/players/PlayerHistory.ts"
import { PlayerWalk } from "../features/players/PlayerWalk.ts"
import { Providers } from "../features/providers/Providers.ts"
import { MessageRecords } from "../features/rounds/MessageRecords.ts"
import { RoundRecords } from "../features/rounds/RoundRecords.ts"
import { Search } from "../features/search/Search.ts"
import { StaffAccounts } from "../features/staff/Staff.ts"
import { StaffReads } from "../office/StaffReads.ts"
import { StaffSessions } from "../features/staffSessions/StaffSessions.ts"
import { SignInTickets } from "../features/staffSessions/SignInTickets.ts"
import { StaffSignIn } from "../features/staffSessions/StaffSignIn.ts"
import { WebhookDeliveries } from "../features/webhooks/WebhookDeliveries.ts"
import { WebhookEndpoints } from "../features/webhooks/WebhookEndpoints.ts"

/** Needs `SqlClient`, `Ids`, `Secrets`, `Settings`, and the capabilities `Credentials`, `Games`, `Integrations`, `KeptCalls`, `ProviderCallLog`, `PaymentMethods`, `Attempts`, `AuditLog`, `Cases`, `CaseOrders` and `Holds`. */
export const layerBackoffice = Layer.mergeAll(
  Layer.merge(StaffSignIn.layer, SignInTickets.layer).pipe(
    Layer.provideMerge(Layer.merge(StaffAccounts.layer, StaffSessions.layer))
  ),
  StaffReads.layer,
  LedgerRestores.layer,
  Operators.layer,
  Licensees.layer,
  ProfileVersions.layer,
  RegisterSetup.layer,
  ApiKeys.layer,
  Providers.layer,
  Catalogue.layer,
  PaymentMethodCatalogue.layer,
  PaymentQueue.layer,
  BulkTransitions.layer,
  BonusCatalogue.layer,
  BonusGrants.layer,
  WebhookEndpoints.layer,
  WebhookDeliveries.layer,
  Alerts.layer,
  AlertCases.layer,
  CaseWork.layer,
  ExchangeRates.layer,
  PlayerNotes.layer,
  Corrections.layer,
  Exports.layer,
  ImportRuns.layer,
  Imports.layer,
  LedgerAudit.layer,
  LedgerEntries.layer,
  PlayerHistory.layer,
  PlayerWalk.layer,
  MessageRecords.layer,
  RoundRecords.layer,
  Search.layer
)
