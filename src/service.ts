/** Effect layers of the service without its HTTP servers: all features on their database. Tests build on them. */
import { Effect, Layer } from "effect"
import { layerChainKey } from "./auth/ChainKeys.ts"
import { Credentials } from "./auth/Credentials.ts"
import { layerDigestKey } from "./auth/DigestKeys.ts"
import { Notices } from "./cluster/Notices.ts"
import { PlayerTokens } from "./auth/PlayerTokens.ts"
import { RateLimiter } from "./auth/RateLimiter.ts"
import { KeyUses } from "./auth/KeyUses.ts"
import { ReplayStore } from "./auth/ReplayStore.ts"
import { SealedSecrets } from "./auth/SealedSecrets.ts"
import { Chain } from "./chain/Chain.ts"
import { RememberedEnds } from "./chain/Ends.ts"
import { Seals } from "./chain/Seals.ts"
import { Compliance } from "./features/compliance/Compliance.ts"
import { CaseOrders } from "./features/cases/CaseOrders.ts"
import { AccessDocument } from "./features/privacy/AccessDocument.ts"
import { DataRequests } from "./features/privacy/DataRequests.ts"
import { Erasures } from "./features/privacy/Erasures.ts"
import { Retention } from "./features/privacy/Retention.ts"
import { Cases } from "./features/cases/Cases.ts"
import { Holds } from "./features/compliance/Holds.ts"
import { Audiences } from "./features/consents/Audiences.ts"
import { Consents } from "./features/consents/Consents.ts"
import { Bonuses } from "./features/bonuses/Bonuses.ts"
import { FreeRounds } from "./features/freeRounds/FreeRounds.ts"
import { Games } from "./features/games/Games.ts"
import { Integrations } from "./features/integrations/Integrations.ts"
import { Launches } from "./features/launches/Launches.ts"
import { KeptCalls } from "./features/integrations/KeptCalls.ts"
import { ProviderCallLog } from "./features/integrations/ProviderCallLog.ts"
import { VendorHttp } from "./features/integrations/VendorHttp.ts"
import { VendorPlayers } from "./features/integrations/VendorPlayers.ts"
import { Vendors } from "./features/integrations/Vendors.ts"
import { Originals } from "./features/originals/Originals.ts"
import { PlayerRefs } from "./features/games/PlayerRefs.ts"
import { OpeningSessions } from "./features/games/OpeningSessions.ts"
import { SessionTokens } from "./features/games/SessionTokens.ts"
import { Idempotency } from "./store/Idempotency.ts"
import { LicenseeExclusions } from "./features/responsibleGaming/LicenseeExclusions.ts"
import { ResponsibleGaming } from "./features/responsibleGaming/ResponsibleGaming.ts"
import { Approvals } from "./features/payments/Approvals.ts"
import { PaymentMethods } from "./features/payments/Methods.ts"
import { Payments } from "./features/payments/Payments.ts"
import { AuditLog } from "./office/AuditLog.ts"
import { StaffSpending } from "./office/StaffSpending.ts"
import { Thresholds } from "./features/payments/Thresholds.ts"
import { DatabaseUrl, layerDatabase, layerRightsWarning } from "./platform/Database.ts"
import { layerDatabaseTime } from "./platform/DatabaseTime.ts"
import { Entropy } from "./platform/Entropy.ts"
import { Ids } from "./platform/Ids.ts"
import { layerMigrations } from "./platform/Migrations.ts"
import { PersonalData } from "./platform/PersonalData.ts"
import { Resolver } from "./platform/Resolver.ts"
import { type Job, Scheduler } from "./platform/Scheduler.ts"
import { Secrets } from "./platform/Secrets.ts"
import { DueAccountChanges } from "./features/players/DueAccountChanges.ts"
import { Outbox } from "./store/Outbox.ts"
import { PlayerAccounts } from "./features/players/PlayerAccounts.ts"
import { ActiveOperators } from "./features/operators/ActiveOperators.ts"
import { layerEndedSessions } from "./features/sessions/EndedSessions.ts"
import { layerOperatorClocks } from "./store/OperatorClocks.ts"
import { RemoteCommands } from "./store/RemoteCommands.ts"
import { PlayerActors } from "./store/PlayerActors.ts"
import { Players } from "./features/players/Players.ts"
import { Profiles } from "./features/players/Profiles.ts"
import { CatalogueSync } from "./features/providers/CatalogueSync.ts"
import { Reconciliation } from "./features/providers/Reconciliation.ts"
import { VendorTasks } from "./features/providers/VendorTasks.ts"
import { FigureReadings } from "./features/figures/FigureReadings.ts"
import { BonusCosts } from "./features/reports/BonusCosts.ts"
import { GameSums } from "./features/reports/GameSums.ts"
import { KeyFigures } from "./features/reports/KeyFigures.ts"
import { Reports } from "./features/reports/Reports.ts"
import { DormantAccounts } from "./features/position/DormantAccounts.ts"
import { DueSessions } from "./features/position/DueSessions.ts"
import { Positions } from "./features/position/Positions.ts"
import { DueObligations } from "./features/obligations/DueObligations.ts"
import { Obligations } from "./features/obligations/Obligations.ts"
import { PlayerCompliance } from "./features/obligations/PlayerCompliance.ts"
import { RegisterChecks } from "./features/registers/RegisterChecks.ts"
import { RegisterConnections } from "./features/registers/RegisterConnections.ts"
import { RegisterHttp } from "./features/registers/RegisterHttp.ts"
import { RegisterQuestions } from "./features/registers/RegisterQuestions.ts"
import { RegisterPeople } from "./features/registers/RegisterPeople.ts"
import { RegisterRefresh } from "./features/registers/RegisterRefresh.ts"
import { Registers } from "./features/registers/Registers.ts"
import { OperatorProfiles } from "./features/profiles/OperatorProfiles.ts"
import { Screenings } from "./features/screenings/Screenings.ts"
import { makeClockJobs, settledJob } from "./features/sandbox/ClockJobs.ts"
import { SandboxClock } from "./features/sandbox/SandboxClock.ts"
import { SandboxReset } from "./features/sandbox/SandboxReset.ts"
import { Sandbox } from "./features/sandbox/Sandbox.ts"
import { SectionedReport } from "./features/reports/SectionedReport.ts"
import { EventFeed } from "./features/events/EventFeed.ts"
import { Statements } from "./features/statements/Statements.ts"
import { Ledger } from "./features/wallet/Ledger.ts"
import { ProfileBook } from "./store/ProfileBook.ts"
import { RoundClosing } from "./features/rounds/RoundClosing.ts"
import { StaleRounds } from "./features/settlement/StaleRounds.ts"
import { ProviderWallet } from "./features/settlement/ProviderWallet.ts"
import { VendorLaunches } from "./features/launches/VendorLaunches.ts"
import { Wallet } from "./features/wallet/Wallet.ts"
import { Attempts } from "./features/webhooks/Attempts.ts"
import { StaffSessions } from "./features/staffSessions/StaffSessions.ts"
import { Transport } from "./features/webhooks/Transport.ts"
import { WebhookHousekeeping } from "./features/webhooks/WebhookHousekeeping.ts"
import { WebhookSender } from "./features/webhooks/WebhookSender.ts"

/** Registers of excluded players. Need the players and the clients of a migrated database. */
const layerRegisters = Registers.layer.pipe(
  Layer.provideMerge([RegisterQuestions.layer, RegisterPeople.layer]),
  Layer.provideMerge(RegisterConnections.layer),
  Layer.provide(RegisterHttp.layer),
  Layer.provide(Resolver.layerOf(({ registerAllowInsecure }) => registerAllowInsecure))
)

/**
 * Capabilities over the players of `actors`. Needs the clients of a migrated database, `Settings`, `Entropy`, and the placement of players:
 * `layerSingleNode`, or the cluster's.
 */
export const layerCapabilitiesOver = (actors: typeof PlayerActors.layer) =>
  Layer.mergeAll(Sandbox.layer, SandboxClock.layer, SandboxReset.layer).pipe(Layer.provideMerge(Layer.mergeAll(
    ProviderWallet.layer.pipe(Layer.provideMerge(FreeRounds.layer)),
    Integrations.layer,
    KeptCalls.layer,
    Wallet.layer,
    Ledger.layer,
    Statements.layer,
    Audiences.layer,
    EventFeed.layer,
    Payments.layer,
    Approvals.layer,
    Launches.layer.pipe(Layer.provide(VendorLaunches.layer)),
    Originals.layer,
    Bonuses.layer,
    VendorTasks.layer.pipe(Layer.provideMerge(Layer.mergeAll(CatalogueSync.layer, Reconciliation.layer))),
    AccessDocument.layer.pipe(Layer.provideMerge(Layer.merge(Players.layer, Consents.layer))),
    Layer.merge(DataRequests.layer, Retention.layer).pipe(Layer.provideMerge(Erasures.layer)),
    Profiles.layer,
    PlayerAccounts.layer,
    DueAccountChanges.layer,
    RoundClosing.layer,
    StaleRounds.layer,
    PlayerTokens.layer,
    layerEndedSessions,
    ResponsibleGaming.layer,
    LicenseeExclusions.layer,
    OperatorProfiles.layer,
    PlayerCompliance.layer.pipe(Layer.provideMerge(Obligations.layer)),
    RegisterRefresh.layer,
    RegisterChecks.layer,
    DueObligations.layer,
    Positions.layer,
    DueSessions.layer,
    DormantAccounts.layer,
    SectionedReport.layer.pipe(
      Layer.provideMerge(
        Layer.mergeAll(Reports.layer, BonusCosts.layer, KeyFigures.layer.pipe(Layer.provideMerge(GameSums.layer)))
      )
    ),
    FigureReadings.layer,
    Compliance.layer.pipe(Layer.provideMerge(Holds.layer)),
    Credentials.layer,
    RateLimiter.layer,
    ReplayStore.layer,
    KeyUses.layer,
    Seals.layer,
    Attempts.layer.pipe(
      Layer.provide(Transport.layer),
      Layer.provide(Resolver.layerOf(({ webhookAllowInsecure }) => webhookAllowInsecure))
    )
  ))).pipe(
    Layer.provideMerge(Screenings.layer),
    Layer.provideMerge(layerRegisters),
    Layer.provideMerge(CaseOrders.layer),
    Layer.provideMerge(Cases.layer),
    Layer.provideMerge(AuditLog.layer),
    Layer.provideMerge(Layer.mergeAll(
      actors.pipe(Layer.provideMerge(ProfileBook.layer)),
      RemoteCommands.layer,
      Idempotency.layer,
      ActiveOperators.layer,
      Games.layer,
      ProviderCallLog.layer,
      VendorPlayers.layer,
      Vendors.layer.pipe(
        Layer.provide(VendorHttp.layer),
        Layer.provide(Resolver.layerOf(({ providerAllowInsecure }) => providerAllowInsecure))
      ),
      SessionTokens.layer,
      OpeningSessions.layer,
      PlayerRefs.layer,
      PaymentMethods.layer,
      Thresholds.layer,
      StaffSpending.layer
    )),
    Layer.provideMerge(RememberedEnds.layer),
    Layer.provideMerge(Chain.layer),
    Layer.provideMerge(PersonalData.layer),
    Layer.provideMerge(Layer.merge(layerChainKey, layerDigestKey)),
    Layer.provideMerge(SealedSecrets.layer),
    Layer.provideMerge(Layer.mergeAll(Ids.layer, Secrets.layer, Outbox.layer, Notices.layer, layerOperatorClocks))
  )

/** {@link layerCapabilitiesOver} the players of this service. */
export const layerCapabilities = layerCapabilitiesOver(PlayerActors.layer)

/** Webhook delivery. Needs {@link layerCapabilities}. */
export const layerWebhooks = Layer.merge(WebhookSender.layer, WebhookHousekeeping.layer)

/** Wake-ups of the compliance evaluation of committed events. Needs {@link layerCapabilities}. */
export const layerCompliance = Compliance.layerWakes

/** Wake-ups of the comparison of players within their licensees. Needs {@link layerCapabilities}. */
export const layerLicensees = LicenseeExclusions.layerWakes

/** Configured database: started if embedded, migrated by its owner, and verified; and its time. */
export const layerMigratedDatabase = layerRightsWarning.pipe(
  Layer.provideMerge(layerDatabaseTime(settledJob)),
  Layer.provideMerge(layerDatabase),
  Layer.provideMerge(layerMigrations),
  Layer.provideMerge(DatabaseUrl.layer),
  Layer.provideMerge(Entropy.layer)
)

/** Background jobs. Need the capabilities, {@link layerWebhooks} and the services of the staff API. */
export const backgroundJobs = Effect.gen(function*() {
  const replayStore = yield* ReplayStore
  const idempotency = yield* Idempotency
  const webhooks = yield* WebhookHousekeeping
  const compliance = yield* Compliance
  const cases = yield* CaseOrders
  const screenings = yield* Screenings
  const licenseeExclusions = yield* LicenseeExclusions
  const seals = yield* Seals
  const vendorTasks = yield* VendorTasks
  const figures = yield* FigureReadings
  const bonusCosts = yield* BonusCosts
  const gameSums = yield* GameSums
  const staffSessions = yield* StaffSessions
  const keptCalls = yield* KeptCalls
  const registers = yield* RegisterRefresh
  const retention = yield* Retention
  const clocks = yield* SandboxClock
  return [
    { name: "accepted-signatures", everySeconds: 60, needsSettledTime: true, run: replayStore.prune },
    { name: "idempotency-keys", everySeconds: 600, needsSettledTime: true, run: idempotency.prune },
    ...(yield* makeClockJobs).map((job) => ({ ...job, run: clocks.everywhere(job.run) })),
    { name: "webhooks", everySeconds: 600, needsSettledTime: true, run: webhooks.tidy },
    { name: "compliance", everySeconds: 5, run: compliance.run },
    { name: "cases", everySeconds: 5, run: cases.run },
    { name: "screenings-known", everySeconds: 3600, run: screenings.findKnown },
    { name: "licensee-exclusions", everySeconds: 5, run: licenseeExclusions.run },
    { name: "chain-seals", everySeconds: 60, run: seals.run },
    { name: "vendor-tasks", everySeconds: 60, run: vendorTasks.start },
    { name: "figure-hours", everySeconds: 60, needsSettledTime: true, run: figures.readHour },
    { name: "figure-funds", everySeconds: 900, run: figures.readFunds },
    { name: "bonus-costs", everySeconds: 60, needsSettledTime: true, run: bonusCosts.addUp },
    { name: "game-sums", everySeconds: 300, needsSettledTime: true, run: gameSums.addUp },
    { name: "bonus-liabilities", everySeconds: 300, run: bonusCosts.readLiabilities },
    { name: "staff-sessions", everySeconds: 600, needsSettledTime: true, run: staffSessions.prune },
    { name: "kept-calls", everySeconds: 600, needsSettledTime: true, run: keptCalls.prune },
    { name: "register-refresh", everySeconds: 60, needsSettledTime: true, run: registers.nightly },
    { name: "retention", everySeconds: 600, needsSettledTime: true, run: retention.nightly },
    { name: "sandbox-clocks", everySeconds: 5, run: clocks.run },
    { name: "register-questions", everySeconds: 30, run: registers.again }
  ] satisfies ReadonlyArray<Job>
})

/** {@link backgroundJobs}, running. */
export const layerJobs = Layer.unwrap(Effect.map(backgroundJobs, Scheduler.layer))
