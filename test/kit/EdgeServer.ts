/**
 * The request pipeline around a small test API, over real HTTP and a real database: the request determines the behaviour
 * of the handler, and the calls of handlers are counted.
 */
import { Cause, Context, Deferred, Effect, Exit, Layer, Schema } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { DigestKey, PersonalData } from "../../src/platform/PersonalData.ts"
import { RequiredFeature, RequiredScope } from "../../src/contract/common/Annotations.ts"
import { refusals } from "../../src/contract/common/Errors.ts"
import { amountFrom, oneOf, pathId, text } from "../../src/contract/common/Fields.ts"
import {
  CurrentClaim,
  CurrentOperator,
  IdempotentPost,
  OperatorAuth,
  RequestRules
} from "../../src/contract/common/Middleware.ts"
import { pageQuery, single } from "../../src/contract/common/Pagination.ts"
import { Credentials } from "../../src/auth/Credentials.ts"
import { RateLimiter } from "../../src/auth/RateLimiter.ts"
import { KeyUses } from "../../src/auth/KeyUses.ts"
import { ReplayStore } from "../../src/auth/ReplayStore.ts"
import { type Refusal, refuse } from "../../src/domain/Refusal.ts"
import { type AcceptedSignature, replayedRequest } from "../../src/domain/state/AcceptedSignature.ts"
import type { Forwarder } from "../../src/cluster/Forwarder.ts"
import type { Nodes } from "../../src/cluster/Nodes.ts"
import type { Placement } from "../../src/engine/Placement.ts"
import { Notices } from "../../src/cluster/Notices.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import type { Settlement } from "../../src/domain/settlement/Settlement.ts"
import { ownEntryPoint } from "../../src/endpoints/settlement/EntryPoints.ts"
import type { CallingProvider } from "../../src/features/settlement/WalletActions.ts"
import { type ProviderCalls, ProviderLane } from "../../src/http/ProviderLane.ts"
import type { WalletCall, WalletOutcome } from "../../src/protocols/Protocol.ts"
import { makeOutermostMiddleware } from "../../src/http/OutermostMiddleware.ts"
import { Endpoints } from "../../src/http/Endpoints.ts"
import { Health } from "../../src/http/Health.ts"
import { serveAt } from "../../src/http/Listener.ts"
import { routesOf } from "../../src/http/Methods.ts"
import { IdempotentPostLive } from "../../src/http/middleware/IdempotentPostLive.ts"
import { OperatorAuthLive } from "../../src/http/middleware/OperatorAuthLive.ts"
import { RequestRulesLive } from "../../src/http/middleware/RequestRulesLive.ts"
import { PathResources } from "../../src/http/PathResources.ts"
import { layerHttpServices } from "../../src/servers/PublicServer.ts"
import { Idempotency } from "../../src/store/Idempotency.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Ids } from "../../src/platform/Ids.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings, type SettingsShape } from "../../src/platform/Settings.ts"
import * as MemoryPlayerStore from "./MemoryPlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { orTryAgain } from "../../src/store/Rows.ts"
import { layerNoon } from "./Noon.ts"
import { TestDatabase } from "./TestDatabase.ts"

const Order = Schema.Struct({
  amount: amountFrom(1),
  name: text(20),
  mode: Schema.optionalKey(oneOf(["real", "demo"])),
  marketing: Schema.optionalKey(Schema.Struct({ email: Schema.Boolean })),
  items: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.Int })))
})

const Outcome = single(Schema.Struct({ calls: Schema.Int, body: Schema.Unknown }))
const codes = refusals("LIMIT_EXCEEDED", "PLAYER_RESTRICTED", "IP_NOT_ALLOWED", "TRY_AGAIN", "IDEMPOTENCY_IN_PROGRESS")

const ProbeGroup = HttpApiGroup.make("probe")
  .add(
    HttpApiEndpoint.get("open", "/open", { success: Outcome }),
    HttpApiEndpoint.get("list", "/list", { query: pageQuery, success: Outcome })
      .annotate(RequiredScope, "reports:read")
      .annotate(RequiredFeature, "reports"),
    HttpApiEndpoint.get("wrong", "/wrong", { success: single(Schema.Struct({ name: text(3) })) }),
    HttpApiEndpoint.post("order", "/orders", {
      payload: Order,
      success: Outcome.pipe(HttpApiSchema.status(201)),
      error: codes
    }),
    HttpApiEndpoint.post("about", "/players/:player/orders", {
      params: { player: pathId },
      payload: Order,
      success: Outcome
    }),
    HttpApiEndpoint.post("act", "/act/:act", { params: { act: Schema.String }, success: Outcome, error: codes }),
    HttpApiEndpoint.get("look", "/look/:act", { params: { act: Schema.String }, success: Outcome, error: codes }),
    HttpApiEndpoint.put("set", "/set/:act", { params: { act: Schema.String }, success: Outcome, error: codes })
  )

export const ProbeApi = HttpApi.make("probe")
  .addHttpApi(
    HttpApi.make("operator").add(ProbeGroup).prefix("/api/v1/operator")
      .middleware(RequestRules).middleware(IdempotentPost).middleware(OperatorAuth)
  )
  .annotate(HttpApi.ParseOptions, { errors: "all" })

/** Calls of the handlers, and the gates they wait at. */
export class Probe extends Context.Service<Probe, {
  calls: number
  /** Orders posted without a fiber. */
  posted: number
  /** Calls that came to their end, by the word in their path. */
  readonly ended: Array<string>
  readonly interrupted: Array<string>
  /** Opened by the test; a handler asked to wait waits for it. */
  gate: Deferred.Deferred<void>
  /** Completed by the first handler that waits. */
  arrived: Deferred.Deferred<void>
}>()("pitboss/test/Probe") {
  static readonly layer = Layer.sync(Probe, () => ({
    calls: 0,
    posted: 0,
    ended: [],
    interrupted: [],
    gate: Deferred.makeUnsafe<void>(),
    arrived: Deferred.makeUnsafe<void>()
  }))
}

/** Performs the behaviour named by the path. */
const perform = Effect.fnUntraced(function*(act: string) {
  const probe = yield* Probe
  probe.calls++
  const { calls } = probe
  switch (act) {
    case "die":
      return yield* Effect.die(new Error("secret detail"))
    case "limit":
      return yield* Effect.fail(refuse("LIMIT_EXCEEDED", "Too much.", { limit: "max_daily_deposit" }))
    case "forbidden":
      return yield* Effect.fail(refuse("IP_NOT_ALLOWED", "Not from there."))
    case "again":
      return yield* Effect.fail(refuse("TRY_AGAIN", "Busy."))
    case "clash":
      return yield* Effect.fail(refuse("IDEMPOTENCY_IN_PROGRESS", "Somebody was faster."))
    case "wait":
      yield* Deferred.succeed(probe.arrived, undefined)
      yield* Deferred.await(probe.gate).pipe(
        Effect.onInterrupt(() => Effect.sync(() => void probe.interrupted.push(act)))
      )
      break
    default:
  }
  probe.ended.push(act)
  const claim = yield* CurrentClaim
  return { data: { calls, body: claim?.key ?? null } }
})

/** Orders that write nothing; "done" is the answer to one that was placed before. */
const withoutEffect = new Set(["die", "limit", "again", "done"])

/** Outcome of an order, named by its own name. */
const place = (
  probe: Probe["Service"],
  order: typeof Order.Type
): Exit.Exit<typeof Outcome.Type, Refusal<"LIMIT_EXCEEDED" | "TRY_AGAIN">> => {
  const calls = ++probe.calls
  return order.name === "die"
    ? Exit.die(new Error("secret detail"))
    : order.name === "limit"
    ? Exit.fail(refuse("LIMIT_EXCEEDED", "Too much.", { limit: "max_daily_deposit" }))
    : order.name === "again"
    ? Exit.fail(refuse("TRY_AGAIN", "Busy."))
    : Exit.succeed({ data: { calls, body: order } })
}

const count = (body: unknown) => Effect.map(Probe, (probe) => ({ data: { calls: ++probe.calls, body } }))

const ProbeHandlers = HttpApiBuilder.group(
  ProbeApi,
  "probe",
  Effect.fnUntraced(function*(handlers) {
    const endpoints = yield* Endpoints
    const probe = yield* Probe
    const sql = yield* SqlClient.SqlClient
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    /** Places an order with its signature, as a commit does. */
    const placeSigned = (order: typeof Order.Type, { acceptedAt, signature }: AcceptedSignature) =>
      orTryAgain(sql`INSERT INTO accepted_signatures (signature, accepted_at)
          VALUES (${Buffer.from(signature, "hex")}, ${new Date(acceptedAt)}) ON CONFLICT DO NOTHING RETURNING 1`).pipe(
        Effect.flatMap((rows): Effect.Effect<typeof Outcome.Type, Refusal> => {
          if (rows.length === 0) return Effect.fail(replayedRequest)
          probe.posted++
          return place(probe, order)
        }),
        Effect.map((reply) => ({ reply, isRecorded: true }))
      )
    // the direct way answers it from memory, and counts no call
    endpoints.addRead(
      ProbeApi.groups.probe.endpoints.open,
      ({ operator }) => (done) => done(Exit.succeed({ calls: probe.calls, body: operator.slug })),
      (data) => ({ data })
    )
    endpoints.addCommand(ProbeApi.groups.probe.endpoints.order, Order, (_, __, order, accepted, done) => {
      if (order.name === "look up") return false
      if (!withoutEffect.has(order.name)) {
        fork(placeSigned(order, accepted)).addObserver(done)
        return true
      }
      probe.posted++
      const placed = place(probe, order)
      // a defect of a command may also be thrown
      if (Exit.isFailure(placed) && Cause.hasDies(placed.cause)) throw Cause.squash(placed.cause)
      done(Exit.map(placed, (reply) => ({ reply, isRecorded: false })))
      return true
    }, (data) => ({ status: 201, body: JSON.stringify(data) }))
    return handlers
      .handle("open", () => Effect.flatMap(CurrentOperator, ({ operator }) => count(operator.slug)))
      .handle("list", ({ query }) => count(query))
      .handle("wrong", () => Effect.succeed({ data: { name: "far too long" } }))
      .handle("order", ({ payload }) => place(probe, payload))
      .handle("about", ({ payload }) => count(payload))
      .handle("act", ({ params }) => perform(params.act))
      .handle("look", ({ params }) => perform(params.act))
      .handle("set", ({ params }) => perform(params.act))
  })
)

/** A message of a game provider, complete as every call of its kind; the wallet does what its transaction id says. */
export const providerBet = (transactionId: string) => ({
  request_id: "1",
  transaction_id: transactionId,
  session_token: "token",
  game_id: "game",
  round_id: "round",
  amount: 1,
  currency: "EUR"
})

export const providerWin = (transactionId: string) => {
  const { session_token: _, ...win } = providerBet(transactionId)
  return { ...win, player_ref: "player", bet_transaction_id: "bet" }
}

const settlementOf = (transactionId: string): Settlement => ({
  transactionId,
  status: "processed",
  first: "processed",
  settledAt: 0,
  entryIds: [],
  realAmount: 0,
  bonusAmount: 0,
  balance: 0,
  bonusBalance: 0,
  currency: "EUR",
  walletSeq: 1,
  roundState: "open"
})

/** Outcome of a provider's call, named by its transaction id. */
const outcomeOf = (call: WalletCall): WalletOutcome => {
  if (call.kind === "status") return { _tag: "Status", transactionId: call.transactionId, status: "unknown" }
  const [action] = call.kind === "settle" ? call.actions : []
  const id = action === undefined || action.action === "close_round" ? "" : action.transactionId
  const refusal = id === "again"
    ? refuse("TRY_AGAIN", "Busy.")
    : id === "limit"
    ? refuse("LIMIT_EXCEEDED", "Too much.", { limit: "max_daily_deposit" })
    : undefined
  return refusal === undefined
    ? {
      _tag: "Settled",
      settlements: [settlementOf(id)],
      playerRef: "player",
      funds: { currency: "EUR", real: 0, bonus: 0 }
    }
    : { _tag: "Refused", refusal, playerRef: null, funds: null }
}

const isDeadly = (call: WalletCall): boolean =>
  call.kind === "settle" && call.actions.some((action) => "transactionId" in action && action.transactionId === "die")

/** Calls of providers over a wallet that has no money. */
const probeCalls = Effect.map(Credentials, (credentials): ProviderCalls<CallingProvider> => ({
  entryPoints: [ownEntryPoint(credentials)],
  wallet: {
    start: () => false,
    run: (_, call) => isDeadly(call) ? Effect.die(new Error("secret detail")) : Effect.succeed(outcomeOf(call)),
    playerOf: () => undefined
  },
  note: () => {}
}))

const ProbeEdge = HttpRouter.middleware(
  Effect.suspend(() => makeOutermostMiddleware(routesOf(ProbeApi, ["/health/live", "/health/ready"]))),
  { global: true }
)

const Routes = Layer.mergeAll(HttpApiBuilder.layer(ProbeApi), Health, ProbeEdge).pipe(
  Layer.provide(ProbeHandlers),
  Layer.provide([OperatorAuthLive, IdempotentPostLive, RequestRulesLive])
)

/** The server and the services that it runs on, without a database. */
export const layerEdgeServerOn = Layer.unwrap(
  Effect.map(ProviderLane, ({ take }) => serveAt(Routes, { host: "127.0.0.1", port: 0 }, take))
).pipe(
  Layer.provide(ProviderLane.layerOf(probeCalls)),
  Layer.provideMerge(PathResources.layer),
  Layer.provideMerge(
    Layer.mergeAll(Credentials.layer, ReplayStore.layer, RateLimiter.layer, KeyUses.layerNone, Idempotency.layer)
  ),
  Layer.provideMerge(PersonalData.layer.pipe(Layer.provide(DigestKey.layerTest))),
  Layer.provideMerge(PlayerActors.layerOver(Effect.sync(() => MemoryPlayerStore.make()))),
  Layer.provideMerge(
    Layer.mergeAll(
      layerHttpServices,
      Probe.layer,
      Ids.layer,
      Notices.layer.pipe(Layer.provideMerge(layerSingleNode)),
      Secrets.layer
    )
  )
)

/** The server on a database of its own, at noon. */
export const layerEdgeServer = (settings: Partial<SettingsShape> = {}) =>
  layerEdgeServerOn.pipe(
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(Settings.layerTest(settings)),
    Layer.provideMerge(Entropy.layer),
    Layer.provideMerge(layerNoon)
  )

/** The providers' lane alone, over a wallet of the test. */
export const layerLane = (
  calls: ProviderCalls<CallingProvider>,
  layerNode: Layer.Layer<Forwarder | Nodes | Placement> = layerSingleNode
) =>
  Layer.unwrap(
    Effect.map(ProviderLane, ({ take }) => serveAt(Layer.empty, { host: "127.0.0.1", port: 0 }, take))
  ).pipe(
    Layer.provide(ProviderLane.layerOf(Effect.succeed(calls))),
    Layer.provideMerge(layerHttpServices),
    Layer.provide([Settings.layerTest(), Entropy.layer, layerNode])
  )

export { portOf } from "./HttpCalls.ts"
