// The engine without HTTP: callers in the same process ask the actors for bets, one after the other each. What is left out is the
// network, the signature, the parsing and the answer.
import { Effect, Schema } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { encodeHistogram, makeHistogram, micros } from "../../load/Latency.ts"
import { PlayerPicker } from "../../load/PlayerPicker.ts"
import { parseCommitCounts } from "../../report/Prometheus.ts"
import { PlayerActors } from "../../../src/store/PlayerActors.ts"
import { EngineJob, type EngineMessage } from "../EngineMessage.ts"
import {
  insertPlayers,
  layerMemory,
  layerPostgres,
  openingBalance,
  placeBet,
  playerId,
  readPlayer,
  stake
} from "./PlayerEngine.ts"

const options = Schema.decodeUnknownSync(Schema.Struct({
  STORE: Schema.Literals(["postgres", "memory"]),
  DATABASE_URL: Schema.String,
  PLAYERS: Schema.NumberFromString
}))(process.env)

const send = (message: EngineMessage): void => {
  process.send?.(message)
}

const commits = Effect.map(PrometheusMetrics.format(), (text) => parseCommitCounts(text) ?? { commits: 0, units: 0 })

/** Acknowledged stakes per player so far, minor units. */
const staked = new Float64Array(options.PLAYERS)

const run = Effect.fnUntraced(function*(actors: PlayerActors["Service"], job: EngineJob) {
  const picker = new PlayerPicker(job.players, job.seed)
  const latency = makeHistogram()
  const slots = Math.ceil(job.measuredSeconds * 1000 / job.slotMs)
  const timeline = Array.from({ length: slots }, () => ({ processed: 0, failed: 0, sum: 0, max: 0 }))
  const from = performance.now() + job.warmUpSeconds * 1000
  const to = from + job.measuredSeconds * 1000
  let [sent, processed, failed] = [0, 0, 0]
  let mark: "measuring" | "measured" | undefined
  const before = yield* commits

  const note = (number: number, isDone: boolean, startedAt: number) => {
    const now = performance.now()
    // reported from here: a timer may be late under constant load
    if (mark === undefined && now >= from) send({ type: mark = "measuring" })
    if (mark === "measuring" && now >= to) send({ type: mark = "measured" })
    if (isDone) staked[number] = (staked[number] ?? 0) + stake
    const slot = timeline[Math.floor((now - from) / job.slotMs)]
    if (now < from || now >= to || slot === undefined) return
    if (!isDone) {
      failed += 1
      slot.failed += 1
      return
    }
    const took = micros(now - startedAt)
    processed += 1
    latency.recordValue(took)
    slot.processed += 1
    slot.sum += took
    slot.max = Math.max(slot.max, took)
  }

  const caller = Effect.gen(function*() {
    while (performance.now() < to) {
      const number = picker.next()
      const startedAt = performance.now()
      const isDone = yield* placeBet(actors, playerId(number), `${job.idPrefix}-${(++sent).toString(36)}`).pipe(
        Effect.match({ onFailure: () => false, onSuccess: () => true })
      )
      note(number, isDone, startedAt)
      // yields to pending commits: a caller that is only refused must not occupy the thread
      if (!isDone) yield* Effect.yieldNow
    }
  })
  yield* Effect.replicateEffect(caller, job.callers, { concurrency: "unbounded", discard: true })
  const after = yield* commits

  const wrong: Array<number> = []
  for (let number = 0; number < job.players; number++) {
    const { real } = yield* readPlayer(actors, playerId(number))
    if (real !== openingBalance - (staked[number] ?? 0)) wrong.push(playerId(number))
  }
  send({
    type: "ran",
    processed,
    failed,
    latency: encodeHistogram(latency),
    timeline: {
      slot_ms: job.slotMs,
      processed: timeline.map((slot) => slot.processed),
      failed: timeline.map((slot) => slot.failed),
      latency_sum: timeline.map(({ sum }) => sum),
      latency_max: timeline.map(({ max }) => max)
    },
    commits: after.commits - before.commits,
    units: after.units - before.units,
    wrong: wrong.slice(0, 10)
  })
})

const decodeJob = Schema.decodeUnknownSync(EngineJob)

/** The next job of the parent. */
const nextJob = Effect.callback<EngineJob>((resume) => {
  process.once("message", (message) => resume(Effect.succeed(decodeJob(message))))
})

const serve = Effect.gen(function*() {
  const actors = yield* PlayerActors
  send({ type: "ready" })
  return yield* Effect.forever(Effect.flatMap(nextJob, (job) => run(actors, job)))
})

const program = options.STORE === "memory"
  ? serve.pipe(Effect.provide(layerMemory(options.PLAYERS)))
  : insertPlayers(options.PLAYERS).pipe(Effect.andThen(serve), Effect.provide(layerPostgres(options.DATABASE_URL)))

process.on("disconnect", () => process.exit(0))
process.on("SIGINT", () => {})
await Effect.runPromise(program)
