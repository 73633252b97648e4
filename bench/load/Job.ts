import { Schema } from "effect"

/** What one generator process is told to do: send signed bets to one target for a fixed time. */
export const Job = Schema.Struct({
  host: Schema.String,
  port: Schema.Int,
  providerKey: Schema.String,
  secret: Schema.String,
  gameId: Schema.String,
  currency: Schema.String,
  /** Stake of every bet, minor units. */
  stake: Schema.Int,
  /** One open wallet session per player of the mix; each bet picks one of them at random. */
  sessionTokens: Schema.Array(Schema.String),
  /** Prefix of every transaction and round id, so that no two jobs against one target share an id. */
  idPrefix: Schema.String,
  connections: Schema.Int,
  /** Bets per second of an open loop; null is the closed loop, each connection sending as soon as it is answered. */
  ratePerSecond: Schema.NullOr(Schema.Finite),
  warmUpSeconds: Schema.Finite,
  measuredSeconds: Schema.Finite,
  /** A request without an answer after this long counts as timed out. */
  timeoutMs: Schema.Int,
  /** Seed of the choice of players. */
  seed: Schema.Int
})
export type Job = typeof Job.Type

/** What one generator process saw. Counts and latency are of the measured seconds, money is of the whole job. */
export const JobResult = Schema.Struct({
  /** Bets answered 200 with status `processed`. */
  processed: Schema.Int,
  /** Everything else, by error code or by what went wrong on the wire; of the whole job, warm-up included. */
  errors: Schema.Record(Schema.String, Schema.Int),
  /** Compressed HDR histogram, µs from the intended send time to the answer. */
  latency: Schema.String,
  /** Compressed HDR histogram, µs from the intended to the real send time: the generator's own part of the latency. */
  sendDelay: Schema.String,
  /** Per player: minor units staked in bets that were acknowledged. */
  acknowledged: Schema.Array(Schema.Int),
  /** Per player: minor units staked in bets whose outcome the generator does not know (no answer, or a 5xx). */
  unknown: Schema.Array(Schema.Int)
})
export type JobResult = typeof JobResult.Type

/** What a generator process tells its parent. `measuring` and `measured` mark the ends of the measured seconds. */
export const GeneratorMessage = Schema.Union([
  Schema.Struct({ type: Schema.Literal("measuring") }),
  Schema.Struct({ type: Schema.Literal("measured") }),
  Schema.Struct({ type: Schema.Literal("progress"), processed: Schema.Int, errors: Schema.Int }),
  Schema.Struct({ type: Schema.Literal("result"), result: JobResult }),
  Schema.Struct({ type: Schema.Literal("failed"), message: Schema.String })
])
export type GeneratorMessage = typeof GeneratorMessage.Type
