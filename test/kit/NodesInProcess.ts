/**
 * Several nodes in the process of a test, on one database and one clock. Their messages are passed in memory, as the bytes of a
 * connection; a malformed one is a defect. They hand nothing over: moves of players are tested in `test/cluster` and `test/soak`; this is for
 * the forwarding of requests.
 * `E2E_NODES=3` runs the end-to-end tests on three of them.
 */
import { type Context, Effect, Layer } from "effect"
import * as Net from "node:net"
import {
  type Answer,
  type Answered,
  type Call,
  Forwarder,
  type Handler,
  NotAnswered,
  notOwned
} from "../../src/cluster/Forwarder.ts"
import { lengthBytes, newestForm, noKey, readMessage, writeAnswers, writeCalls } from "../../src/cluster/Messages.ts"
import { Nodes } from "../../src/cluster/Nodes.ts"
import { shardOf } from "../../src/cluster/Shards.ts"
import { Placement } from "../../src/engine/Placement.ts"

/** How many nodes the end-to-end tests run on. */
export const nodesOfRun = Number(process.env["E2E_NODES"] ?? 1)

type Node = Layer.Layer<Forwarder | Nodes | Placement>

/** The number of the node that owns a key. */
export const ownerAmong = (count: number, key: number): number => shardOf(key) % count

/** A call as its receiver decodes it; undefined when malformed. */
const callOver = (key: number, channel: string, { body, head }: Call): Call | undefined => {
  const message = readMessage(writeCalls([{ id: 1, key, channel, head, body }], newestForm).subarray(lengthBytes))
  return message?.kind === "calls" ? message.calls[0] : undefined
}

/** An answer as its receiver decodes it; undefined when malformed. */
const answerOver = ({ body, head, status }: Answer): Answer | undefined => {
  const message = readMessage(writeAnswers([{ id: 1, status, head, body }], newestForm).subarray(lengthBytes))
  return message?.kind === "answers" ? message.answers[0] : undefined
}

/**
 * Nodes of one casino. `isKnown` false: a node assumes that it owns every player until a request shows otherwise. `ownerOf` gives a player's
 * node; it may change once for a player, to a node that never had the player.
 */
export const makeNodesInProcess = (
  count: number,
  isKnown = process.env["E2E_LATE"] === undefined,
  ownerOf = (key: number): number => ownerAmong(count, key)
): ReadonlyArray<Node> => {
  const channels = Array.from({ length: count }, () => new Map<string, Handler>())

  const ask = (
    from: number,
    to: number,
    key: number,
    channel: string,
    call: Call
  ): Effect.Effect<Answered, NotAnswered> =>
    Effect.callback((resume) => {
      const open = channels[to]?.get(channel)
      if (open === undefined) return resume(Effect.fail(new NotAnswered({ because: "unsent" })))
      const malformed = () => resume(Effect.die(new Error(`a message of the channel "${channel}" is malformed`)))
      const received = from === to ? call : callOver(key, channel, call)
      if (received === undefined) return malformed()
      open({ head: received.head, body: received.body }, (given) => {
        if (given === notOwned) return resume(Effect.fail(new NotAnswered({ because: "unsent" })))
        const answer = from === to ? given : answerOver(given)
        if (answer === undefined) return malformed()
        const { body, head, status } = answer
        resume(Effect.succeed({ status, head, body, node: `n${to}` }))
      })
    })

  const fork = Effect.runForkWith<never>

  return Array.from({ length: count }, (_, node) => {
    const forwarder = Layer.effect(
      Forwarder,
      Effect.contextWith((context: Context.Context<never>) =>
        Effect.sync(() =>
          Forwarder.of({
            node: `n${node}`,
            isHere: (key) => !isKnown || ownerOf(key) === node,
            ownerOf: (key) => `n${ownerOf(key)}`,
            serve: (channel, open) => void channels[node]?.set(channel, open),
            post: (key, channel, call, _, done) =>
              void fork(context)(ask(node, ownerOf(key), key, channel, call)).addObserver(done),
            send: (key, channel, call) => ask(node, ownerOf(key), key, channel, call),
            sendTo: (id, channel, call) => {
              const index = channels.findIndex((_, index) => `n${index}` === id)
              return index < 0 ? Effect.undefined : ask(node, index, noKey, channel, call)
            },
            sendToAll: (channel, call) =>
              Effect.forEach(
                channels,
                (_, index) =>
                  Effect.match(ask(node, index, noKey, channel, call), {
                    onFailure: () => [],
                    onSuccess: (answer) => [answer]
                  })
              ).pipe(
                Effect.map((answers) => answers.flat())
              )
          })
        )
      )
    )
    const placement = Layer.succeed(
      Placement,
      Placement.of({
        epochOf: (key) => ownerOf(key) === node ? 1 : 0,
        holds: (key) => ownerOf(key) === node,
        isShared: true,
        onRelease: () => {}
      })
    )
    return Layer.mergeAll(forwarder, placement, Nodes.layerNone)
  })
}

/** Port that distributes connections over these ports in turn; ports may be added later. */
export const balance = (ports: ReadonlyArray<number>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      let next = 0
      const sockets = new Set<Net.Socket>()
      const server = Net.createServer((caller) => {
        const node = Net.connect({ host: "127.0.0.1", port: ports[next++ % ports.length] ?? 0 })
        for (const [socket, other] of [[caller, node], [node, caller]] as const) {
          sockets.add(socket)
          socket.setNoDelay(true)
          socket.on("error", () => other.destroy())
          socket.on("close", () => {
            sockets.delete(socket)
            other.destroy()
          })
          socket.pipe(other)
        }
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({
          port: typeof address === "object" && address !== null ? address.port : 0,
          close: () => {
            for (const socket of sockets) socket.destroy()
            server.close()
          }
        }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
