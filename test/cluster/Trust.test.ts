import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import type { SettingsShape } from "../../src/platform/Settings.ts"
import { makeAuthority } from "../../scripts/registers/Certificates.ts"
import { again, answer, call, change, failure, key, makeWorld, masterKeyOf, startNode } from "../kit/ForwardingNodes.ts"

// Goal: exactly the operator's own nodes can connect to each other. Method: nodes with real connections, each with keys and
// certificates of its own; both directions are tried.

type Keys = Partial<SettingsShape>

/** Whether nodes with these settings can connect, from first to second and from second to first; each try takes `timeoutMs` at most. */
const reach = (first: Keys, second: Keys, timeoutMs = 20_000) =>
  Effect.gen(function*() {
    const world = makeWorld()
    const [one, two] = [yield* startNode(world, "first", first), yield* startNode(world, "second", second)]
    let opened = 0
    for (const { forwarder } of [one, two]) {
      forwarder.serve("ping", (_, done) => {
        opened++
        done(answer(""))
      })
    }
    const ends: Array<string> = []
    for (const [from, to] of [[one, two], [two, one]] as const) {
      change(world, to.self)
      const exit = yield* Effect.exit(from.forwarder.send(key, "ping", call, { ...again, timeoutMs }))
      ends.push(failure(exit))
    }
    return { ends, opened }
  }).pipe(Effect.scoped)

const isReached = { ends: ["", ""], opened: 2 }
const isKeptOut = { ends: ["unsent", "unsent"], opened: 0 }

/** Files named by `CLUSTER_TLS`, of a node at `host` under an authority; `trusts`: an authority other than its own. */
const filesOf = Effect.fnUntraced(
  function*(authority: ReturnType<typeof makeAuthority>, host: string, trusts = authority) {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const { certificate, key } = authority.issue(host)
    const texts = { "node.pem": certificate, "node.key": key, "authority.pem": trusts.certificate }
    const clusterTls = yield* Effect.forEach(
      Object.entries(texts),
      ([name, text]) => Effect.as(fs.writeFileString(`${folder}/${name}`, text), `${folder}/${name}`)
    )
    const keys: Keys = { clusterTls }
    return keys
  }
)

describe("connections between nodes", () => {
  it.live("work between nodes with certificates of the same authority", () =>
    Effect.gen(function*() {
      const authority = makeAuthority("ours")
      const [one, two] = [yield* filesOf(authority, "127.0.0.1"), yield* filesOf(authority, "127.0.0.1")]
      assert.deepStrictEqual(yield* reach(one, two), isReached)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("are refused to a node with the master key and a certificate of another authority", () =>
    Effect.gen(function*() {
      const [ours, theirs] = [makeAuthority("ours"), makeAuthority("theirs")]
      const stranger = yield* filesOf(theirs, "127.0.0.1", ours)
      assert.deepStrictEqual(yield* reach(yield* filesOf(ours, "127.0.0.1"), stranger, 1000), isKeptOut)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("are refused to a node with a valid certificate and another master key", () =>
    Effect.gen(function*() {
      const authority = makeAuthority("ours")
      const one = yield* filesOf(authority, "127.0.0.1")
      const stranger = { ...(yield* filesOf(authority, "127.0.0.1")), masterKey: masterKeyOf(1) }
      assert.deepStrictEqual(yield* reach(one, stranger, 1000), isKeptOut)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.live("are not used when the peer's certificate is for another address", () =>
    Effect.gen(function*() {
      const authority = makeAuthority("ours")
      const [one, moved] = [yield* filesOf(authority, "127.0.0.1"), yield* filesOf(authority, "127.0.0.2")]
      assert.deepStrictEqual(yield* reach(one, moved, 3000), { ends: ["unsent", ""], opened: 1 })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  // Goal: a master key is rotated by restarting nodes one by one. Method: every pair of nodes that run side by side then, and the one
  // that must not connect.
  it.live(
    "work while the master key is replaced, with certificates and without",
    () =>
      Effect.gen(function*() {
        const files = yield* filesOf(makeAuthority("ours"), "127.0.0.1")
        const before = { masterKey: masterKeyOf(1) }
        const meanwhile = { masterKey: masterKeyOf(2), masterKeyPrevious: masterKeyOf(1) }
        const after = { masterKey: masterKeyOf(2) }
        for (const given of [{}, files]) {
          for (const [one, other] of [[before, meanwhile], [meanwhile, meanwhile], [meanwhile, after]]) {
            assert.deepStrictEqual(yield* reach({ ...given, ...one }, { ...given, ...other }), isReached)
          }
          assert.deepStrictEqual(yield* reach({ ...given, ...before }, { ...given, ...after }, 1000), isKeptOut)
        }
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    30_000
  )
})
