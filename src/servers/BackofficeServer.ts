/** Back-office server: staff API, metrics and its OpenAPI document, on a port of its own. */
import { Cause, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiBuilder, OpenApi } from "effect/http-api"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { isLoopback } from "../platform/Loopback.ts"
import { Settings } from "../platform/Settings.ts"
import { serveDocument } from "../http/Document.ts"
import { makeOutermostMiddleware } from "../http/OutermostMiddleware.ts"
import { serveAt } from "../http/Listener.ts"
import { backofficeSettings } from "../http/Ports.ts"
import { routesOf } from "../http/Methods.ts"
import { answerCause } from "../http/Refusals.ts"
import { RequestIds } from "../http/RequestIds.ts"
import { StaffBulk } from "../office/StaffBulk.ts"
import { StaffIdempotentPostLive } from "../http/middleware/IdempotentPostLive.ts"
import { bearer, originOf } from "../http/RequestOrigin.ts"
import { AlertHandlers } from "../endpoints/compliance/StaffHandlers.ts"
import { AuditHandlers } from "../endpoints/audit/StaffHandlers.ts"
import { BonusHandlers, PromoHandlers } from "../endpoints/bonuses/StaffHandlers.ts"
import { CorrectionHandlers } from "../endpoints/corrections/StaffHandlers.ts"
import { ImportHandlers } from "../endpoints/moving/StaffHandlers.ts"
import { ObligationHandlers } from "../endpoints/obligations/StaffHandlers.ts"
import { StaffFreeRoundsHandlers } from "../endpoints/freeRounds/StaffHandlers.ts"
import { GameHandlers } from "../endpoints/games/StaffHandlers.ts"
import { JobHandlers } from "../endpoints/jobs/StaffHandlers.ts"
import { KeyHandlers } from "../endpoints/keys/StaffHandlers.ts"
import { LedgerHandlers } from "../endpoints/ledger/StaffHandlers.ts"
import { NodeHandlers } from "../endpoints/nodes/StaffHandlers.ts"
import { LicenseeHandlers, OperatorHandlers } from "../endpoints/operators/StaffHandlers.ts"
import { ProfileHandlers } from "../endpoints/profiles/StaffHandlers.ts"
import { DataHandlers } from "../endpoints/privacy/StaffHandlers.ts"
import { CaseHandlers } from "../endpoints/cases/StaffHandlers.ts"
import { RegisterHandlers, ScreeningHandlers } from "../endpoints/registers/StaffHandlers.ts"
import { PaymentMethodHandlers } from "../endpoints/payments/MethodHandlers.ts"
import { PaymentHandlers } from "../endpoints/payments/StaffHandlers.ts"
import { PlayerHandlers } from "../endpoints/players/StaffHandlers.ts"
import { ProviderHandlers } from "../endpoints/providers/StaffHandlers.ts"
import { FiguresHandlers } from "../endpoints/figures/StaffHandlers.ts"
import { LiveStreams } from "../features/figures/LiveStreams.ts"
import { Overviews } from "../features/figures/Overviews.ts"
import { ReportHandlers } from "../endpoints/reports/StaffHandlers.ts"
import { RoundHandlers } from "../endpoints/rounds/StaffHandlers.ts"
import { SearchHandlers } from "../endpoints/search/StaffHandlers.ts"
import { SecretHandlers } from "../endpoints/secrets/StaffHandlers.ts"
import { StaffHandlers } from "../endpoints/staff/StaffHandlers.ts"
import { SessionHandlers, SignInHandlers } from "../endpoints/staffSessions/StaffHandlers.ts"
import { OidcRoutes } from "../endpoints/staffSessions/OidcLive.ts"
import { SignInAttempts, SignInGuardLive } from "../endpoints/staffSessions/SignInLive.ts"
import { WebhookHandlers } from "../endpoints/webhooks/StaffHandlers.ts"
import { makeKnownHosts, refuseOtherHosts } from "../http/KnownHosts.ts"
import { OperatorCheck, wholeInstallation } from "../endpoints/staff/OperatorBoundsLive.ts"
import { layerPages } from "./Pages.ts"
import { StaffAuthLive, StaffTokens } from "../endpoints/staff/StaffAuthLive.ts"
import { version } from "../platform/Version.ts"

/** Time-out of a ledger verification, which sends its answer only at the end. */
const verificationMs = 3_600_000

const documentPath = "/openapi.json"

/** Paths outside the staff API. */
const readPaths = ["/metrics", documentPath] as const

/** True for a caller on this machine, not through a proxy: local monitoring may read these paths, which hold no player data. */
const isWatcher = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const { forwardedFor, peer } = originOf(request)
  const [host = ""] = /^(\[[^\]]*\]|[^:]*)/.exec(request.headers["host"] ?? "") ?? []
  return peer !== undefined && isLoopback(peer) && forwardedFor === undefined &&
    request.headers["forwarded"] === undefined && isLoopback(host)
}

/** Restricts routes outside the staff API to staff and local monitoring; figures of all operators are not for staff of some. */
const Guard = HttpRouter.middleware(Effect.gen(function*() {
  const tokens = yield* StaffTokens
  const ids = yield* RequestIds
  const admit = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const actor = yield* tokens.authenticate(bearer(request.headers["authorization"]), originOf(request))
    const { route } = yield* HttpRouter.RouteContext
    if (actor.operators !== null && route.path !== documentPath) return yield* Effect.fail(wholeInstallation)
  })
  return <E, R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      isWatcher(request)
        ? handler
        : Effect.matchEffect(admit(request), {
          onSuccess: () => handler,
          onFailure: (refusal) => Effect.provideService(answerCause(Cause.fail(refusal)), RequestIds, ids)
        }))
}))

const Outermost = HttpRouter.middleware(
  makeOutermostMiddleware(routesOf(BackofficeApi, readPaths), { always: { "x-pitboss-version": version } }),
  { global: true }
)

const OpenApiDocument = Layer.unwrap(Effect.map(
  serveDocument(
    Effect.sync(() => ({ text: JSON.stringify(OpenApi.fromApi(BackofficeApi)), contentType: "application/json" }))
  ),
  (document) => HttpRouter.add("GET", documentPath, document)
))

const Handlers = Layer.mergeAll(
  StaffHandlers,
  SignInHandlers,
  SessionHandlers,
  LicenseeHandlers,
  OperatorHandlers,
  ProfileHandlers,
  RegisterHandlers,
  ScreeningHandlers,
  CaseHandlers,
  DataHandlers,
  KeyHandlers,
  ProviderHandlers,
  GameHandlers,
  PaymentMethodHandlers,
  BonusHandlers,
  PromoHandlers,
  StaffFreeRoundsHandlers,
  PlayerHandlers,
  ObligationHandlers,
  CorrectionHandlers,
  ImportHandlers,
  PaymentHandlers,
  WebhookHandlers,
  AlertHandlers,
  LedgerHandlers,
  SecretHandlers,
  JobHandlers,
  RoundHandlers,
  SearchHandlers,
  NodeHandlers,
  ReportHandlers,
  FiguresHandlers.pipe(Layer.provide(LiveStreams.layer.pipe(Layer.provideMerge(Overviews.layer)))),
  AuditHandlers
)

/** The routes of the server, with `more` restricted as the document is. */
const routesWith = <A, E, R>(more: Layer.Layer<A, E, R>) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(BackofficeApi),
    Layer.provide(Layer.merge(OpenApiDocument, more), Guard.layer),
    layerPages,
    OidcRoutes,
    Outermost
  ).pipe(
    Layer.provide(Handlers),
    Layer.provide(Layer.mergeAll(StaffAuthLive, SignInGuardLive, StaffIdempotentPostLive)),
    Layer.provide(Layer.mergeAll(OperatorCheck.layer, StaffTokens.layer, StaffBulk.layer)),
    Layer.provide(SignInAttempts.layer)
  )

/**
 * Serves the staff API at `BACKOFFICE_HOST` and `BACKOFFICE_PORT`, with the routes `more`. Needs `layerBackoffice`, the capabilities, and
 * `layerHttpServices`.
 */
export const layerBackofficeServer = <A, E, R>(more: Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.gen(function*() {
    const settings = yield* Settings
    const ids = yield* RequestIds
    const { backofficeHost: host, backofficePort: port, nodeBackofficePort: ownPort } = settings
    const otherHosts = refuseOtherHosts(makeKnownHosts(settings), ids.next)
    return serveAt(
      routesWith(more),
      { host, port, ownPort, settings: backofficeSettings, channel: "staff", silenceMs: verificationMs },
      otherHosts
    )
  }))
