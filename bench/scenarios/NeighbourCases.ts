import { Effect } from "effect"
import pg from "pg"
import { type BenchError, failedAt } from "../BenchError.ts"
import type { BurstConnections } from "../load/Burst.ts"
import type { Job, OperatorOperation } from "../load/Job.ts"
import { OperatorCalls } from "../load/OperatorCalls.ts"
import { PlayerPicker } from "../load/PlayerPicker.ts"
import { type Request, Requests } from "../load/Requests.ts"
import { ApiKey, Created } from "../targets/Service.ts"
import type { Pitboss } from "../targets/Pitboss.ts"
import type { Postgres } from "../targets/Postgres.ts"
import type { Sink } from "../targets/Sink.ts"

/** Context of a case. Its players are not those of the measured bets. */
export interface World {
  readonly target: Pitboss
  readonly postgres: Postgres
  /** Job with the players that cases may use. `name` is unique. */
  readonly jobOf: (name: string) => Job
  /** Restarts the service at the same address, with no players in memory. */
  readonly restart: Effect.Effect<void, BenchError>
  readonly sizes: CaseSizes
  /** Of the cases' own requests. */
  readonly connections: BurstConnections
  /** Takes requests, and below `/hang` never answers. */
  readonly sink: Sink
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
  /** Greatest p99 beside it by the calm one, ms; {@link allowedBeside} unless the case says so. */
  readonly allowed?: (calm_ms: number) => number
  /** Measured seconds, when determined by the case. */
  readonly seconds?: (sizes: CaseSizes) => number
}

/** Twice the calm p99, or what nobody feels. */
export const allowedBeside = (calm_ms: number): number => Math.max(2 * calm_ms, 25)

/** Result of `prepare` for `beside`. */
interface Prepared {
  readonly requests: ReadonlyArray<Request>
  /** Key of an operator of the case's own. */
  readonly operator?: typeof ApiKey.Type
  /** Where the followers of events begin. */
  readonly cursor?: string
}

export const nothing: Prepared = { requests: [] }

export const caseNames = [
  "reads",
  "home",
  "retries",
  "held-row",
  "start",
  "sections",
  "rest",
  "register-absent",
  "register-hangs",
  "access",
  "deposits",
  "followers"
] as const
type CaseName = (typeof caseNames)[number]

const timestamp = (): string => Math.floor(Date.now() / 1000).toString()

const send = ({ connections }: World, requests: ReadonlyArray<Request>) =>
  Effect.tryPromise({ try: () => connections.send(requests), catch: failedAt("requests at once") })

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

/**
 * Gives a player 100,000 entries more, and a request for the document of them; with -1 takes them back. Without triggers, so that sums and the chain of hashes know
 * nothing of what is gone before the ledger is proved.
 */
const longHistory = (playerId: number, firstId: number, sign: 1 | -1): string => {
  const entries = sign === 1
    ? `INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
      SELECT a.player_id, a.entry_seq + n, ${firstId} + n, a.operator_id, 'real', 'correction_up', 1, a.real_balance + n,
        now() - interval '1 day' + n * interval '100 milliseconds'
      FROM accounts a CROSS JOIN generate_series(1, 100000) AS n WHERE a.player_id = ${playerId};
      INSERT INTO data_requests (id, operator_id, player_id, type, status, created_by, created_at, due_at)
      SELECT ${firstId}, operator_id, id, 'access', 'open', 'bench', now(), now() + interval '1 month' FROM players WHERE id = ${playerId}`
    : `DELETE FROM ledger_entries WHERE player_id = ${playerId} AND id > ${firstId} AND id <= ${firstId} + 100000;
      DELETE FROM data_requests WHERE id = ${firstId}`
  return `SET session_replication_role = replica; ${entries};
    UPDATE accounts SET entry_seq = entry_seq + ${sign} * 100000, real_balance = real_balance + ${sign} * 100000, version = version + 1
      WHERE player_id = ${playerId};
    RESET session_replication_role`
}

/** Kinds of commits that a player's minute may hold, together or apart. */
const sectionCalls: ReadonlyArray<OperatorOperation> = [
  "deposit",
  "withdrawal",
  "set-limits",
  "launch",
  "session-token",
  "register"
]

/** An operator whose rules have a register asked before each registration. */
const prepareRegistrations = Effect.fnUntraced(function*({ target }: World, operator: string) {
  const { create } = target.service
  const rules = { profiles: ["ca-on"], default_profile: "ca-on" }
  yield* create("operators", { slug: operator, name: operator, currency: "CAD", ...rules }, Created)
  const key = yield* create("keys", { operator, name: "bench", rate_limit_per_minute: 10_000_000 }, ApiKey)
  return { requests: [], operator: key }
})

/** A registration each 5 ms, each of which has to be refused within the register's time and half a second. */
const besideRegistrations: NeighbourCase["beside"] = (world, round, { operator = null }) => {
  const { jobOf, note } = world
  const calls = new OperatorCalls({ ...jobOf(`g${round}`), operator, currency: "CAD" })
  const refused = { status: 503, marks: ["TRY_AGAIN"] }
  const registration = Effect.suspend(() => send(world, [{ ...calls.next("register", 0, timestamp()), ...refused }]))
    .pipe(
      Effect.tap(({ processed, seconds }) =>
        Effect.sync(() => {
          note("NOT_REFUSED", 1 - processed)
          note("SLOWER_THAN_2500_MS", seconds > 2.5 ? 1 : 0)
        })
      )
    )
  return Effect.forever(Effect.andThen(Effect.forkChild(registration), Effect.sleep("5 millis")))
}

/** A deposit each 20 ms, each of which makes an event. */
const besideDeposits: NeighbourCase["beside"] = (world, round) => {
  const job = world.jobOf(`e${round}`)
  const calls = new OperatorCalls(job)
  const players = new PlayerPicker(job.players.length, round)
  const deposit = Effect.suspend(() => send(world, [calls.next("deposit", players.next(), timestamp())]))
  return Effect.forever(Effect.andThen(Effect.forkChild(deposit), Effect.sleep("20 millis")))
}

/** Cursor behind the events so far, so that the walk past them is not measured. */
const newestCursor = Effect.fnUntraced(function*({ target }: World) {
  let cursor = ""
  for (;;) {
    const { data, meta } = yield* target.events(`per_page=100&cursor=${encodeURIComponent(cursor)}`)
    cursor = meta.next_cursor
    if (data.length === 0) return cursor
  }
})

/** Follows the operator's events behind a cursor: a call is held until there is one. */
const follow = ({ note, target }: World, from: string) => {
  let cursor = from
  return Effect.forever(Effect.gen(function*() {
    const { data, meta } = yield* target.events(`per_page=100&wait=10&cursor=${encodeURIComponent(cursor)}`)
    note("EVENTS_FOLLOWED", data.length)
    cursor = meta.next_cursor
  }))
}

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
    prepare: Effect.fnUntraced(function*(world, round) {
      const { jobOf, restart, sizes } = world
      const job = jobOf(`n${round}`)
      const requests = new Requests(job)
      const players = Array.from({ length: Math.min(sizes.retries, job.players.length) }, (_, index) => index)
      const bets = players.map((player) => requests.bet(player, timestamp()))
      // in portions, as bets that are really placed
      for (let from = 0; from < bets.length; from += 100) yield* send(world, bets.slice(from, from + 100))
      yield* restart
      return { requests: bets.map(({ id, player }) => requests.retry(player, timestamp(), id)) }
    }),
    beside: (world, _round, { requests }) =>
      send(world, requests).pipe(
        Effect.tap(({ processed }) => Effect.sync(() => world.note("NOT_REPLAYED", requests.length - processed))),
        Effect.andThen(Effect.never)
      )
  },
  {
    name: "held-row",
    about: "the row of one account held by another session while its player bets",
    beside: (world, round) => {
      const { jobOf, postgres, target } = world
      const job = jobOf(`h${round}`)
      const requests = new Requests(job)
      const held = job.players[0]
      const bets = Effect.forever(
        Effect.andThen(Effect.suspend(() => send(world, [requests.bet(0, timestamp())])), Effect.sleep("200 millis"))
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
    allowed: () => 60,
    beside: () => Effect.never
  },
  {
    name: "sections",
    about: "corrections, limits, bonuses, payments and sessions of others, in ever new combinations",
    beside: Effect.fnUntraced(function*(world, round) {
      const { jobOf, target } = world
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
          send(world, [requests.bet(player, now), ...others]),
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
  },
  {
    name: "register-absent",
    about:
      "200 registrations a second at an operator that has no connection to the register of its rules: what the refusals themselves cost",
    prepare: (world, round) => prepareRegistrations(world, `absent-${round}`),
    beside: besideRegistrations
  },
  {
    name: "register-hangs",
    about: "the same with a register that takes questions and never answers",
    allowed: (calm_ms) => 1.2 * calm_ms,
    prepare: Effect.fnUntraced(function*(world, round) {
      const operator = `hanging-${round}`
      const prepared = yield* prepareRegistrations(world, operator)
      const settings = { url: `http://127.0.0.1:${world.sink.port}/hang`, api_key: "bench" }
      yield* world.target.service.create("registers", { operator, kind: "generic", settings }, Created)
      return prepared
    }),
    beside: besideRegistrations
  },
  {
    name: "access",
    about: "the document of a person's data with 100,000 entries, one after the other",
    beside: ({ jobOf, note, postgres, target: { database, read } }, round) => {
      const person = jobOf(`d${round}`).players[round]
      if (database === undefined || person === undefined) return Effect.never
      const request = 4_000_000_000_000_000 + 1_000_000 * round
      const document = read(`/players/${person.id}/data-requests/${request}/document`)
      return Effect.acquireUseRelease(
        postgres.query(database, longHistory(person.id, request, 1)),
        () => repeatedly(Effect.tap(document, () => Effect.sync(() => note("DOCUMENTS_READ", 1)))),
        () => Effect.ignore(postgres.query(database, longHistory(person.id, request, -1)))
      )
    }
  },
  {
    name: "deposits",
    about: "fifty deposits a second, each with its event",
    beside: besideDeposits
  },
  {
    name: "followers",
    about: "the same deposits, with four followers of the events whose calls are held until there is one",
    prepare: (world) => Effect.map(newestCursor(world), (cursor) => ({ ...nothing, cursor })),
    beside: (world, round, prepared) =>
      Effect.all(
        [
          besideDeposits(world, round, prepared),
          ...Array.from({ length: 4 }, () => follow(world, prepared.cursor ?? ""))
        ],
        { concurrency: "unbounded", discard: true }
      )
  }
]
