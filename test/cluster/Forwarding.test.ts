import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { type Answer, type Answered, type Forwarder, type NotAnswered, notMine } from "../../src/cluster/Forwarder.ts"
import { makeForwarding } from "../../src/cluster/Forwarding.ts"
import { Ownership } from "../../src/cluster/Ownership.ts"
import { makeTrust } from "../../src/cluster/Trust.ts"
import { Placement } from "../../src/engine/Placement.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { eventually } from "../kit/ClusterNode.ts"

// Goal: a call reaches the owner of its key once, or its caller hears what became of it; a slow one delays no other, and too many are
// refused. Method: nodes with real connections, in a world whose owners the test names.

/** Who owns the one key of the test, and who is there. */
interface World {
  owner: string
  readonly live: Set<string>
  readonly listeners: Set<() => void>
}

const key = 7
const makeWorld = (): World => ({ owner: "", live: new Set(), listeners: new Set() })

const change = (world: World, owner: string): void => {
  world.owner = owner
  for (const listener of world.listeners) listener()
}

interface TestNode {
  readonly self: string
  readonly forwarder: Forwarder["Service"]
  readonly close: Effect.Effect<void>
}

/** A node that believes of the key what the world says. */
const startNode = Effect.fnUntraced(function*(world: World, id: string, masterKey = new Uint8Array(32)) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.gen(function*() {
    const trust = yield* makeTrust
    const server = yield* NodeSocketServer.makeTls({ ...trust.server, noDelay: true, host: "127.0.0.1", port: 0 })
    const self = `127.0.0.1:${server.address._tag === "UnixPathAddress" ? 0 : server.address.port}`
    const ownership = Ownership.of({
      placement: Placement.of({
        isShared: true,
        epochOf: () => world.owner === self ? 1 : 0,
        holds: () => world.owner === self,
        onRelease: () => {}
      }),
      self,
      ownerOf: () => world.owner,
      nodes: () => world.live,
      listen: (listener) => void world.listeners.add(listener),
      look: () => {},
      announce: () => {},
      isJoined: () => true,
      isLeaving: () => false,
      handOver: Effect.void,
      shardsHeld: () => 0,
      leaseMsLeft: () => null,
      counts: { moves: 0, stale: 0 }
    })
    const forwarder = yield* makeForwarding({ node: id, server, trust }).pipe(
      Effect.provideService(Ownership, ownership)
    )
    world.live.add(self)
    for (const listener of world.listeners) listener()
    const node: TestNode = { self, forwarder, close: Scope.close(scope, Exit.void) }
    return node
  }).pipe(
    Effect.provide([NodeServices.layer, Settings.layerTest({ masterKey: Redacted.make(masterKey) })]),
    Scope.provide(scope)
  )
})

const call = { head: "", body: "?" }
const answer = (body: string): Answer => ({ status: 200, head: "", body })
const once = { isRepeatable: false }
const again = { isRepeatable: true }

const failure = (exit: Exit.Exit<Answered, NotAnswered>): string =>
  Exit.isFailure(exit)
    ? Exit.findErrorOption(exit).pipe((found) => found._tag === "Some" ? found.value.because : "died")
    : ""

/** Waits until `from` can reach `to`. */
const connected = (from: TestNode, to: string) =>
  Effect.gen(function*() {
    let isThere = false
    const asking = Effect.forever(Effect.andThen(
      Effect.flatMap(from.forwarder.sendToAll("ping", call, again), (answers) =>
        Effect.sync(() => {
          isThere = answers.some(({ node }) => node === to)
        })),
      Effect.sleep("5 millis")
    ))
    yield* Effect.raceFirst(asking, eventually(() => isThere))
  })

const pair = Effect.gen(function*() {
  const world = makeWorld()
  const one = yield* startNode(world, "one")
  const two = yield* startNode(world, "two")
  for (const { forwarder } of [one, two]) forwarder.serve("ping", (_, done) => done(answer("")))
  change(world, two.self)
  yield* connected(one, "two")
  yield* connected(two, "one")
  return { world, one, two }
})

describe("calls to the owner of a key", () => {
  it.live("are answered by it, also when that is the node itself", () =>
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

  it.live("do not wait for slower ones that were sent before them", () =>
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

  it.live("look for the owner again when it is not the one that was asked", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      let asked = 0
      two.forwarder.serve("where", (_, done) => {
        asked++
        done(notMine)
        // it was about to be handed over
        change(world, one.self)
      })
      one.forwarder.serve("where", (_, done) => done(answer("here")))
      assert.strictEqual((yield* one.forwarder.send(key, "where", call, once)).node, "one")
      assert.strictEqual(asked, 1)
    }).pipe(Effect.scoped))

  it.live("end when no owner is found in time, and nothing was done", () =>
    Effect.gen(function*() {
      const { one, world } = yield* pair
      change(world, "127.0.0.1:1")
      const exit = yield* Effect.exit(one.forwarder.send(key, "echo", call, { isRepeatable: true, timeoutMs: 200 }))
      assert.strictEqual(failure(exit), "unsent")
    }).pipe(Effect.scoped))

  it.live("are not sent again because they are slow", () =>
    Effect.gen(function*() {
      const { one, two } = yield* pair
      let opened = 0
      two.forwarder.serve("never", () => void opened++)
      const exit = yield* Effect.exit(one.forwarder.send(key, "never", call, { isRepeatable: true, timeoutMs: 300 }))
      assert.strictEqual(failure(exit), "lost")
      assert.strictEqual(opened, 1)
    }).pipe(Effect.scoped))

  it.live("are sent again after a lost connection only when they may be", () =>
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

  it.live("are given to another owner when the one that has them left and is silent", () =>
    Effect.gen(function*() {
      const { one, two, world } = yield* pair
      let opened = 0
      two.forwarder.serve("work", () => void opened++)
      one.forwarder.serve("work", (_, done) => done(answer("done")))
      const exits: Array<Exit.Exit<Answered, NotAnswered>> = []
      one.forwarder.post(key, "work", call, { isRepeatable: true, timeoutMs: 20_000 }, (exit) => void exits.push(exit))
      yield* eventually(() => opened === 1)
      // it hangs, and its lease is over
      world.live.delete(two.self)
      change(world, one.self)
      yield* eventually(() => exits.length === 1)
      const [first] = exits
      assert.isTrue(first !== undefined && Exit.isSuccess(first) && first.value.node === "one")
    }).pipe(Effect.scoped))

  it.live("are refused at once when as many wait as may, and those that wait are answered", () =>
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
      // and it goes on
      assert.strictEqual((yield* one.forwarder.send(key, "gate", call, once)).node, "two")
    }).pipe(Effect.scoped))

  it.live("ask one node, or all that answer", () =>
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

  it.live("go to no node with another master key", () =>
    Effect.gen(function*() {
      const { one, world } = yield* pair
      const stranger = yield* startNode(world, "stranger", new Uint8Array(32).fill(1))
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
})
