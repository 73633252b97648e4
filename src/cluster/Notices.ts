/** What one node tells all: that something it has changed is to be forgotten, before the caller who changed it hears that it is done. */
import { Context, Effect, Layer } from "effect"
import { Forwarder } from "./Forwarder.ts"

const door = "notice"

/** A node that does not answer finds the change by itself within two seconds. */
const timeoutMs = 500

export class Notices extends Context.Service<Notices, {
  /** Names a notice, at the start of every node, and gives what tells it to all of them; `hear` never fails. */
  readonly define: (
    name: string,
    hear: (subject: string) => Effect.Effect<void>
  ) => (subject: string) => Effect.Effect<void>
}>()("pitboss/cluster/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const heard = new Map<string, (subject: string) => Effect.Effect<void>>()
      forwarder.serve(door, ({ body, head }, done) => {
        const hear = heard.get(head)
        const answer = () => done({ status: 204, head: "", body: "" })
        if (hear === undefined) return answer()
        fork(hear(body)).addObserver(answer)
      })
      return Notices.of({
        define: (name, hear) => {
          heard.set(name, hear)
          return forwarder.node === undefined ? hear : (subject) =>
            Effect.andThen(
              hear(subject),
              Effect.asVoid(forwarder.sendToAll(door, { head: name, body: subject }, { isRepeatable: true, timeoutMs }))
            )
        }
      })
    })
  )
}
