/**
 * The service: its capabilities on the configured database, behind the public server and the back office's. Prints its addresses and, with the demo
 * operator, first steps. SIGTERM and SIGINT drain.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Context, Effect, Exit, Layer, Option, Redacted } from "effect"
import { layerEndsFile } from "./chain/EndsFile.ts"
import { layerCluster, layerMember } from "./cluster/Cluster.ts"
import { layerBackoffice } from "./servers/Backoffice.ts"
import { type DemoCredentials, DemoSeed } from "./features/demo/DemoSeed.ts"
import { layerBackofficeServer } from "./servers/BackofficeServer.ts"
import { logFields } from "./http/LogFields.ts"
import { layerFreePorts } from "./http/Ports.ts"
import { MetricsRoute } from "./http/MetricsRoute.ts"
import { layerHttpServices, layerPublicServer } from "./servers/PublicServer.ts"
import { layerLogging } from "./platform/Logging.ts"
import { isOpenConnection } from "./platform/DatabaseHosts.ts"
import { isLoopback } from "./platform/Loopback.ts"
import { standardError } from "./platform/Output.ts"
import { layerEndWithParent, layerHardStop } from "./platform/ProcessEnd.ts"
import { Settings } from "./platform/Settings.ts"
import { StartupError } from "./platform/StartupError.ts"
import { layerTracing } from "./platform/Tracing.ts"
import { layerCapabilities, layerCompliance, layerJobs, layerMigratedDatabase, layerWebhooks } from "./service.ts"
import { bootstrapLabel } from "./office/SpendingFacts.ts"
import type { Actor } from "./office/Actor.ts"
import { SignInTickets } from "./features/staffSessions/SignInTickets.ts"
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
      ? `  Back office    http://${backofficeHost}:${backofficePort}    npm run -s backoffice -- --help`
      : `  Back office    ${signInLink}`
  ]
  const trial = demo === undefined ? [] : [
    "",
    `A demo operator is ready: key ${demo.operator.key}, its secret and a game provider's are in ${demoFile}.`,
    "See it play, in a second terminal:",
    "  npm run demo",
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

/** Logs one line for each address reachable from other machines, which should be intentional. */
const Exposure = Layer.effectDiscard(Effect.gen(function*() {
  const { backofficeHost, databaseUrl, host } = yield* Settings
  if (!isLoopback(host)) {
    yield* Effect.logWarning("public API listens off loopback in plain HTTP").pipe(Effect.annotateLogs({ host }))
  }
  if (!isLoopback(backofficeHost)) {
    yield* Effect.logWarning("back office listens off loopback in plain HTTP").pipe(
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

/** Stops webhook senders together with requests, so that both have the full drain time. */
const WebhooksStop = Layer.effectDiscard(
  Effect.flatMap(WebhookSender, ({ beginDrain }) => Effect.addFinalizer(() => beginDrain))
)

const Service = layerHardStop(8500).pipe(
  Layer.provideMerge(layerMember),
  Layer.provideMerge(layerEndWithParent),
  Layer.provideMerge(WebhooksStop),
  Layer.provideMerge(Greeting),
  Layer.provideMerge(Exposure),
  Layer.provideMerge(layerPublicServer),
  Layer.provideMerge(layerBackofficeServer(MetricsRoute)),
  Layer.provideMerge(layerHttpServices),
  Layer.provideMerge(Demo.layer),
  Layer.provideMerge(layerJobs),
  Layer.provideMerge(layerBackoffice),
  Layer.provideMerge(layerWebhooks),
  Layer.provideMerge(Layer.merge(layerCompliance, layerEndsFile)),
  Layer.provideMerge(layerCapabilities),
  Layer.provideMerge(layerCluster),
  Layer.provideMerge(layerMigratedDatabase.pipe(Layer.provideMerge(layerFreePorts))),
  Layer.provideMerge(layerTracing),
  Layer.provideMerge(layerLogging(logFields)),
  Layer.provideMerge(Settings.layer),
  Layer.provide(NodeServices.layer)
)

/** A failed start is one line with its reason; anything else is a defect, logged in full. */
const explain = (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    const error = Cause.squash(cause)
    standardError.offer(error instanceof StartupError ? `pitboss: ${error.message}\n` : `${Cause.pretty(cause)}\n`)
  })

NodeRuntime.runMain(
  Layer.launch(Service).pipe(Effect.tapCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : explain(cause))),
  {
    disableErrorReporting: true,
    // a requested stop is not a failure; work stuck after the drain does not hold the process
    teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
  }
)
