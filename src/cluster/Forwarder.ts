/**
 * Calls to the node that owns a key (`docs/decisions/0044-several-nodes.md`). What is called is a door: a name under which every node serves
 * the same thing. Every door takes and gives text; who opens one gives it its form.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"

/** What is asked at a door. */
export interface Call {
  /** What the door needs to know of it, in the door's own form. */
  readonly head: string
  readonly body: string
}

export interface Answer {
  /** The door's own; by convention an HTTP status. */
  readonly status: number
  readonly head: string
  readonly body: string
}

/** An answer with the node that gave it. */
export interface Answered extends Answer {
  readonly node: string
}

/** The key is not owned by the node that was asked, and nothing was done: it is asked for its owner again. */
export const notMine = "not_mine"

/** Opens a door: calls `done` once, perhaps at once, with the answer, or with `notMine` when nothing was done. */
export type Open = (call: Call, done: (answer: Answer | typeof notMine) => void) => void

/**
 * No node answered. `unsent`: nobody took it, within the time that a takeover needs. `lost`: the connection broke, or the owner's time was
 * up, and it may have been done. `overloaded`: as many calls wait for that node as may.
 */
export class NotAnswered extends Schema.TaggedError<NotAnswered>()("NotAnswered", {
  because: Schema.Literals(["unsent", "lost", "overloaded"])
}) {}

export interface SendOptions {
  /** It may be sent again although it may have been done: it has an id of its own, or changes nothing. */
  readonly isRepeatable: boolean
  /** Time for the answer, milliseconds. */
  readonly timeoutMs?: number
}

export class Forwarder extends Context.Service<Forwarder, {
  /** Id of this node; undefined without a cluster, where nothing is ever forwarded. */
  readonly node: string | undefined
  /** Whether this node owns a key, certainly. */
  readonly isHere: (key: number) => boolean
  /** Opens a door of this node to the others. Each name once. */
  readonly serve: (door: string, open: Open) => void
  /**
   * Asks the owner of `key`, also when that is this node, and again when the key moves meanwhile. `done` is called once, perhaps at once. What is
   * posted in one turn of the event loop travels together.
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
  /** Asks one node, by its id. `undefined` when there is no such node. */
  readonly sendTo: (
    node: string,
    door: string,
    call: Call,
    options: SendOptions
  ) => Effect.Effect<Answered | undefined, NotAnswered>
  /** Asks every live node, this one included; gives the answers of those that gave one, within the time. */
  readonly sendToAll: (door: string, call: Call, options: SendOptions) => Effect.Effect<ReadonlyArray<Answered>>
}>()("pitboss/cluster/Forwarder") {
  /** One process: it owns every key, and its doors are opened by nobody else. */
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
