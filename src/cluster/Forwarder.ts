/**
 * Calls to the node that owns a key (`docs/decisions/0044-several-nodes.md`). A call goes to a door: a named endpoint that every node
 * serves alike. Doors take and return text; the code that opens a door defines its format.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"

/** A call to a door. */
export interface Call {
  /** Metadata of the call, in the door's own format. */
  readonly head: string
  readonly body: string
}

export interface Answer {
  /** Defined by the door; by convention an HTTP status. */
  readonly status: number
  readonly head: string
  readonly body: string
}

/** An answer and the node that gave it. */
export interface Answered extends Answer {
  readonly node: string
}

/** The node does not own the key, and the call had no effect: its owner is looked up again. */
export const notMine = "not_mine"

/** Serves a door: calls `done` once, possibly synchronously, with the answer, or with `notMine` when the call had no effect. */
export type Open = (call: Call, done: (answer: Answer | typeof notMine) => void) => void

/**
 * No node answered. `unsent`: no node took it within the time of a takeover. `lost`: the connection broke or the deadline
 * passed, and the call may have had its effect. `overloaded`: the queue of that node is full.
 */
export class NotAnswered extends Schema.TaggedError<NotAnswered>()("NotAnswered", {
  because: Schema.Literals(["unsent", "lost", "overloaded"])
}) {}

export interface SendOptions {
  /** May be sent again although it may have had its effect: it has an idempotent id or changes nothing. */
  readonly isRepeatable: boolean
  /** Timeout of the answer, ms. */
  readonly timeoutMs?: number
}

export class Forwarder extends Context.Service<Forwarder, {
  /** Id of this node; undefined without a cluster, where nothing is forwarded. */
  readonly node: string | undefined
  /** Whether this node certainly owns a key. */
  readonly isHere: (key: number) => boolean
  /** Opens a door of this node to the others. Each name once. */
  readonly serve: (door: string, open: Open) => void
  /**
   * Calls the owner of `key`, also when that is this node, and again when the key moves meanwhile. `done` is called once, possibly synchronously.
   * Calls posted in one turn of the event loop share a message.
   */
  readonly post: (
    key: number,
    door: string,
    call: Call,
    options: SendOptions,
    done: (exit: Exit.Exit<Answered, NotAnswered>) => void
  ) => void
  /** As `post`. */
  readonly send: (
    key: number,
    door: string,
    call: Call,
    options: SendOptions
  ) => Effect.Effect<Answered, NotAnswered>
  /** Calls one node by its id. Undefined for an unknown node. */
  readonly sendTo: (
    node: string,
    door: string,
    call: Call,
    options: SendOptions
  ) => Effect.Effect<Answered | undefined, NotAnswered>
  /** Calls every live node, including this one; returns the answers received within the timeout. */
  readonly sendToAll: (door: string, call: Call, options: SendOptions) => Effect.Effect<ReadonlyArray<Answered>>
}>()("pitboss/cluster/Forwarder") {
  /** One process: it owns every key, and its doors serve only itself. */
  static readonly layerNone = Layer.sync(Forwarder, () => {
    const doors = new Map<string, Open>()
    const unsent = new NotAnswered({ because: "unsent" })
    const ask = (door: string, call: Call): Effect.Effect<Answered, NotAnswered> =>
      Effect.callback((resume) => {
        const open = doors.get(door)
        if (open === undefined) return resume(Effect.fail(unsent))
        open(
          call,
          (answer) => resume(answer === notMine ? Effect.fail(unsent) : Effect.succeed({ ...answer, node: "" }))
        )
      })
    return Forwarder.of({
      node: undefined,
      isHere: () => true,
      serve: (door, open) => void doors.set(door, open),
      post: (_, door, call, __, done) => {
        const open = doors.get(door)
        if (open === undefined) return done(Exit.fail(unsent))
        open(call, (answer) => done(answer === notMine ? Exit.fail(unsent) : Exit.succeed({ ...answer, node: "" })))
      },
      send: (_, door, call) => ask(door, call),
      sendTo: () => Effect.undefined,
      sendToAll: (door, call) =>
        Effect.matchEffect(ask(door, call), {
          onFailure: () => Effect.succeed([]),
          onSuccess: (answer) => Effect.succeed([answer])
        })
    })
  })
}
