import { Schema } from "effect"
import { Timeline } from "../load/Job.ts"

/** One round of bets inside the process. */
export const EngineJob = Schema.Struct({
  /** The first so many players bet. */
  players: Schema.Int,
  /** Callers at a time, each of which bets again when it is answered. */
  callers: Schema.Int,
  warmUpSeconds: Schema.Finite,
  measuredSeconds: Schema.Finite,
  slotMs: Schema.Int,
  /** Unique among the rounds. */
  idPrefix: Schema.String,
  seed: Schema.Int
})
export type EngineJob = typeof EngineJob.Type

/** Messages of the process. */
const EngineReady = Schema.Struct({ type: Schema.Literal("ready") })
const EngineMark = Schema.Struct({ type: Schema.Literals(["measuring", "measured"]) })
const EngineResult = Schema.Struct({
  type: Schema.Literal("ran"),
  processed: Schema.Int,
  failed: Schema.Int,
  /** Compressed HDR histogram, µs. */
  latency: Schema.String,
  timeline: Timeline,
  commits: Schema.Int,
  units: Schema.Int,
  /** Players whose balance disagrees with their acknowledged bets. */
  wrong: Schema.Array(Schema.Int)
})
export const EngineMessage = Schema.Union([EngineReady, EngineMark, EngineResult])
export type EngineMessage = typeof EngineMessage.Type
