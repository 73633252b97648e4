import { Effect } from "effect"
import pg from "pg"
import { type BenchError, failedAt } from "../BenchError.ts"
import { sendAtOnce } from "../load/Burst.ts"
import type { Job, OperatorOperation } from "../load/Job.ts"
import { OperatorCalls } from "../load/OperatorCalls.ts"
import { PlayerPicker } from "../load/PlayerPicker.ts"
import { type Request, Requests } from "../load/Requests.ts"
import { Created } from "../targets/Service.ts"
import type { Pitboss } from "../targets/Pitboss.ts"
import type { Postgres } from "../targets/Postgres.ts"

/** Context of a case. Its players are not those of the measured bets. */
export interface World {
  readonly target: Pitboss
  readonly postgres: Postgres
  /** Job with the players that cases may use. `name` is unique. */
  readonly jobOf: (name: string) => Job
  /** Restarts the service at the same address, with no players in memory. */
  readonly restart: Effect.Effect<void, BenchError>
  readonly sizes: CaseSizes
  /** Something of the case itself was not answered as it should be. */
  readonly note: (code: string, count: number) => void
}

interface CaseSizes {
  /** Verifications, and as many reports, at once. */
  readonly readers: number
  /** Bets that are retried at once. */
  readonly retries: number
  /** Number of players that are passivated. */
  readonly resting: number
  readonly restSeconds: number
}

/** Something that goes on beside the bets. */
export interface NeighbourCase {
  readonly name: CaseName
  readonly about: string
  /** Before the calm is measured. */
  readonly prepare?: (world: World, round: number) => Effect.Effect<Prepared, BenchError>
  /** Begins with the measured seconds and is interrupted at their end. */
  readonly beside: (world: World, round: number, prepared: Prepared) => Effect.Effect<unknown, BenchError>
  /** The service is started again right before it is measured, which is a second then. */
  readonly fromStart?: true
  /** Measured seconds, when determined by the case. */
  readonly seconds?: (sizes: CaseSizes) => number
}

/** Result of `prepare` for `beside`. */
interface Prepared {
  readonly requests: ReadonlyArray<Request>
}

export const nothing: Prepared = { requests: [] }

export const caseNames = ["reads", "home", "retries", "held-row", "start", "sections", "rest"] as const
type CaseName = (typeof caseNames)[number]

const timestamp = (): string => Math.floor(Date.now() / 1000).toString()

const send = (target: Pitboss, requests: ReadonlyArray<Request>) =>
  Effect.tryPromise({ try: () => sendAtOnce(target, requests), catch: failedAt("requests at once") })

/** Repeats an effect, with a pause after a refusal, which overload may cause. */
const repeatedly = (ask: Effect.Effect<unknown, BenchError>) =>
  Effect.forever(Effect.orElseSucceed(Effect.tapError(ask, () => Effect.sleep("250 millis")), () => undefined))

const year = (): string => {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)
  return `from=${day(365)}&to=${day(0)}`
}

/** Holds the account row of one player, as another program's transaction would, until the effect is interrupted. */
const holdRow = (postgres: Postgres, database: string, playerId: number) =>
  Effect.acquireUseRelease(
    Effect.tryPromise({
      try: async () => {
        const client = new pg.Client({ connectionString: postgres.url(database) })
        await client.connect()
        await client.query("BEGIN")
        await client.query("SELECT 1 FROM accounts WHERE player_id = $1 FOR UPDATE", [playerId])
        return client
      },
      catch: failedAt("the row cannot be held")
    }),
    () => Effect.never,
    (client) => Effect.promise(() => client.end())
  )

/** Kinds of commits that a player's minute may hold, together or apart. */
const sectionCalls: ReadonlyArray<OperatorOperation> = [
  "deposit",
  "withdrawal",
  "set-limits",
  "launch",
  "session-token",
  "register"
]

export const neighbourCases: ReadonlyArray<NeighbourCase> = [
  {
    name: "reads",
    about: "verifications of the ledger and reports over 366 days, as many of either at once",
    beside: ({ sizes, target }) =>
      Effect.all(
        [
          ...Array.from({ length: sizes.readers }, () => repeatedly(target.service.verify())),
          ...Array.from({ length: sizes.readers }, () => repeatedly(target.read(`/reports/ggr?${year()}`)))
        ],
        { concurrency: "unbounded", discard: true }
      )
  },
  {
    name: "home",
    about: "ten pages of the back office open on home",
    beside: ({ target }) =>
      Effect.all(Array.from({ length: 10 }, () => target.service.watchHome), {
        concurrency: "unbounded",
        discard: true
      })
  },
  {
    name: "retries",
    about: "bets of rested players retried at once",
    prepare: Effect.fnUntraced(function*({ jobOf, restart, sizes, target }, round) {
      const job = jobOf(`n${round}`)
      const requests = new Requests(job)
      const players = Array.from({ length: Math.min(sizes.retries, job.players.length) }, (_, index) => index)
      const bets = players.map((player) => requests.bet(player, timestamp()))
      // in portions, as bets that are really placed
      for (let from = 0; from < bets.length; from += 100) yield* send(target, bets.slice(from, from + 100))
      yield* restart
      return { requests: bets.map(({ id, player }) => requests.retry(player, timestamp(), id)) }
    }),
    beside: ({ note, target }, _round, { requests }) =>
      send(target, requests).pipe(
        Effect.tap(({ processed }) => Effect.sync(() => note("NOT_REPLAYED", requests.length - processed))),
        Effect.andThen(Effect.never)
      )
  },
  {
    name: "held-row",
    about: "the row of one account held by another session while its player bets",
    beside: ({ jobOf, postgres, target }, round) => {
      const job = jobOf(`h${round}`)
      const requests = new Requests(job)
      const held = job.players[0]
      const bets = Effect.forever(
        Effect.andThen(Effect.suspend(() => send(target, [requests.bet(0, timestamp())])), Effect.sleep("200 millis"))
      )
      return held === undefined || target.database === undefined
        ? Effect.never
        : Effect.raceFirst(holdRow(postgres, target.database, held.id), bets)
    }
  },
  {
    name: "start",
    about: "the first second after a start",
    fromStart: true,
    beside: () => Effect.never
  },
  {
    name: "sections",
    about: "corrections, limits, bonuses, payments and sessions of others, in ever new combinations",
    beside: Effect.fnUntraced(function*({ jobOf, target }, round) {
      const { create } = target.service
      const bonus = yield* create("bonuses", {
        operator: String(target.operatorId),
        name: `Bench ${round}`,
        type: "no_deposit",
        default_amount: 100,
        wagering_multiplier: 1,
        valid_days: 7
      }, Created)
      const job = jobOf(`s${round}`)
      const calls = new OperatorCalls(job)
      const requests = new Requests(job)
      const players = new PlayerPicker(job.players.length, round)
      const coin = new PlayerPicker(2, round + 1)
      const together = Effect.suspend(() => {
        const player = players.next()
        const id = job.players[player]?.id ?? 0
        const now = timestamp()
        const others = sectionCalls.filter(() => coin.next() === 1).map((name) => calls.next(name, player, now))
        return Effect.all([
          send(target, [requests.bet(player, now), ...others]),
          ...(coin.next() === 1
            ? [create(`players/${id}/corrections`, { wallet: "real", amount: 1, reason: "bench" }, Created)]
            : []),
          ...(coin.next() === 1 ? [create(`players/${id}/bonuses`, { bonus_id: bonus.id }, Created)] : [])
        ], { concurrency: "unbounded", discard: true })
      })
      return yield* Effect.replicateEffect(repeatedly(together), 4, { concurrency: "unbounded", discard: true })
    })
  },
  {
    name: "rest",
    about: "as many players go to rest",
    prepare: ({ sizes, target }) => Effect.as(target.touch(sizes.resting), nothing),
    seconds: ({ restSeconds }) => restSeconds,
    beside: () => Effect.never
  }
]
