/**
 * Clocks of sandboxes, operators for tests (`docs/decisions/0066-sandboxes.md`). An operator's time is real time plus the offset by which its clock
 * was advanced or, while it is being advanced, the instant reached. Clocks are stored in PostgreSQL and kept in memory by every node: a change is
 * announced to all nodes, and each also reads them once a second.
 *
 * The fiber of an operator's request has that operator's clock, and actors take theirs from here. Code without such a fiber calls
 * `OperatorClocks.at`.
 */
import { Clock, Context, Effect, Layer, Schema, Semaphore } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Forwarder } from "../cluster/Forwarder.ts"
import { Instant } from "../domain/Instant.ts"
import { ServingClient } from "../platform/Database.ts"
import type { Scope } from "./OperatorScope.ts"
import { oneOf, rowsOf } from "./Rows.ts"

const channel = "operator clocks"

/** A node that does not answer has read the clocks by itself after this time. */
const answerMs = 500
const readWithin = "2500 millis"

const ClockRow = Schema.Struct({
  operatorId: Schema.Number,
  offsetMs: Schema.Number,
  /** Undefined while it goes on. */
  heldAt: Schema.NullOr(Instant),
  isArchived: Schema.Boolean
})

const clockRows = rowsOf(ClockRow)
const ownerRows = rowsOf(Schema.Struct({ owners: Schema.Number }))

type OperatorClock = Omit<typeof ClockRow.Type, "operatorId">

/** Operator whose due work a job looks for, by the clock of its fiber; null: all operators that go by real time. */
export const ClockOwner = Context.Reference<number | null>("pitboss/store/ClockOwner", { defaultValue: () => null })

/** The condition that a row's operator goes by the clock of the job: see {@link ClockOwner}. `column` holds the operator. */
export const ofClock = (sql: SqlClient.SqlClient, column = "operator_id"): Effect.Effect<Statement.Fragment> =>
  Effect.map(
    ClockOwner,
    (owner) =>
      owner === null
        ? sql`${sql(column)} NOT IN (SELECT operator_id FROM operator_clocks)`
        : sql`${sql(column)} = ${owner}`
  )

export interface OperatorClocksService {
  /** An operator's time at a real time; epoch milliseconds. */
  readonly at: (operatorId: number, realMs: number) => number
  /** A real time at an operator's time, as far as its clock is ahead. */
  readonly realOf: (operatorId: number | null, ms: number) => number
  /** Latest time of the one operator of a scope, at a real time; of several the real time, since what they share goes by it. */
  readonly latest: (scope: Scope, realMs: number) => number
  /** Runs an effect by an operator's clock. */
  readonly around: (operatorId: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Operators whose clocks were advanced and are not being advanced now, without those that are archived. */
  readonly going: () => ReadonlyArray<number>
  /** Makes every live node hold the clocks as they are stored. */
  readonly announce: Effect.Effect<void>
}

/** A reference: what is built without operators, as engines of tests are, has no clock but the real one. */
export const OperatorClocks = Context.Reference<OperatorClocksService>("pitboss/store/OperatorClocks", {
  defaultValue: () => ({
    at: (_, realMs) => realMs,
    realOf: (_, ms) => ms,
    latest: (_, realMs) => realMs,
    around: () => (effect) => effect,
    going: () => [],
    announce: Effect.void
  })
})

/** The clocks of the operators of a database. */
export const layerOperatorClocks = Layer.effect(
  OperatorClocks,
  Effect.gen(function*() {
    const sql = yield* ServingClient
    const forwarder = yield* Forwarder
    const base = yield* Clock.Clock
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    // Kept: clocks, reading. How far clocks of sandboxes are ahead. Several nodes: a change is told to all nodes and waited for; read every second
    // besides.
    let clocks: ReadonlyMap<number, OperatorClock> = new Map()
    // one at a time: an older reading must not overwrite a newer one
    const reading = yield* Semaphore.make(1)
    const read = clockRows(
      sql`SELECT c.operator_id AS "operatorId", c.offset_ms::float8 AS "offsetMs", c.held_at AS "heldAt",
          o.archived_at IS NOT NULL AS "isArchived"
        FROM operator_clocks c JOIN operators o ON o.id = c.operator_id`
    ).pipe(
      Effect.map((rows) => {
        clocks = new Map(rows.map(({ operatorId, ...clock }) => [operatorId, clock]))
      }),
      reading.withPermits(1)
    )
    // before this node can own a player
    yield* read
    yield* Effect.sleep("1 second").pipe(
      Effect.andThen(Effect.ignoreCause(read)),
      Effect.forever,
      Effect.forkScoped
    )
    forwarder.serve(channel, (_, done) => {
      fork(read).addObserver((exit) => done({ status: exit._tag === "Success" ? 204 : 503, head: "", body: "" }))
    })

    const at = (operatorId: number, realMs: number): number => {
      if (clocks.size === 0) return realMs
      const clock = clocks.get(operatorId)
      return clock === undefined ? realMs : clock.heldAt ?? realMs + clock.offsetMs
    }

    const around: OperatorClocksService["around"] = (operatorId) => (effect) =>
      Effect.suspend(() => {
        if (!clocks.has(operatorId)) return effect
        const now = () => at(operatorId, base.currentTimeMillisUnsafe())
        return Effect.provideService(effect, Clock.Clock, {
          currentTimeMillisUnsafe: now,
          currentTimeMillis: Effect.sync(now),
          // of traces
          currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe(),
          currentTimeNanos: base.currentTimeNanos,
          monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
          monotonicTimeNanos: base.monotonicTimeNanos,
          sleep: (duration) => base.sleep(duration)
        })
      })

    /** Nodes that own players. */
    const owners = Effect.map(
      oneOf(ownerRows(
        sql`SELECT count(DISTINCT owner)::float8 AS owners FROM cluster_shards WHERE NOT is_released`
      )),
      (row) => row?.owners ?? 0
    )

    const announce = forwarder.node === undefined ? read : Effect.gen(function*() {
      yield* read
      const expected = yield* owners
      const answers = yield* forwarder.sendToAll(channel, { head: "", body: "" }, {
        isRepeatable: true,
        timeoutMs: answerMs
      })
      if (answers.filter(({ status }) => status === 204).length < expected) yield* Effect.sleep(readWithin)
    })

    return {
      at,
      realOf: (operatorId, ms) =>
        clocks.size === 0 || operatorId === null ? ms : ms - (clocks.get(operatorId)?.offsetMs ?? 0),
      latest: (scope, realMs) => scope?.length === 1 ? at(scope[0] ?? 0, realMs) : realMs,
      around,
      going: () =>
        [...clocks].flatMap(([operatorId, { heldAt, isArchived }]) =>
          heldAt === null && !isArchived ? [operatorId] : []
        ),
      announce: Effect.ignoreCause(announce)
    }
  })
)
