import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue } from "effect"
import * as Tls from "node:tls"
import { makeTrust } from "../../src/cluster/Trust.ts"
import {
  lengthBytes,
  newestForm,
  notOwnedStatus,
  type SentCall,
  writeAnswers,
  writeCalls
} from "../../src/cluster/Messages.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { eventually } from "../kit/ClusterNode.ts"
import {
  again,
  answer,
  call,
  change,
  failure,
  key,
  makeWorld,
  masterKeyOf,
  once,
  startNode
} from "../kit/ForwardingNodes.ts"

// Goal: nodes of two adjacent releases understand each other. Method:
// the other release is played by hand: it writes and reads the bytes of the first release with nodes, and those of a future one with an
// additional field; then one that reads packed calls and answers. A change of a text here must keep the old one working.

const settings = { masterKey: masterKeyOf(0) }

const makeKeys = makeTrust.pipe(Effect.provide([NodeServices.layer, Settings.layerTest(settings)]))

const framed = (text: string): Buffer => {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(text))
  bytes.writeUInt32BE(bytes.length - 4)
  bytes.write(text, 4)
  return bytes
}

/** Raw messages that arrive over a connection. */
const messagesOf = Effect.fnUntraced(function*(socket: Tls.TLSSocket) {
  const messages = yield* Queue.unbounded<string>()
  let waiting = Buffer.alloc(0)
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk])
    while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE(0)) {
      const end = 4 + waiting.readUInt32BE(0)
      Queue.offerUnsafe(messages, waiting.toString("utf8", 4, end))
      waiting = waiting.subarray(end)
    }
  })
  // a connection closed by the other side is no failure of the test
  socket.on("error", () => {})
  return messages
})

/** A node whose calls go to the test: the owner of every key, by the connections that it gets. */
const makeOther = Effect.gen(function*() {
  const trust = yield* makeKeys
  const sockets = yield* Queue.unbounded<Tls.TLSSocket>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<Tls.Server>((resume) => {
      const server = Tls.createServer(trust.server, (socket) => void Queue.offerUnsafe(sockets, socket))
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
  const address = server.address()
  const other = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const world = makeWorld()
  world.live.add(other)
  const { forwarder } = yield* startNode(world, "this", settings)
  change(world, other)
  const nextSocket = Effect.acquireRelease(Queue.take(sockets), (socket) => Effect.sync(() => socket.destroy()))
  return { world, forwarder, nextSocket }
})

/** Connects to a node as another: the socket after the welcome, and its messages. */
const dialAs = Effect.fnUntraced(function*(self: string, { form = newestForm, name = "other" } = {}) {
  const trust = yield* makeKeys
  const [host = "", port] = self.split(":")
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => Tls.connect({ ...trust.client, host, port: Number(port) })),
    (socket) => Effect.sync(() => socket.destroy())
  )
  const messages = yield* messagesOf(socket)
  socket.write(framed(`{"kind":"hello","node":"${name}","proofs":${JSON.stringify(trust.proofs)},"form":${form}}`))
  yield* Queue.take(messages)
  return { socket, messages }
})

/** Fields that a future release may add to a message. */
const additions = ["", ",\"more\":{\"a\":1}"]

describe("a cluster node", () => {
  it.live("answers calls from a node of another release", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const { forwarder, self } = yield* startNode(world, "this", settings)
      change(world, self)
      forwarder.serve("echo", ({ body, head }, done) => done({ status: 201, head: `${head}!`, body: `${body}?` }))
      const trust = yield* makeKeys
      const [host = "", port] = self.split(":")
      for (const more of additions) {
        const socket = yield* Effect.acquireRelease(
          Effect.sync(() => Tls.connect({ ...trust.client, host, port: Number(port) })),
          (socket) => Effect.sync(() => socket.destroy())
        )
        const messages = yield* messagesOf(socket)
        socket.write(framed(`{"kind":"hello","node":"other","proofs":${JSON.stringify(trust.proofs)}${more}}`))
        assert.strictEqual(yield* Queue.take(messages), "{\"kind\":\"welcome\",\"node\":\"this\",\"form\":4}")
        socket.write(framed(`{"kind":"calls","ids":[4,9],"keys":[7,-1],"texts":["echo","ä","b","none","",""]${more}}`))
        assert.strictEqual(
          yield* Queue.take(messages),
          "{\"kind\":\"answers\",\"ids\":[4,9],\"statuses\":[201,-2],\"texts\":[\"ä!\",\"b?\",\"\",\"\"]}"
        )
        change(world, "")
        socket.write(framed(`{"kind":"calls","ids":[5],"keys":[7],"texts":["echo","","b"]${more}}`))
        assert.strictEqual(
          yield* Queue.take(messages),
          "{\"kind\":\"answers\",\"ids\":[5],\"statuses\":[-1],\"texts\":[\"\",\"\"]}"
        )
        change(world, self)
      }
    }).pipe(Effect.scoped))

  it.live("calls a node of another release", () =>
    Effect.gen(function*() {
      const trust = yield* makeKeys
      for (const more of additions) {
        const { forwarder, nextSocket } = yield* makeOther
        const socket = yield* nextSocket
        const messages = yield* messagesOf(socket)
        assert.strictEqual(
          yield* Queue.take(messages),
          `{"kind":"hello","node":"this","proofs":${JSON.stringify(trust.proofs)},"form":4}`
        )
        socket.write(framed(`{"kind":"welcome","node":"other"${more}}`))
        const calling = yield* Effect.forkChild(
          forwarder.send(key, "echo", { head: "ä", body: "b" }, again)
        )
        assert.strictEqual(
          yield* Queue.take(messages),
          "{\"kind\":\"calls\",\"ids\":[1],\"keys\":[7],\"texts\":[\"echo\",\"ä\",\"b\"]}"
        )
        socket.write(framed(`{"kind":"answers","ids":[1],"statuses":[201],"texts":["h","ö"]${more}}`))
        assert.deepStrictEqual(yield* Fiber.join(calling), { status: 201, head: "h", body: "ö", node: "other" })
      }
    }).pipe(Effect.scoped))

  it.live("sends a repeatable call over three connections at most, then reports the call as lost, not unsent", () =>
    Effect.gen(function*() {
      const { forwarder, nextSocket, world } = yield* makeOther
      let received = 0
      const hangUp = Effect.gen(function*() {
        const socket = yield* nextSocket
        const messages = yield* messagesOf(socket)
        yield* Queue.take(messages)
        socket.write(framed("{\"kind\":\"welcome\",\"node\":\"other\"}"))
        assert.include(yield* Queue.take(messages), "calls")
        received++
        // afterwards no node owns the key
        if (received === 4) change(world, "127.0.0.1:1")
        socket.destroy()
      })
      yield* Effect.forkChild(Effect.forever(hangUp))
      for (const { all, timeoutMs } of [{ all: 3, timeoutMs: 20_000 }, { all: 4, timeoutMs: 2000 }]) {
        const exit = yield* Effect.exit(forwarder.send(key, "echo", call, { isRepeatable: true, timeoutMs }))
        assert.strictEqual(failure(exit), "lost")
        assert.strictEqual(received, all)
      }
    }).pipe(Effect.scoped))

  it.live("sends long answers that are ready in the same turn of the event loop as separate messages", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const { forwarder, self } = yield* startNode(world, "this", settings)
      change(world, self)
      const body = "x".repeat(600_000)
      forwarder.serve("long", (_, done) => done({ status: 200, head: "", body }))
      const { messages, socket } = yield* dialAs(self, { form: 2 })
      const long = { key, channel: "long", head: "", body: "" }
      socket.write(writeCalls([{ id: 4, ...long }, { id: 5, ...long }], 2))
      for (const id of [4, 5]) {
        const alone = writeAnswers([{ id, status: 200, head: "", body }], 2)
        assert.isTrue((yield* Queue.take(messages)) === alone.toString("utf8", lengthBytes), `answer of call ${id}`)
      }
    }).pipe(Effect.scoped))

  it.live("sends packed (binary) messages to a node that reads them, and closes the connection on an undecodable message", () =>
    Effect.gen(function*() {
      const world = makeWorld()
      const { forwarder, self } = yield* startNode(world, "this", settings)
      change(world, self)
      let taken = 0
      forwarder.serve("echo", ({ body, head }, done) => {
        taken++
        done({ status: 201, head, body })
      })
      const sent: SentCall = { id: 4, key, channel: "echo", head: "ä", body: "b" }
      const spoilt = writeCalls([sent, { ...sent, id: 0.5 }], 2)
      for (
        const { bytes, isUnderstood } of [
          { bytes: writeCalls([sent], 2), isUnderstood: true },
          { bytes: spoilt, isUnderstood: false }
        ]
      ) {
        const { messages, socket } = yield* dialAs(self, { form: 3 })
        let isOver = false
        socket.on("close", () => (isOver = true))
        socket.write(bytes)
        if (isUnderstood) {
          const answer = writeAnswers([{ id: 4, status: 201, head: "ä", body: "b" }], 2)
          assert.strictEqual(yield* Queue.take(messages), answer.toString("utf8", lengthBytes))
        } else yield* eventually(() => isOver)
      }
      assert.strictEqual(taken, 1)
    }).pipe(Effect.scoped))

  /** A node that owns every key, and the bodies of the calls that it has run. */
  const makeOwner = Effect.gen(function*() {
    const world = makeWorld()
    const { forwarder, self } = yield* startNode(world, "this", settings)
    change(world, self)
    const ran: Array<string> = []
    forwarder.serve("run", ({ body }, done) => {
      ran.push(body)
      done(answer(body))
    })
    return { world, self, ran }
  })

  const sentCall = (id: number): SentCall => ({ id, key, channel: "run", head: "", body: `${id}` })
  const answered = (id: number) =>
    writeAnswers([{ id, status: 200, head: "", body: `${id}` }], 2).toString("utf8", lengthBytes)

  // Goal: a call that was on its way while another node owned the key, and answered it, is not run afterwards. Method: the node's epoch changes
  // before a call arrives whose caller has not heard of it.
  it.live("runs no call of a new ownership epoch until the caller has confirmed that epoch", () =>
    Effect.gen(function*() {
      const { ran, self, world } = yield* makeOwner
      const { messages, socket } = yield* dialAs(self)
      socket.write(writeCalls([sentCall(1)], 2))
      assert.strictEqual(yield* Queue.take(messages), answered(1))
      world.epoch = 3
      socket.write(writeCalls([sentCall(2), sentCall(3)], 2))
      assert.strictEqual(yield* Queue.take(messages), "{\"kind\":\"mark\",\"epoch\":3}")
      const refused = writeAnswers([2, 3].map((id) => ({ id, status: notOwnedStatus, head: "", body: "" })), 2)
      assert.strictEqual(yield* Queue.take(messages), refused.toString("utf8", lengthBytes))
      socket.write(framed("{\"kind\":\"mark\",\"epoch\":3}"))
      socket.write(writeCalls([sentCall(4)], 2))
      assert.strictEqual(yield* Queue.take(messages), answered(4))
      assert.deepStrictEqual(ran, ["1", "4"])
    }).pipe(Effect.scoped))

  it.live("confirms a peer's new ownership epoch, and sends again a call that was refused because of it", () =>
    Effect.gen(function*() {
      const { forwarder, nextSocket } = yield* makeOther
      const socket = yield* nextSocket
      const messages = yield* messagesOf(socket)
      yield* Queue.take(messages)
      socket.write(framed("{\"kind\":\"welcome\",\"node\":\"other\"}"))
      const calling = yield* Effect.forkChild(forwarder.send(key, "run", { head: "", body: "b" }, once))
      const sent = (id: number) => `{"kind":"calls","ids":[${id}],"keys":[7],"texts":["run","","b"]}`
      assert.strictEqual(yield* Queue.take(messages), sent(1))
      socket.write(framed("{\"kind\":\"mark\",\"epoch\":9}"))
      socket.write(framed(`{"kind":"answers","ids":[1],"statuses":[${notOwnedStatus}],"texts":["",""]}`))
      assert.strictEqual(yield* Queue.take(messages), "{\"kind\":\"mark\",\"epoch\":9}")
      assert.strictEqual(yield* Queue.take(messages), sent(1))
      socket.write(framed("{\"kind\":\"answers\",\"ids\":[1],\"statuses\":[200],\"texts\":[\"\",\"done\"]}"))
      assert.strictEqual((yield* Fiber.join(calling)).body, "done")
    }).pipe(Effect.scoped))

  it.live("announces a new ownership epoch to its peers, but not to a node of an older release", () =>
    Effect.gen(function*() {
      const { ran, self, world } = yield* makeOwner
      const { messages } = yield* dialAs(self)
      const old = yield* dialAs(self, { form: 3, name: "old" })
      world.epoch = 3
      change(world, self)
      assert.strictEqual(yield* Queue.take(messages), "{\"kind\":\"mark\",\"epoch\":3}")
      old.socket.write(writeCalls([sentCall(1)], 2))
      assert.strictEqual(yield* Queue.take(old.messages), answered(1))
      assert.deepStrictEqual(ran, ["1"])
    }).pipe(Effect.scoped))

  // Goal: of a call that was sent again over a new connection, the copy on the old one is not run after it.
  it.live("closes the old connection of a peer that connects again, without running calls from it", () =>
    Effect.gen(function*() {
      const { ran, self } = yield* makeOwner
      const old = yield* dialAs(self)
      let isOver = false
      old.socket.on("close", () => (isOver = true))
      const { messages, socket } = yield* dialAs(self)
      socket.write(writeCalls([sentCall(1)], 2))
      assert.strictEqual(yield* Queue.take(messages), answered(1))
      old.socket.write(writeCalls([sentCall(2)], 2))
      yield* eventually(() => isOver)
      assert.deepStrictEqual(ran, ["1"])
    }).pipe(Effect.scoped))

  it.live("runs no call after a message that it cannot decode", () =>
    Effect.gen(function*() {
      const { ran, self } = yield* makeOwner
      const { socket } = yield* dialAs(self)
      let isOver = false
      socket.on("close", () => (isOver = true))
      socket.write(Buffer.concat([framed("{\"kind\":\"welcome\",\"node\":\"other\"}"), writeCalls([sentCall(1)], 2)]))
      yield* eventually(() => isOver)
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.scoped))
})
