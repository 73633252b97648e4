/**
 * Runs the service: all its features on the configured database, behind the public server and the back-office server. Prints its addresses and, with
 * the demo operator, first steps. Loaded and run by `startService.ts`.
 */
import { Console, Context, Effect, Layer, Option, Redacted } from "effect"
import { writeCompiled } from "./compiled.ts"
import { layerEndsFile } from "./chain/EndsFile.ts"
import { layerCluster, layerMember } from "./cluster/Cluster.ts"
import { layerBackoffice } from "./servers/Backoffice.ts"
import { type DemoCredentials, DemoSeed } from "./features/demo/DemoSeed.ts"
import { layerBackofficeServer } from "./servers/BackofficeServer.ts"
import { MetricsRoute } from "./http/MetricsRoute.ts"
import { layerHttpServices, layerPublicServer } from "./servers/PublicServer.ts"
import { isOpenConnection } from "./platform/DatabaseHosts.ts"
import { isLoopback } from "./platform/Loopback.ts"
import { layerHardStop } from "./platform/ProcessEnd.ts"
import { Settings } from "./platform/Settings.ts"
import { StartupError } from "./platform/StartupError.ts"
import { invocation } from "./platform/Invocation.ts"
import { version } from "./platform/Version.ts"
import {
  layerCapabilities,
  layerCompliance,
  layerJobs,
  layerLicensees,
  layerMigratedDatabase,
  layerWebhooks
} from "./service.ts"
import { bootstrapLabel } from "./office/SpendingFacts.ts"
import type { Actor } from "./office/Actor.ts"
import { SignInTickets } from "./features/staffSessions/SignInTickets.ts"
import { EventFeed } from "./features/events/EventFeed.ts"
import { WebhookSender } from "./features/webhooks/WebhookSender.ts"

const greeting = (
  { backofficeHost, backofficePort, host, port }: Settings["Service"],
  demo: DemoCredentials | undefined,
  demoFile: string,
  signInLink: string | undefined
): string => {
  const lines = [
    "",
    "Pitboss is up.",
    `  API            http://${host}:${port}/api/v1    reference at http://${host}:${port}/docs`,
    signInLink === undefined
      ? `  Back office    http://${backofficeHost}:${backofficePort}    ${invocation.backoffice} --help`
      : `  Back office    ${signInLink}`
  ]
  const trial = demo === undefined ? [] : [
    "",
    `A demo operator is ready: key ${demo.operator.key}, its secret and a game provider's are in ${demoFile}.`,
    "See it play, in a second terminal:",
    `  ${invocation.program} demo`,
    "Call it yourself, with curl and openssl:",
    "  KEY=" + demo.operator.key,
    `  SECRET=$(node -p "require('${demoFile}').operator.secret")`,
    "  TIME=$(date +%s)",
    "  SIGNATURE=$(printf 'GET\\n/api/v1/operator/me\\n%s\\n' $TIME | openssl dgst -sha256 -hmac $SECRET | sed 's/.* //')",
    `  curl -H "X-Api-Key: $KEY" -H "X-Timestamp: $TIME" -H "X-Signature: $SIGNATURE" http://${host}:${port}/api/v1/operator/me`
  ]
  return [...lines, ...trial, ""].join("\n")
}

/** Demo operator, created before the service reports ready. */
class Demo extends Context.Service<Demo, {
  readonly credentials: DemoCredentials | undefined
  readonly file: string
}>()("pitboss/main/Demo") {
  static readonly layer = Layer.effect(
    Demo,
    Effect.gen(function*() {
      const { ensure, file } = yield* DemoSeed
      const credentials = yield* ensure.pipe(
        Effect.mapError(({ message }) => new StartupError({ message: `DEMO: ${message}` }))
      )
      return { credentials, file }
    })
  ).pipe(Layer.provide(DemoSeed.layer))
}

/** Logs the version, and one line for each address reachable from other machines, which should be intentional. */
const FirstLines = Layer.effectDiscard(Effect.gen(function*() {
  const { backofficeHost, databaseUrl, host } = yield* Settings
  yield* Effect.logInfo("service started").pipe(Effect.annotateLogs({ version }))
  if (!isLoopback(host)) {
    yield* Effect.logWarning("public API listens beyond loopback without TLS").pipe(Effect.annotateLogs({ host }))
  }
  if (!isLoopback(backofficeHost)) {
    yield* Effect.logWarning("back office listens beyond loopback without TLS").pipe(
      Effect.annotateLogs({ host: backofficeHost })
    )
  }
  if (databaseUrl !== undefined && isOpenConnection(Redacted.value(databaseUrl))) {
    yield* Effect.logWarning("connection to a remote database has no TLS")
  }
}))

/** Audit log actor of the sign-in link printed at the start. */
const terminal: Actor = { id: null, name: "console", role: "admin", operators: null, label: bootstrapLabel }

/** A node of several prints nothing: their supervisor does, once for all. */
const Greeting = Layer.effectDiscard(Effect.gen(function*() {
  const { credentials, file } = yield* Demo
  const settings = yield* Settings
  if (settings.nodePort !== undefined) return
  const tickets = yield* SignInTickets
  // embedded database only: anyone who sees this terminal may read the bootstrap token anyway
  const link = settings.databaseUrl === undefined
    ? yield* Effect.option(Effect.timeout(tickets.issue(terminal, null), "5 seconds"))
    : Option.none()
  yield* Console.log(greeting(settings, credentials, file, Option.getOrUndefined(link)?.url))
}))

/** Stops webhook senders and held calls together with requests, so that all have the full drain time. */
const WebhooksStop = Layer.effectDiscard(Effect.gen(function*() {
  const sender = yield* WebhookSender
  const feed = yield* EventFeed
  yield* Effect.addFinalizer(() => Effect.andThen(sender.beginDrain, feed.beginDrain))
}))

/** Before any request is taken, since it blocks the thread. */
const CompiledModules = Layer.effectDiscard(Effect.sync(writeCompiled))

/** Needs `Settings`, logging, tracing and the address of the database. */
export const layerService = layerHardStop(8500).pipe(
  Layer.provideMerge(layerMember),
  Layer.provideMerge(WebhooksStop),
  Layer.provideMerge(Greeting),
  Layer.provideMerge(FirstLines),
  Layer.provideMerge(layerPublicServer.pipe(Layer.provide(CompiledModules))),
  Layer.provideMerge(layerBackofficeServer(MetricsRoute)),
  Layer.provideMerge(layerHttpServices),
  Layer.provideMerge(Demo.layer),
  Layer.provideMerge(layerJobs),
  Layer.provideMerge(layerBackoffice),
  Layer.provideMerge(layerWebhooks),
  Layer.provideMerge(Layer.mergeAll(layerCompliance, layerLicensees, layerEndsFile)),
  Layer.provideMerge(layerCapabilities),
  Layer.provideMerge(layerCluster),
  Layer.provideMerge(layerMigratedDatabase)
)
