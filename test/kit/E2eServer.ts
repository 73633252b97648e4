/** The public API in the process of the test, on a database and with a clock of its own; on several nodes when the run says so. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { layerCapabilities, layerCapabilitiesOver } from "../../src/service.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { balance, makeNodesInProcess, nodesOfRun } from "./NodesInProcess.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { layerTestService } from "./TestService.ts"

const layerServer = layerPublicServer.pipe(Layer.provideMerge(layerHttpServices))

/** The port of a server. */
const listensAt = ({ address }: HttpServer.HttpServer["Service"]): number =>
  address._tag === "UnixPathAddress" ? 0 : address.port

/** The public server of the first node is what a test sees, at a port whose connections go to all of them in turn. */
const layerOfNodes = (capabilities: typeof layerCapabilities) =>
  Layer.unwrap(Effect.sync(() => {
    const [first, ...others] = makeNodesInProcess(nodesOfRun)
    const layerOther = (node: typeof first) =>
      Layer.fresh(layerServer.pipe(
        Layer.provide(capabilities),
        Layer.provide(TestDatabase.layerService),
        Layer.provide(node ?? Layer.empty)
      ))
    const layerBalanced = Layer.effect(
      HttpServer.HttpServer,
      Effect.gen(function*() {
        const server = yield* HttpServer.HttpServer
        const ports = yield* Effect.forEach(
          others,
          (node) =>
            Effect.map(Layer.build(layerOther(node)), (built) => listensAt(Context.get(built, HttpServer.HttpServer)))
        )
        const { port } = yield* balance([listensAt(server), ...ports])
        return server.address._tag === "UnixPathAddress" ? server : { ...server, address: { ...server.address, port } }
      })
    )
    return layerBalanced.pipe(
      Layer.provideMerge(layerServer),
      Layer.provideMerge(layerTestService(Entropy.layer, capabilities, first))
    )
  }))

const layerOn = (capabilities: typeof layerCapabilities) =>
  nodesOfRun > 1
    ? layerOfNodes(capabilities)
    : layerServer.pipe(Layer.provideMerge(layerTestService(Entropy.layer, capabilities)))

/** The public server at a free port, with every service that it needs. */
export const layerE2eServer = layerOn(layerCapabilities)

/** As {@link layerE2eServer}, with a mailbox per player that a test can fill. */
export const layerE2eServerWithMailbox = (maxMailbox: number) =>
  layerOn(layerCapabilitiesOver(PlayerActors.layerOver(makePlayerStore, { maxMailbox })))

/** The port that the server listens on. */
export const portOf = Effect.map(HttpServer.HttpServer, listensAt)
