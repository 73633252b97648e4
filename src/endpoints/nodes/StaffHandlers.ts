/** Staff API handlers for cluster nodes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type Node, Nodes } from "../../cluster/Nodes.ts"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { refuse } from "../../domain/Refusal.ts"
import { iso } from "../../platform/Time.ts"
import { AuditLog } from "../../office/AuditLog.ts"

const notFound = refuse("NOT_FOUND", "There is no such node.")

const fieldsOf = (node: Node) => ({
  id: node.id,
  address: node.address,
  pid: node.pid,
  version: node.version,
  shards: node.shards,
  since: iso(node.since),
  lease_ms_left: node.leaseMsLeft,
  draining: node.isDraining
})

export const NodeHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "node",
  Effect.fnUntraced(function*(handlers) {
    const nodes = yield* Nodes
    const audit = yield* AuditLog
    const find = (id: string) =>
      Effect.flatMap(nodes.list, (all) => {
        const node = all.find((node) => node.id === id)
        return node === undefined ? Effect.fail(notFound) : Effect.succeed(fieldsOf(node))
      })
    return handlers
      .handle("list", () => Effect.map(nodes.list, (all) => ({ data: all.map(fieldsOf) })))
      .handle("drain", ({ params: { node: id } }) =>
        Effect.gen(function*() {
          const actor = yield* CurrentStaff
          const before = yield* find(id)
          // audited first: draining the last node stops this one
          yield* audit.change(actor, ({ record }) =>
            record({ action: "node.drain", subject: `node:${id}`, before, after: { ...before, draining: true } }))
          if (!(yield* nodes.drain(id))) {
            return yield* Effect.fail(notFound)
          }
          return { data: yield* find(id) }
        }))
  })
)
