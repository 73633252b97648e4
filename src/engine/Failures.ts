/** Failures of the engine and of stores. All are safe to retry with the same request. */
import { Effect, Schema } from "effect"

/** The store was unreachable or refused service; nothing was written. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  reason: Schema.String
}) {}

/**
 * Nothing was written: a unit's version was outdated (`fenced`), an id it claimed to be new exists (`clash`), or another session holds its row
 * (`busy`).
 */
export class Rejected extends Schema.TaggedError<Rejected>()("Rejected", {
  because: Schema.Literals(["fenced", "clash", "busy"]),
  /** Error text of the store, for the log. */
  reason: Schema.String.pipe(Schema.withConstructorDefault(Effect.succeed("")))
}) {}

/** Connection lost between the commit and its answer. The units may or may not be written. */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  reason: Schema.String
}) {}

export type CommitFailure = StoreUnavailable | Rejected | OutcomeUnknown

/** Too many commands wait for this actor, or in total. */
export class MailboxFull extends Schema.TaggedError<MailboxFull>()("MailboxFull", {}) {}

/** No state under this key. */
export class NoSuchActor extends Schema.TaggedError<NoSuchActor>()("NoSuchActor", {}) {}

/** The key belongs to another process. */
export class NotOwned extends Schema.TaggedError<NotOwned>()("NotOwned", {}) {}

/** Failures of a command other than refusals of its step. */
export type EngineFailure = StoreUnavailable | OutcomeUnknown | MailboxFull | NoSuchActor | NotOwned
