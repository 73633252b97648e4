/**
 * Calls to the node that owns a key: the id of a player, or of an API key whose requests that node counts (`docs/decisions/0044-several-nodes.md`). A
 * call goes to a channel: a named endpoint that every node serves alike. Channels take and return text; the handler of a channel defines its format.
 */
import { Context, Effect, Exit, Layer, Schema } from "effect"

/** A call to a channel. */
export interface Call {
  /** Metadata of the call, in the channel's own format. */
  readonly head: string
  readonly body: string
}

export interface Answer {
  /** Defined by the channel; by convention an HTTP status. */
  readonly status: number
  readonly head: string
  readonly body: string
}

/** An answer and the node that gave it. */
export interface Answered extends Answer {
  readonly node: string
}

/** The node does not own the key, and the call had no effect: its owner is looked up again. */
export const notOwned = "not_mine"

/**
 * Serves a channel: calls `done` once, possibly synchronously, with the answer, or with `notOwned` when the call had no effect. Further answers are
 * ignored; a handler that throws before its answer loses the call.
 */
export type Handler = (call: Call, done: (answer: Answer | typeof notOwned) => void) => void

/**
 * No node answered. `unsent`: no node took it within the time of a takeover. `lost`: the connection broke, the deadline passed or the owner could not
 * answer, and the call may have had its effect. `overloaded`: the queue of that node is full. `unserved`: the owner, of another version, does not serve
 * the channel, and the call had no effect.
 */
export class NotAnswered extends Schema.TaggedError<NotAnswered>()("NotAnswered", {
  because: Schema.Literals(["unsent", "lost", "overloaded", "unserved"])
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
  /** Name of the node that owns a key, as far as known here; undefined before the first assignment. */
  readonly ownerOf: (key: number) => string | undefined
  /** Serves a channel of this node to the others. Of several handlers of a channel, the next serves what the one before does not own. */
  readonly serve: (channel: string, handle: Handler) => void
  /**
   * Calls the owner of `key`, also when that is this node, and again when the key moves meanwhile. `done` is called once, possibly synchronously.
   * Calls posted in one turn of the event loop share a message. A key that is no safe integer has no owner: `unsent`.
   */
  readonly post: (
    key: number,
    channel: string,
    call: Call,
    options: SendOptions,
    done: (exit: Exit.Exit<Answered, NotAnswered>) => void
  ) => void
  /** As `post`. */
  readonly send: (
    key: number,
    channel: string,
    call: Call,
    options: SendOptions
  ) => Effect.Effect<Answered, NotAnswered>
  /** Calls one node by its id. Undefined for an unknown node. */
  readonly sendTo: (
    node: string,
    channel: string,
    call: Call,
    options: SendOptions
  ) => Effect.Effect<Answered | undefined, NotAnswered>
  /** Calls every live node, including this one; returns the answers received within the timeout. */
  readonly sendToAll: (channel: string, call: Call, options: SendOptions) => Effect.Effect<ReadonlyArray<Answered>>
}>()("pitboss/cluster/Forwarder") {
  /** One process: it owns every key, and its channels serve only itself. */
  static readonly layerNone = Layer.sync(Forwarder, () => {
    // Kept: channels. What other nodes may ask this one. Several nodes: its own: the same channels everywhere.
    const channels = new Map<string, Handler>()
    const unsent = new NotAnswered({ because: "unsent" })
    const ask = (channel: string, call: Call): Effect.Effect<Answered, NotAnswered> =>
      Effect.callback((resume) => {
        const handle = channels.get(channel)
        if (handle === undefined) return resume(Effect.fail(unsent))
        handle(
          call,
          (answer) => resume(answer === notOwned ? Effect.fail(unsent) : Effect.succeed({ ...answer, node: "" }))
        )
      })
    return Forwarder.of({
      node: undefined,
      isHere: () => true,
      ownerOf: () => "",
      serve: (channel, handle) => void channels.set(channel, handle),
      post: (_, channel, call, __, done) => {
        const handle = channels.get(channel)
        if (handle === undefined) return done(Exit.fail(unsent))
        handle(call, (answer) => done(answer === notOwned ? Exit.fail(unsent) : Exit.succeed({ ...answer, node: "" })))
      },
      send: (_, channel, call) => ask(channel, call),
      sendTo: () => Effect.undefined,
      sendToAll: (channel, call) =>
        Effect.matchEffect(ask(channel, call), {
          onFailure: () => Effect.succeed([]),
          onSuccess: (answer) => Effect.succeed([answer])
        })
    })
  })
}
