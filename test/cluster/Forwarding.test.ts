import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { createServer, type Server, type Socket } from "node:net"
import { type Answered, type NotAnswered, notOwned } from "../../src/cluster/Forwarder.ts"
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
  pair,
  startNode
} from "../kit/ForwardingNodes.ts"

// Goal: a call reaches the owner of its key once, or its caller gets an error; a slow one delays no other, and excess calls are
// refused. Method: nodes with real connections, in a world whose owners the test sets.

describe("calls between nodes", () => {
  it.live("are answered by the owner, also when the calling node is the owner", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      for (const { forwarder, self } of [one, two]) {
        forwarder.serve("echo", ({ body, head }, done) =>
          done({ status: 201, head: `${head}!`, body: `${self} ${body}` }))
      }
      const given = { head: "ä\u0000😀", body: "x".repeat(100_000) }
      for (const { forwarder } of [one, two]) {
        assert.deepStrictEqual(yield* forwarder.send(key, "echo", given, once), {
          status: 201,
          head: "ä\u0000😀!",
          body: `${two.self} ${given.body}`,
          node: "two"
        })
      }
      change(world, one.self)
      assert.strictEqual((yield* one.forwarder.send(key, "echo", given, once)).node, "one")
    }).pipe(Effect.scoped))

  it.live("do not wait for slower calls that were sent before them", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      const slow: Array<() => void> = []
      two.forwarder.serve("slow", (_, done) => void slow.push(() => done(answer("slow"))))
      two.forwarder.serve("quick", (_, done) => done(answer("quick")))
      let answered = 0
      for (let sent = 0; sent < 20; sent++) one.forwarder.post(key, "slow", call, once, () => void answered++)
      yield* eventually(() => slow.length === 20)
      for (let sent = 0; sent < 10; sent++) {
        assert.strictEqual((yield* one.forwarder.send(key, "quick", call, once)).body, "quick")
      }
      assert.strictEqual(answered, 0)
      for (const go of slow) go()
      yield* eventually(() => answered === 20)
    }).pipe(Effect.scoped))

  it.live("go to the new owner when the called node no longer owns the key", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      let asked = 0
      two.forwarder.serve("where", (_, done) => {
        asked++
        done(notOwned)
        // as if its handover were due
        change(world, one.self)
      })
      one.forwarder.serve("where", (_, done) => done(answer("here")))
      assert.strictEqual((yield* one.forwarder.send(key, "where", call, once)).node, "one")
      assert.strictEqual(asked, 1)
    }).pipe(Effect.scoped))

  it.live("fail as unsent when no owner is found in time", () =>
    Effect.gen(function*() {
      const { one, world } = yield* pair
      change(world, "127.0.0.1:1")
      const exit = yield* Effect.exit(one.forwarder.send(key, "echo", call, { isRepeatable: true, timeoutMs: 200 }))
      assert.strictEqual(failure(exit), "unsent")
    }).pipe(Effect.scoped))

  it.live("are not sent again when they are slow", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      let opened = 0
      two.forwarder.serve("never", () => void opened++)
      const exit = yield* Effect.exit(one.forwarder.send(key, "never", call, { isRepeatable: true, timeoutMs: 300 }))
      assert.strictEqual(failure(exit), "lost")
      assert.strictEqual(opened, 1)
    }).pipe(Effect.scoped))

  it.live("are sent again after a lost connection only when they are repeatable", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      let opened = 0
      two.forwarder.serve("work", () => void opened++)
      one.forwarder.serve("work", (_, done) => done(answer("done")))
      const exits: Array<Exit.Exit<Answered, NotAnswered>> = []
      one.forwarder.post(key, "work", call, again, (exit) => void exits.push(exit))
      one.forwarder.post(key, "work", call, once, (exit) => void exits.push(exit))
      yield* eventually(() => opened === 2)
      world.live.delete(two.self)
      yield* two.close
      yield* eventually(() => exits.length === 1)
      assert.deepStrictEqual(exits.map(failure), ["lost"])
      change(world, one.self)
      yield* eventually(() => exits.length === 2)
      const [, second] = exits
      assert.isTrue(second !== undefined && Exit.isSuccess(second) && second.value.node === "one")
    }).pipe(Effect.scoped))

  it.live("are sent to the new owner when the former owner has left the cluster and does not answer", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      let opened = 0
      two.forwarder.serve("work", () => void opened++)
      one.forwarder.serve("work", (_, done) => done(answer("done")))
      const exits: Array<Exit.Exit<Answered, NotAnswered>> = []
      one.forwarder.post(key, "work", call, { isRepeatable: true, timeoutMs: 20_000 }, (exit) => void exits.push(exit))
      yield* eventually(() => opened === 1)
      // it hangs, and its lease has expired
      world.live.delete(two.self)
      change(world, one.self)
      yield* eventually(() => exits.length === 1)
      const [first] = exits
      assert.isTrue(first !== undefined && Exit.isSuccess(first) && first.value.node === "one")
    }).pipe(Effect.scoped))

  it.live("are refused at once when the maximum of calls is waiting, and the waiting calls are answered", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      const opened: Array<() => void> = []
      let isOpen = false
      two.forwarder.serve("gate", (_, done) => {
        if (isOpen) done(answer(""))
        else opened.push(() => done(answer("")))
      })
      const ends = new Map<string, number>()
      const note = (exit: Exit.Exit<Answered, NotAnswered>) => {
        const end = failure(exit)
        ends.set(end, (ends.get(end) ?? 0) + 1)
      }
      for (let sent = 0; sent < 3000; sent++) {
        one.forwarder.post(key, "gate", call, { isRepeatable: true, timeoutMs: 50_000 }, note)
      }
      const refused = ends.get("overloaded") ?? 0
      assert.isAbove(refused, 0)
      assert.strictEqual(ends.size, 1)
      yield* eventually(() => opened.length === 1024)
      isOpen = true
      for (const go of opened) go()
      yield* eventually(() => (ends.get("") ?? 0) + refused === 3000)
      // and it resumes
      assert.strictEqual((yield* one.forwarder.send(key, "gate", call, once)).node, "two")
    }).pipe(Effect.scoped))

  // Goal: a defect of one call costs no other. Method: a call waits on the same connection, which may not be sent again.
  it.live("fail without affecting other calls when the key or the answer cannot be encoded", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      const held: Array<() => void> = []
      two.forwarder.serve("held", (_, done) => void held.push(() => done(answer("held"))))
      const others: Array<Exit.Exit<Answered, NotAnswered>> = []
      one.forwarder.post(key, "held", call, once, (exit) => void others.push(exit))
      yield* eventually(() => held.length === 1)
      for (const unsafe of [1e16, 7.5, NaN, -7]) {
        assert.strictEqual(failure(yield* Effect.exit(one.forwarder.send(unsafe, "held", call, again))), "unsent")
      }
      two.forwarder.serve("no status", (_, done) => done({ ...answer(""), status: NaN }))
      two.forwarder.serve("too long", (_, done) => done(answer("x".repeat(256 * 1024 * 1024))))
      for (const channel of ["no status", "too long"]) {
        assert.strictEqual(failure(yield* Effect.exit(one.forwarder.send(key, channel, call, again))), "lost", channel)
      }
      for (const go of held) go()
      yield* eventually(() => others.length === 1)
      assert.deepStrictEqual(others.map(failure), [""])
    }).pipe(Effect.scoped))

  it.live("are answered once, also when their handler throws or answers twice", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      const fail = () => assert.fail("planned")
      two.forwarder.serve("fail", fail)
      two.forwarder.serve("twice", (_, done) => {
        done(answer("first"))
        done(answer("second"))
        fail()
      })
      // the length of the waiting calls is bounded: calls that kept theirs would overload the node
      const long = { head: "", body: "x".repeat(1024 * 1024) }
      for (const { forwarder } of [one, two]) {
        const ends: Array<string> = []
        for (let count = 0; count < 40; count++) {
          const [channel, body] = count % 2 === 0 ? ["fail", ""] : ["twice", "first"]
          const exit = yield* Effect.exit(forwarder.send(key, channel ?? "", long, once))
          ends.push(failure(exit))
          if (Exit.isSuccess(exit)) assert.strictEqual(exit.value.body, body)
        }
        assert.deepStrictEqual(ends, Array.from({ length: 40 }, (_, count) => count % 2 === 0 ? "lost" : ""))
      }
      let calls = 0
      two.forwarder.post(key, "twice", call, once, () => void calls++)
      assert.strictEqual(calls, 1)
    }).pipe(Effect.scoped))

  it.live("can be sent to one named node, or to all nodes, and then return the answers that arrive in time", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      for (const { forwarder, self } of [one, two]) forwarder.serve("who", (_, done) => done(answer(self)))
      assert.strictEqual((yield* one.forwarder.sendTo("two", "who", call, once))?.body, two.self)
      assert.strictEqual((yield* one.forwarder.sendTo("one", "who", call, once))?.body, one.self)
      assert.isUndefined(yield* one.forwarder.sendTo("three", "who", call, once))
      const all = yield* two.forwarder.sendToAll("who", call, once)
      assert.deepStrictEqual(all.map(({ node }) => node).toSorted(), ["one", "two"])
      two.forwarder.serve("dead end", () => {})
      one.forwarder.serve("dead end", (_, done) => done(answer("")))
      const some = yield* one.forwarder.sendToAll("dead end", call, { isRepeatable: true, timeoutMs: 200 })
      assert.deepStrictEqual(some.map(({ node }) => node), ["one"])
    }).pipe(Effect.scoped))

  it.live("are not sent to a node with a different master key", () =>
    Effect.gen(function*() {
      const { one, world } = yield* pair
      const stranger = yield* startNode(world, "stranger", { masterKey: masterKeyOf(1) })
      let opened = 0
      stranger.forwarder.serve("echo", (_, done) => {
        opened++
        done(answer(""))
      })
      change(world, stranger.self)
      const exit = yield* Effect.exit(one.forwarder.send(key, "echo", call, { isRepeatable: true, timeoutMs: 1000 }))
      assert.strictEqual(failure(exit), "unsent")
      assert.strictEqual(opened, 0)
    }).pipe(Effect.scoped))

  it.live("do not keep a node from closing while a peer accepts its connection and sends nothing", () =>
    Effect.gen(function*() {
      const silent = new Set<Socket>()
      const server = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const server = createServer((socket) => silent.add(socket))
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) =>
          Effect.sync(() => {
            for (const socket of silent) socket.destroy()
            server.close()
          })
      )
      const address = server.address()
      const world = makeWorld()
      world.live.add(`127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`)
      const node = yield* startNode(world, "one")
      yield* eventually(() => silent.size > 0)
      yield* node.close
      assert.isAbove(silent.size, 0)
    }).pipe(Effect.scoped))

  it.live("reach a node that lost and regained the key, whether it announces its new ownership epoch before or after a refused call", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      two.forwarder.serve("echo", ({ body }, done) => done(answer(body)))
      for (const epoch of [1, 2, 7]) {
        world.epoch = epoch
        // the second epoch is marked after a refused call, the third before
        if (epoch === 7) change(world, two.self)
        assert.strictEqual((yield* one.forwarder.send(key, "echo", call, once)).body, "?")
      }
    }).pipe(Effect.scoped))
})
