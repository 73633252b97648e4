import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Answered, Forwarder, type Handler } from "../../../src/cluster/Forwarder.ts"
import { type NotedCall, ProviderCallLog } from "../../../src/features/integrations/ProviderCallLog.ts"

// Goal: staff see a vendor's calls whichever nodes answered them. Method: logs of several nodes whose channels are connected.

/** Nodes that can each query all. */
const makeNodes = () => {
  const nodes: Array<Map<string, Handler>> = []
  return (more?: Answered) =>
    Effect.provide(
      Effect.service(ProviderCallLog),
      Layer.fresh(ProviderCallLog.layer).pipe(Layer.provide(Layer.effect(
        Forwarder,
        Effect.gen(function*() {
          const channels = new Map<string, Handler>()
          nodes.push(channels)
          const none = yield* Effect.provide(Effect.service(Forwarder), Layer.fresh(Forwarder.layerNone))
          return Forwarder.of({
            ...none,
            serve: (channel, open) => void channels.set(channel, open),
            sendToAll: (channel, call) =>
              Effect.sync(() => {
                const answers: Array<Answered> = more === undefined ? [] : [more]
                for (const opened of nodes) {
                  opened.get(channel)?.(call, (answer) => {
                    if (answer !== "not_mine") answers.push({ ...answer, node: "" })
                  })
                }
                return answers
              })
          })
        })
      )))
    )
}

const call = (at: number, refusal: NotedCall["refusal"] = null): NotedCall => ({
  at,
  method: "bet",
  player: "pr_1",
  transaction: null,
  round: null,
  amount: "-1.00",
  status: 200,
  refusal,
  latencyMs: 1
})

describe("recent calls of a vendor", () => {
  it.effect("come from all nodes, newest first", () =>
    Effect.gen(function*() {
      const node = makeNodes()
      const [first, second] = [yield* node(), yield* node()]
      for (const at of [1, 4, 5]) first.note(7, call(at))
      for (const at of [2, 3, 6]) second.note(7, call(at, "LIMIT_EXCEEDED"))
      first.note(8, call(9))
      first.note(7, call(5, "form"))
      for (const log of [first, second]) {
        assert.deepStrictEqual((yield* log.recent(7)).map(({ at }) => at), [6, 5, 5, 4, 3, 2, 1])
        assert.deepStrictEqual(yield* log.totals(7), {
          lastCalledAt: 6,
          refusals: { LIMIT_EXCEEDED: 3, form: 1 }
        })
      }
    }))

  it.effect("leave out nodes that answer in another format, as those of another release may", () =>
    Effect.gen(function*() {
      const log = yield* makeNodes()({ status: 200, head: "", body: `{"calls":1}`, node: "newer" })
      log.note(7, call(1))
      assert.deepStrictEqual(yield* log.recent(7), [call(1)])
      assert.deepStrictEqual(yield* log.totals(7), { lastCalledAt: 1, refusals: {} })
      assert.deepStrictEqual(yield* log.totals(8), { lastCalledAt: null, refusals: {} })
    }))

  it.effect("are limited to the latest 500 of all nodes together", () =>
    Effect.gen(function*() {
      const node = makeNodes()
      const [first, second] = [yield* node(), yield* node()]
      for (let at = 0; at < 1200; at++) (at % 2 === 0 ? first : second).note(7, call(at))
      const calls = yield* second.recent(7)
      assert.strictEqual(calls.length, 500)
      assert.deepStrictEqual([calls[0]?.at, calls.at(-1)?.at], [1199, 700])
    }))
})
