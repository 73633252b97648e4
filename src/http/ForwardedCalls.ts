/** Calls of game providers between nodes: their form, and the forms of the version before, which are served as well until release 1.0. */
import { type Clock, type Effect, Exit, type Fiber, Schema } from "effect"
import { type Answer, type Forwarder, notOwned } from "../cluster/Forwarder.ts"
import type { VendorAnswer } from "../protocols/Protocol.ts"
import { type Admitted, type EntryPoint, openCall, type OpenedCall } from "./EntryPoint.ts"

/** Channel of calls forwarded by other nodes about players of this node. */
export const channel = "provider"

/** A call forwarded to the player's node, which reads it again. */
const SentCall = Schema.fromJsonString(Schema.Struct({
  method: Schema.String,
  target: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  address: Schema.optionalKey(Schema.String),
  now: Schema.Number,
  id: Schema.String
}))
export const encodeCall = Schema.encodeSync(SentCall)
export const decodeCall = Schema.decodeUnknownSync(SentCall)

/** Serves the channels of the version before. `serve` performs a call that was read. */
export const serveFormerCalls = <Provider>(
  entryPoints: ReadonlyArray<EntryPoint<Provider>>,
  forwarder: Pick<Forwarder["Service"], "serve">,
  clock: Clock.Clock,
  fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>,
  serve: (
    opened: OpenedCall<Provider>,
    id: string,
    admission: Admitted<Provider>,
    body: Buffer,
    done: (answer: Answer | typeof notOwned) => void,
    headOf: (answer: VendorAnswer) => string
  ) => void
): void => {
  const served = entryPoints.flatMap((entry) => entry.formerForm.served.map((form) => ({ ...form, entry })))
  for (const { channel, entry, headOf, read } of served) {
    forwarder.serve(channel, (sent, done) => {
      const former = read(sent, clock.currentTimeMillisUnsafe())
      if (former === undefined) return done(notOwned)
      const { admit, body, head, id } = former
      fork(admit).addObserver((exit) => {
        if (Exit.isFailure(exit) || exit.value === undefined) return done(notOwned)
        const received = exit.value.receive(body)
        if (received._tag !== "Answered") {
          return serve(openCall(entry, head), id, { ...exit.value, receive: () => received }, body, done, headOf)
        }
        // that version forwards a call of Pitboss's own protocol before its body is read
        const { answer } = received
        done({ status: answer.status, head: headOf(answer), body: answer.body })
      })
    })
  }
}
