/**
 * Starts the service: PostgreSQL first, and while that starts and recovers, loads the service's modules, since loading them takes most of a start's
 * processor time. SIGTERM and SIGINT begin a graceful shutdown.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Context, Effect, Exit, Layer } from "effect"
import { logFields } from "./http/LogFields.ts"
import { layerFreePorts } from "./http/Ports.ts"
import { DatabaseUrl } from "./platform/Database.ts"
import { layerLogging } from "./platform/Logging.ts"
import { standardError } from "./platform/Output.ts"
import { layerEndWithParent } from "./platform/ProcessEnd.ts"
import { Settings } from "./platform/Settings.ts"
import { StartupError } from "./platform/StartupError.ts"
import { layerLaterSettings } from "./platform/LaterSettings.ts"
import { layerTracing } from "./platform/Tracing.ts"
import type * as RunService from "./runService.ts"

/** Loads the modules of a node while its supervisor starts the database. */
const loadNode = Effect.promise(() => Promise.all([import("./runService.ts"), import("./cluster/ClusterNode.ts")]))

/** Modules of the service. */
class Modules extends Context.Service<Modules, typeof RunService>()("pitboss/startService/Modules") {
  static readonly layer = Layer.effect(Modules, Effect.promise(() => import("./runService.ts")))
}

const Service = Layer.unwrap(Effect.map(Modules, ({ layerService }) => layerService)).pipe(
  Layer.provideMerge(Layer.merge(DatabaseUrl.layer.pipe(Layer.provide(layerFreePorts)), Modules.layer)),
  Layer.provideMerge(layerTracing),
  Layer.provideMerge(layerEndWithParent),
  Layer.provideMerge(layerLogging(logFields)),
  Layer.provideMerge(Settings.layer),
  Layer.provide(layerLaterSettings(loadNode)),
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
