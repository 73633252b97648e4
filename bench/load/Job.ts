import { Schema } from "effect"

/** Calls of operators and players besides the money calls of game providers; each is a kind of traffic too. */
export const operatorOperations = [
  "me",
  "player",
  "players",
  "wallet",
  "transactions",
  "limits",
  "payments",
  "games",
  "report",
  "player-me",
  "player-wallet",
  "player-transactions",
  "set-limits",
  "session-token",
  "launch",
  "deposit",
  "withdrawal",
  "register"
] as const
export type OperatorOperation = (typeof operatorOperations)[number]

/** Kinds of traffic: requests and their order (Traffic.ts). */
const trafficKinds = ["bet", "bet-win", "session", "play", "mixed", "vendor-bet", ...operatorOperations] as const
export type TrafficKind = (typeof trafficKinds)[number]

/** A player of a job. Fields not needed by the kind of traffic are omitted. */
export const JobPlayer = Schema.Struct({
  id: Schema.Int,
  /** Of an open wallet session: bets. */
  sessionToken: Schema.String,
  /** How providers name the player in wins and rollbacks. */
  playerRef: Schema.optionalKey(Schema.String),
  /** Bearer token of the player's own session: plays. */
  bearer: Schema.optionalKey(Schema.String)
})
export type JobPlayer = typeof JobPlayer.Type

/** A vendor of a job, with bets in its protocol. */
export const JobVendor = Schema.Struct({
  protocol: Schema.String,
  /** Of the provider, and what only the vendor has. */
  settings: Schema.Record(Schema.String, Schema.Unknown),
  /** Where the wallet is called. */
  path: Schema.String,
  /** A text that only the answer to a bet that was taken holds. */
  mark: Schema.String,
  /** How many requests are made before the clock runs. */
  ahead: Schema.Int
})
export type JobVendor = typeof JobVendor.Type

/** A stretch of an open loop at one rate. */
export const Phase = Schema.Struct({ seconds: Schema.Finite, perSecond: Schema.Finite })
export type Phase = typeof Phase.Type

/** Job of one generator process: requests to one target for a fixed time. */
export const Job = Schema.Struct({
  host: Schema.String,
  port: Schema.Int,
  /** Of several nodes, to which connections go in turn; and which of them owns each player, when its bets are to go there. */
  nodes: Schema.optionalKey(Schema.Struct({
    ports: Schema.Array(Schema.Int),
    owners: Schema.NullOr(Schema.Array(Schema.Int))
  })),
  kind: Schema.Literals(trafficKinds),
  /** Of the kind `mixed`: the operations that are sent; bets are sent in place of the others. */
  operations: Schema.Array(Schema.String),
  /** Of the provider. */
  key: Schema.String,
  secret: Schema.String,
  /** Key of operator calls; null without any. */
  operator: Schema.NullOr(Schema.Struct({ key: Schema.String, secret: Schema.String })),
  /** Vendor of the kind `vendor-bet`. */
  vendor: Schema.NullOr(JobVendor),
  /** The provider's own id of the game that bets are on; the service's of the same, and of an original. */
  gameId: Schema.String,
  slotId: Schema.String,
  originalId: Schema.String,
  currency: Schema.String,
  /** Stake of every bet and amount of every deposit, minor units. */
  stake: Schema.Int,
  /** Each request, or each session, picks one of them at random. */
  players: Schema.Array(JobPlayer),
  /** So many of them, the last ones, may not stake more than `limit` at once. */
  limited: Schema.Int,
  /** Prefix of every transaction, round and reference, so that no two jobs against one target share an id. */
  idPrefix: Schema.String,
  connections: Schema.Int,
  /**
   * Open loop: arrivals of warm-up and measured seconds together. Null for the closed loop, each connection
   * sending as soon as it is answered.
   */
  phases: Schema.NullOr(Schema.Array(Phase)),
  /** Open loop: waiting time after which an unsent request is given up, as by a caller's time-out. Null: never. */
  patienceMs: Schema.NullOr(Schema.Int),
  warmUpSeconds: Schema.Finite,
  measuredSeconds: Schema.Finite,
  /** Length of the parts of the measured time that are counted apart. */
  slotMs: Schema.Int,
  /** A request without an answer after this long counts as timed out. */
  timeoutMs: Schema.Int,
  /** How often each connection may be opened again: more where the target is killed on purpose. */
  reconnects: Schema.Int,
  /** Seed of the choice of players. */
  seed: Schema.Int
})
export type Job = typeof Job.Type

/** The measured time in parts of equal length. */
export const Timeline = Schema.Struct({
  slot_ms: Schema.Int,
  /** Requests answered as they should be, by the time of the answer. */
  processed: Schema.Array(Schema.Int),
  /** All others, by the time of the answer or of its absence. */
  failed: Schema.Array(Schema.Int),
  /** Latency of the processed, µs: its sum, and its highest. */
  latency_sum: Schema.Array(Schema.Int),
  latency_max: Schema.Array(Schema.Int)
})
export type Timeline = typeof Timeline.Type

/** Outcome of the requests due in one phase of the measured time. The closed loop has a single phase. */
const PhaseResult = Schema.Struct({
  processed: Schema.Int,
  /** Compressed HDR histogram, µs from the intended send time to the answer. */
  latency: Schema.String,
  /** The same from the actual sending: time of the target alone. */
  served: Schema.String,
  errors: Schema.Record(Schema.String, Schema.Int)
})

/** Result of one generator process. Counts and latency are of the measured seconds, money is of the whole job. */
export const JobResult = Schema.Struct({
  /** Requests answered as they should be. */
  processed: Schema.Int,
  /** Other outcomes, by error code or network error; of the whole job, warm-up included. */
  errors: Schema.Record(Schema.String, Schema.Int),
  /** Compressed HDR histogram, µs from the intended send time to the answer. */
  latency: Schema.String,
  /** The same by operation. */
  operations: Schema.Record(Schema.String, Schema.String),
  phases: Schema.Array(PhaseResult),
  /** Compressed HDR histogram, µs from the intended to the real send time: the generator's own part of the latency. */
  sendDelay: Schema.String,
  timeline: Timeline,
  /** Per player: sum of acknowledged changes of the real balance, minor units; stakes are negative. */
  moved: Schema.Array(Schema.Int),
  /** Per player: the least and the most that requests of unknown outcome (no answer, or a 5xx) may have added. */
  leastUnknown: Schema.Array(Schema.Int),
  mostUnknown: Schema.Array(Schema.Int)
})
export type JobResult = typeof JobResult.Type

/** Messages of a generator process to its parent. `measuring` and `measured` delimit the measured seconds. */
export const GeneratorMessage = Schema.Union([
  Schema.Struct({ type: Schema.Literal("measuring") }),
  Schema.Struct({ type: Schema.Literal("measured") }),
  Schema.Struct({ type: Schema.Literal("progress"), processed: Schema.Int, errors: Schema.Int }),
  Schema.Struct({ type: Schema.Literal("result"), result: JobResult }),
  Schema.Struct({ type: Schema.Literal("failed"), message: Schema.String })
])
export type GeneratorMessage = typeof GeneratorMessage.Type
