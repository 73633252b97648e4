/** Failures of the engine and of stores. All are safe to retry with the same request. */
import { Effect, Schema } from "effect"

/** The store could not be reached, or refused to work; nothing was written. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  reason: Schema.String
}) {}

/**
 * Nothing was written: a unit's version was not the stored one (`fenced`), an id it claimed to be new exists (`clash`), or
 * another session holds its row (`busy`).
 */
export class Rejected extends Schema.TaggedError<Rejected>()("Rejected", {
  because: Schema.Literals(["fenced", "clash", "busy"]),
  /** The store's words, for the log. */
  reason: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("")))
}) {}

/** The store went away between the commit and its answer. The units may be written or not. */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  reason: Schema.String
}) {}

export type CommitFailure = StoreUnavailable | Rejected | OutcomeUnknown

/** Too many commands wait for this actor, or for all. */
export class MailboxFull extends Schema.TaggedError<MailboxFull>()("MailboxFull", {}) {}

/** There is no state under this key. */
export class NoSuchActor extends Schema.TaggedError<NoSuchActor>()("NoSuchActor", {}) {}

/** The key belongs to another process. */
export class NotHere extends Schema.TaggedError<NotHere>()("NotHere", {}) {}

/** Failures of a command, besides the refusals of its step. */
export type EngineFailure = StoreUnavailable | OutcomeUnknown | MailboxFull | NoSuchActor | NotHere
