/** The service: its capabilities on the database of the settings, behind the public server. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { layerHttpServices, layerPublicServer } from "./http/PublicServer.ts"
import { Settings } from "./platform/Settings.ts"
import { layerCapabilities, layerMigratedDatabase } from "./service.ts"

const Service = layerPublicServer.pipe(
  Layer.provideMerge(layerHttpServices),
  Layer.provideMerge(layerCapabilities),
  Layer.provideMerge(layerMigratedDatabase),
  Layer.provideMerge(Settings.layer),
  Layer.provide(NodeServices.layer)
)

NodeRuntime.runMain(Effect.scoped(Layer.launch(Service)))
