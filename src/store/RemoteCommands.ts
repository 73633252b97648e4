/** Service-internal commands to players, run by the node that owns the player. */
import { Cause, Context, Effect, Exit, Layer, Schema } from "effect"
import { type Call, Forwarder, type Handler, notOwned } from "../cluster/Forwarder.ts"
import { type Refusal, type RefusalCode, refuse, statusByCode, temporarilyUnavailable } from "../domain/Refusal.ts"
import { elsewhereOf } from "./PlayerActors.ts"

const channel = "remote_command"

/** Sent in numbers by background jobs, which may wait. */
const timeoutMs = 10_000

const isCode = (code: string): code is RefusalCode => Object.hasOwn(statusByCode, code)

/** Refusal as sent between nodes. */
const SentRefusal = Schema.fromJsonString(Schema.Struct({
  code: Schema.String,
  message: Schema.String,
  details: Schema.Record(Schema.String, Schema.Unknown)
}))
const readRefusal = Schema.decodeUnknownEffect(SentRefusal)

/** A refusal as text, for {@link refusedAs}. */
export const refusalText = ({ code, details, message }: Refusal): string => JSON.stringify({ code, message, details })

/** Fails with the refusal that a text holds, or a transient one where it holds none. */
export const refusedAs = Effect.fnUntraced(function*(text: string) {
  const { code, details, message } = yield* Effect.mapError(readRefusal(text), () => temporarilyUnavailable)
  return yield* Effect.fail<Refusal>(isCode(code) ? refuse(code, message, details) : temporarilyUnavailable)
})

export interface RemoteCommand<Payload> {
  /** Stable across versions that may run side by side. */
  readonly name: string
  readonly payload: Schema.Codec<Payload, unknown>
  /** Runs the command for a player of this node; must be idempotent, and its answer the same when it is repeated. */
  readonly run: (playerId: number, payload: Payload) => Effect.Effect<void, Refusal>
}

export class RemoteCommands extends Context.Service<RemoteCommands, {
  /** Registers a command at the start of every node; returns the function that runs it on the player's node. */
  readonly define: <Payload>(
    command: RemoteCommand<Payload>
  ) => (playerId: number, payload: Payload) => Effect.Effect<void, Refusal>
  /** As `define`, for a command that finds the player by its payload. */
  readonly defineFinding: <Payload>(
    command: Pick<RemoteCommand<Payload>, "name" | "payload"> & {
      readonly run: (payload: Payload) => Effect.Effect<void, Refusal>
    }
  ) => (payload: Payload) => Effect.Effect<void, Refusal>
}>()("pitboss/store/RemoteCommands") {
  static readonly layer = Layer.effect(
    RemoteCommands,
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      // Kept: commands. The commands that other nodes may send here. Several nodes: the same everywhere.
      const commands = new Map<string, (playerId: number, body: string) => Effect.Effect<void, Refusal>>()

      const handle: Handler = ({ body, head }, done) => {
        const [name = "", player = ""] = head.split(" ")
        const run = commands.get(name)
        // unknown to this version: the sender retries until it reaches a node that knows it
        if (run === undefined) return done({ status: 404, head: "", body: "" })
        fork(run(Number(player), body)).addObserver((exit) => {
          if (Exit.isSuccess(exit)) return done({ status: 200, head: "", body: "" })
          const failure = Exit.findErrorOption(exit)
          if (failure._tag === "Some") {
            if (elsewhereOf(failure.value) !== undefined) return done(notOwned)
            return done({ status: statusByCode[failure.value.code], head: "", body: refusalText(failure.value) })
          }
          fork(
            Effect.annotateLogs(
              Effect.logError("forwarded player command failed", Cause.fromReasons(exit.cause.reasons)),
              {
                name
              }
            )
          )
          done({ status: 500, head: "", body: "" })
        })
      }
      forwarder.serve(channel, handle)

      const send = Effect.fnUntraced(function*(playerId: number, call: Call) {
        const { body, status } = yield* Effect.mapError(
          forwarder.send(playerId, channel, call, { isRepeatable: true, timeoutMs }),
          () => temporarilyUnavailable
        )
        if (status !== 200) return yield* refusedAs(body)
      })

      /** Registers a command; returns what sends it on when an attempt on this node finds that another one owns the player. */
      const register = <Payload>({ name, payload, run }: RemoteCommand<Payload>) => {
        const encode = Schema.encodeSync(Schema.fromJsonString(payload))
        const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(payload))
        commands.set(
          name,
          (playerId, body) => Effect.flatMap(Effect.orDie(decode(body)), (decoded) => run(playerId, decoded))
        )
        return (attempt: Effect.Effect<void, Refusal>, given: Payload) =>
          attempt.pipe(Effect.catch((refusal) => {
            const playerId = elsewhereOf(refusal)
            return playerId === undefined
              ? Effect.fail(refusal)
              : send(playerId, { head: `${name} ${playerId}`, body: encode(given) })
          }))
      }

      return RemoteCommands.of({
        define: (command) => {
          const sendingOn = register(command)
          return (playerId, given) => sendingOn(command.run(playerId, given), given)
        },
        defineFinding: (command) => {
          const sendingOn = register({ ...command, run: (_, given) => command.run(given) })
          return (given) => sendingOn(command.run(given), given)
        }
      })
    })
  )
}
