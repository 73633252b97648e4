/** Cache invalidation between nodes: a notice tells all nodes that data has changed, before the caller who changed it is answered. */
import { Context, Effect, Layer } from "effect"
import { Forwarder } from "./Forwarder.ts"

const channel = "notice"

/** A node that does not answer detects the change by itself within two seconds. */
const timeoutMs = 500

export class Notices extends Context.Service<Notices, {
  /** Registers a notice at the start of every node and returns the function that sends it to all of them; `handler` never fails. */
  readonly define: (
    name: string,
    handler: (subject: string) => Effect.Effect<void>
  ) => (subject: string) => Effect.Effect<void>
}>()("pitboss/cluster/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      // Kept: handlers. What another node may have this one forget. Several nodes: its own: the same names everywhere.
      const handlers = new Map<string, (subject: string) => Effect.Effect<void>>()
      forwarder.serve(channel, ({ body, head }, done) => {
        const handler = handlers.get(head)
        const answer = () => done({ status: 204, head: "", body: "" })
        if (handler === undefined) return answer()
        fork(handler(body)).addObserver(answer)
      })
      return Notices.of({
        define: (name, handler) => {
          handlers.set(name, handler)
          return forwarder.node === undefined ? handler : (subject) =>
            Effect.andThen(
              handler(subject),
              Effect.asVoid(
                forwarder.sendToAll(channel, { head: name, body: subject }, { isRepeatable: true, timeoutMs })
              )
            )
        }
      })
    })
  )
}
