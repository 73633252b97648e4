/** Public API in the test's process, with its own database and clock; on several nodes if the run is configured so. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { layerCapabilities, layerCapabilitiesOver } from "../../src/service.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { ProfileBook } from "../../src/store/ProfileBook.ts"
import { listensAt } from "./HttpCalls.ts"
import { layerNoon } from "./Noon.ts"
import { balance, makeNodesInProcess, nodesOfRun, ownerAmong } from "./NodesInProcess.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { layerTestService } from "./TestService.ts"

const layerServer = layerPublicServer.pipe(Layer.provideMerge(layerHttpServices))

/** The actors of all nodes as one: a test that asks a player itself asks the player's node. */
export const together = (
  first: PlayerActors["Service"],
  others: ReadonlyArray<PlayerActors["Service"]>
): PlayerActors["Service"] => {
  const nodes = [first, ...others]
  const at = (playerId: number) => nodes[ownerAmong(nodes.length, playerId)] ?? first
  return PlayerActors.of({
    ask: (operatorId, playerId, step) => at(playerId).ask(operatorId, playerId, step),
    create: (initial, step) => at(initial.id).create(initial, step),
    post: (operatorId, playerId, step, done) => at(playerId).post(operatorId, playerId, step, done),
    peek: (operatorId, playerId) => at(playerId).peek(operatorId, playerId),
    read: (operatorId, playerId) => at(playerId).read(operatorId, playerId),
    renew: (playerId, isStale) => at(playerId).renew(playerId, isStale),
    resident: () => nodes.reduce((sum, { resident }) => sum + resident(), 0),
    writesStalledMs: () => Math.max(...nodes.map(({ writesStalledMs }) => writesStalledMs()))
  })
}

/** The server as it is reached at another port. */
export const listeningAt = (server: HttpServer.HttpServer["Service"], port: number): HttpServer.HttpServer["Service"] =>
  server.address._tag === "UnixPathAddress" ? server : { ...server, address: { ...server.address, port } }

/** The ports of the nodes, each by itself. */
export class NodePorts extends Context.Service<NodePorts, ReadonlyArray<number>>()("pitboss/test/NodePorts") {}

/** Exposes the first node's public server, at a port whose connections are distributed over all nodes in turn. */
const layerOfNodes = (count: number, capabilities: typeof layerCapabilities, isKnown?: boolean) =>
  Layer.unwrap(Effect.sync(() => {
    const [first, ...others] = makeNodesInProcess(count, isKnown)
    const layerOther = (node: typeof first) =>
      Layer.fresh(layerServer.pipe(
        Layer.provideMerge(capabilities),
        Layer.provide(TestDatabase.layerService),
        Layer.provide(node ?? Layer.empty)
      ))
    const layerBalanced = Layer.effectContext(
      Effect.gen(function*() {
        const server = yield* HttpServer.HttpServer
        const actors = yield* PlayerActors
        const built = yield* Effect.forEach(others, (node) => Layer.build(layerOther(node)))
        const ports = [server, ...built.map((one) => Context.get(one, HttpServer.HttpServer))].map(listensAt)
        const { port } = yield* balance(ports)
        return Context.make(HttpServer.HttpServer, listeningAt(server, port)).pipe(
          Context.add(PlayerActors, together(actors, built.map((one) => Context.get(one, PlayerActors)))),
          Context.add(NodePorts, ports)
        )
      })
    )
    return layerBalanced.pipe(
      Layer.provideMerge(layerServer),
      Layer.provideMerge(layerTestService(Entropy.layer, capabilities, first))
    )
  }))

const layerOn = (capabilities: typeof layerCapabilities) =>
  nodesOfRun > 1
    ? layerOfNodes(nodesOfRun, capabilities)
    : layerServer.pipe(Layer.provideMerge(layerTestService(Entropy.layer, capabilities)))

/** The public server at a free port, with every service that it needs. */
export const layerE2eServer = layerOn(layerCapabilities)

/** As {@link layerE2eServer}, at noon. */
export const layerPublicApi = layerE2eServer.pipe(Layer.provideMerge(layerNoon))

/** As {@link layerE2eServer}, on three nodes in every run. */
export const layerThreeNodes = layerOfNodes(3, layerCapabilities)

/** As {@link layerThreeNodes}, of which each learns on the way that a player is another one's, as when players move. */
export const layerThreeNodesLate = layerOfNodes(3, layerCapabilities, false)

/** As {@link layerE2eServer}, with a mailbox per player that a test can fill. */
export const layerE2eServerWithMailbox = (maxMailbox: number) =>
  layerOn(layerCapabilitiesOver(PlayerActors.layerOver(makePlayerStore, { maxMailbox }, Effect.service(ProfileBook))))
