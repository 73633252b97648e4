import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Forwarder } from "../../src/cluster/Forwarder.ts"
import type { Nodes } from "../../src/cluster/Nodes.ts"
import type { Placement } from "../../src/engine/Placement.ts"
import { layerBothServersOn } from "../kit/Backoffice.ts"
import { Calendar } from "../kit/Calendar.ts"
import { dataOf, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { heldWithdrawal, raisedAlert } from "../kit/commands/Scene.ts"
import { makeNodesInProcess } from "../kit/NodesInProcess.ts"

// Goal: what a bulk action sends to the node of a payment's player is done once and answered alike, however often it arrives. Method: three nodes
// whose calls to each other all arrive twice, one after the other as after a lost answer, or at once; the answer that counts is that of the second.

type Node = Layer.Layer<Forwarder | Nodes | Placement>

/** Calls that were delivered twice. */
let repeated = 0

const repeating = (node: Node, isAtOnce: boolean): Node =>
  Layer.effectContext(Effect.map(Layer.build(node), (context) => {
    const forwarder = Context.get(context, Forwarder)
    return Context.add(
      context,
      Forwarder,
      Forwarder.of({
        ...forwarder,
        send: (key, channel, call, options) => {
          const once = forwarder.send(key, channel, call, options)
          if (channel !== "remote_command") return once
          repeated++
          return Effect.map(
            Effect.all([once, once], { concurrency: isAtOnce ? 2 : 1 }),
            ([first, second]) => {
              assert.deepStrictEqual(second, first, call.head)
              return second
            }
          )
        }
      })
    )
  }))

const many = (action: string, payments: ReadonlyArray<number>, token: string, key?: string) =>
  staffCall("POST", `/backoffice/v1/payments/${action}`, { payments }, {
    authorization: `Bearer ${token}`,
    ...(key === undefined ? {} : { "idempotency-key": key })
  })

for (const isAtOnce of [false, true]) {
  const nodes = makeNodesInProcess(3, true).map((node) => repeating(node, isAtOnce))
  layer(Layer.provideMerge(layerBothServersOn(nodes), Calendar.layer), { excludeTestServices: true })(
    `a command of a bulk action that arrives twice ${isAtOnce ? "at once" : "one after the other"}`,
    (it) => {
      it.effect("is executed once, and both deliveries get the same answer", () =>
        Effect.gen(function*() {
          const casino = yield* openCasino({ withdrawal_second_approval_above: 500 })
          const { token } = yield* made("/staff", { name: "One", role: "payments" })
          const held = yield* Effect.forEach(Array.from({ length: 6 }, (_, index) => index), (index) =>
            heldWithdrawal(casino, index % 3 === 0 ? 600 : 100))
          const ids = held.map(({ payment }) =>
            payment
          )
          repeated = 0
          const approved = dataOf(yield* many("approve", ids, token))
          assert.isAbove(repeated, 0)
          assert.deepStrictEqual([approved.done, approved.refused], [ids.length, 0])
          // the first of two approvals came twice: it is still one
          const statuses = yield* Effect.forEach(ids, (id) => staff("GET", `/payments/${id}`))
          assert.deepStrictEqual(
            statuses.map(({ second_approved_by: second, status }) => [status, second]),
            ids.map((_, index) => [index % 3 === 0 ? "new" : "allowed", null])
          )
          // refused alike, too
          const refused = dataOf(yield* many("pay", ids.filter((_, index) => index % 3 === 0), token))
          assert.deepStrictEqual(
            refused.items.map(({ code }: { readonly code: string }) => code),
            Array.from({ length: 2 }, () => "PAYMENT_REQUEST_INVALID")
          )
          const lines = yield* Effect.forEach(held, ({ player }) =>
            staff("GET", `/audit?player=${player}&action=payment.approve`))
          assert.deepStrictEqual(
            lines.map(({ length }) =>
              length
            ),
            ids.map(() => 1)
          )
          // at two nodes at once, under one key: either both do it, or one does not know yet
          const key = fresh("bulk-")
          const open = ids.filter((_, index) => index % 3 !== 0)
          const [one, other] = yield* Effect.all([many("pay", open, token, key), many("pay", open, token, key)], {
            concurrency: 2
          })
          for (const answer of [one, other]) {
            if (answer.code !== "IDEMPOTENCY_IN_PROGRESS") assert.strictEqual(dataOf(answer).done, open.length)
          }
          assert.isTrue(one.status === 200 || other.status === 200)
        }))
    }
  )
}

layer(Layer.provideMerge(layerBothServersOn(makeNodesInProcess(3, true)), Calendar.layer), {
  excludeTestServices: true
})("a bulk action that is sent to several nodes at once under one idempotency key", (it) => {
  it.effect("is executed once", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { token } = yield* made("/staff", { name: "Two", role: "compliance" })
      const authorization = `Bearer ${token}`
      const { alert } = yield* raisedAlert(casino)
      const replies = yield* Effect.forEach(
        Array.from({ length: 6 }),
        () =>
          staffCall("POST", "/backoffice/v1/alerts/update", { alerts: [alert], note: "seen" }, {
            authorization,
            "idempotency-key": "seen"
          }),
        { concurrency: "unbounded" }
      )
      for (const { status, text } of replies) assert.include([200, 409], status, text)
      const { notes } = dataOf(yield* staffCall("GET", `/backoffice/v1/alerts/${alert}`, undefined, { authorization }))
      assert.lengthOf(notes, 1)
    }))
})
