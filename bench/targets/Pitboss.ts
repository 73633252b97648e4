import { Effect, Schedule, Schema, type Scope } from "effect"
import { BenchError } from "../BenchError.ts"
import type { JobPlayer } from "../load/Job.ts"
import { parseWork } from "../report/Prometheus.ts"
import { freePort } from "./FreePort.ts"
import { defaultTimes, type Postgres } from "./Postgres.ts"
import { type Profiler, startProfiler } from "./Profiler.ts"
import { ApiKey, Created, type Environment, environmentOn, get, type Service, startService } from "./Service.ts"
import { stakeLimit } from "../load/Requests.ts"
import { makeSignedClient, type SignedClient, signedConcurrency, walletBalances } from "./SignedClient.ts"
import type { Provisioning, Target } from "./Target.ts"

const Provider = Schema.Struct({ id: Schema.Int, key: Schema.String, secret: Schema.String })
const Launch = Schema.Struct({ session_token: Schema.String })
const Authenticated = Schema.Struct({ player_ref: Schema.String })
const SessionToken = Schema.Struct({ token: Schema.String })
const Anything = Schema.Unknown

const EventPage = Schema.Struct({
  data: Schema.Array(Schema.Unknown),
  meta: Schema.Struct({ next_cursor: Schema.String })
})

/** Requirements of some kinds of traffic per player besides a wallet session. */
export interface PlayerNeeds {
  /** How the provider names the player. */
  readonly refs?: boolean
  /** A session of the player's own. */
  readonly bearers?: boolean
  /** So many of the players, the last ones, may not stake more than `stakeLimit` at once. */
  readonly limited?: number
}

export interface PitbossOptions {
  readonly name?: string
  /** A new one is made where there is no {@link dataset}; `postgres`, which every server has, is taken as it is. */
  readonly database?: string
  /** Uses existing players instead of new ones: of this operator, in a migrated database. */
  readonly dataset?: {
    readonly database: string
    readonly environment: Environment
    readonly operatorId: number
    readonly key: typeof ApiKey.Type
    readonly playerIds: ReadonlyArray<number>
  }
  readonly needs?: PlayerNeeds
  /** Whether a profiler is attached. */
  readonly profiled?: boolean
}

/** The service as a target. */
export interface Pitboss extends Target {
  readonly service: Service
  readonly environment: Environment
  readonly profiler: Profiler | undefined
  readonly operator: { readonly key: string; readonly secret: string }
  readonly operatorId: number
  /** Reads something as the operator. `uri` is below the operator's API. */
  readonly read: (uri: string) => Effect.Effect<unknown, BenchError>
  /** As `read`, a page of the operator's events. */
  readonly events: (query: string) => Effect.Effect<typeof EventPage.Type, BenchError>
  /** Loads a number of players into memory, starting with those without bets. */
  readonly touch: (count: number) => Effect.Effect<void, BenchError>
  /** Waits until compliance has evaluated all events so far, so that it does not do so during a measurement. */
  readonly judged: Effect.Effect<void, BenchError>
}

const players = "/api/v1/operator/players"

/** The sequence of ids gives blocks. */
const idsPerBlock = 4096

/** How many of the players' wallets are read over the API when all balances are: reading ten thousand would disturb the next round. */
const walletsRead = 100

/**
 * Inserts $2 idle players of operator $1 with empty wallets, as the service would, but without events,
 * so that compliance has nothing to evaluate during a measurement.
 */
const idleStatements = (operatorId: number, count: number, currency: string): string => `
  ${defaultTimes}
  CREATE TEMP TABLE idle ON COMMIT DROP AS
    WITH blocks AS MATERIALIZED (SELECT nextval('ids') AS first FROM generate_series(0, ${count} / ${idsPerBlock}))
    SELECT first + n AS id, row_number() OVER () AS n FROM blocks, generate_series(0, ${
  idsPerBlock - 1
}) AS n LIMIT ${count};
  INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency, created_at, updated_at)
    SELECT id, ${operatorId}, 'idle-' || n, 'idle-' || n || '@players.example', 'Idle', 'Player ' || n,
      date '1950-01-01' + (n % 18000)::integer, 'MT', '${currency}', now(), now() FROM idle;
  INSERT INTO accounts (player_id, operator_id, real_updated_at, bonus_updated_at)
    SELECT id, ${operatorId}, now(), now() FROM idle;
  DELETE FROM compliance_effects USING idle WHERE player_id = idle.id;`

/** Time limit for compliance to evaluate the events of the players' preparation. */
const judgingSeconds = 300
const openingReference = "bench-opening"

/** Deposit limit that a jurisdiction asks each player for; no player comes near it. */
const maxDeposits = 10_000_000_000

const register = (operator: SignedClient, number: number, { currency, jurisdictions = [] }: Provisioning) => {
  const jurisdiction = jurisdictions[(number - 1) % jurisdictions.length]
  return operator.call("POST", players, {
    ...(jurisdiction !== undefined &&
      { jurisdiction, zip_code: "SW1A 1AA", limits: { max_monthly_deposit: maxDeposits } }),
    username: `bench-${number}`,
    email: `bench-${number}@players.example`,
    first_name: "Bench",
    last_name: `Player ${number}`,
    birth_date: "1990-01-01",
    country: "MT",
    terms_accepted: true,
    currency
  }, Created).pipe(Effect.map(({ id }) => id))
}

/** At most `most` of the indexes from 0 to `length` − 1, spread evenly. */
const everyNth = (length: number, most: number): ReadonlyArray<number> =>
  Array.from({ length: Math.min(length, most) }, (_, number) => Math.floor(number * length / Math.min(length, most)))

/** Suffix that makes the names of this run unique when data is reused. */
const runName = (): string => Date.now().toString(36)

/** Staff make a provider with a game, an original, and a payment method that takes large deposits. */
const makeCatalogue = Effect.fnUntraced(function*(
  { create }: Service,
  operator: string,
  run: string,
  { currency, openingBalance }: Provisioning
) {
  const slug = `bench-${run}`
  const provider = yield* create("providers", {
    slug,
    name: "Bench provider",
    launch_url: "https://games.example/launch?token={token}&game={game}&mode={mode}"
  }, Provider)
  const game = { provider: slug, type: "rng", category: "slots", rtp: 96 }
  const slot = yield* create("games", { ...game, external_id: "bench-slot", name: "Bench slot" }, Created)
  const coin = yield* create(
    "games",
    { provider: slug, external_id: "bench-coin", name: "Bench coin", original: "coin_flip" },
    Created
  )
  const method = { operator, currencies: [currency], max_deposit: openingBalance }
  yield* create("payment-methods", { ...method, code: slug, name: "Bench opening" }, Anything)
  // deposits under load go through a method of their own, which may be there from an earlier run
  yield* Effect.ignore(create("payment-methods", { ...method, code: "bench", name: "Bench" }, Anything))
  return { provider, slotId: slot.id, coinId: coin.id, openingMethod: slug }
})

/**
 * Starts the service and makes it ready as a customer would: staff create operator, key, provider, games and payment methods, the
 * operator registers players, records their deposits and launches the game.
 */
export const startPitboss = (
  postgres: Postgres,
  provisioning: Provisioning,
  progress: (text: string) => void,
  options: PitbossOptions = {}
): Effect.Effect<Pitboss, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const { database = "pitboss", dataset, name = "pitboss", needs = {} } = options
    if (dataset === undefined && database !== "postgres") {
      // a kept folder may hold that of an earlier run
      yield* postgres.query("postgres", `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    }
    const environment = dataset?.environment ?? environmentOn(postgres, database)
    const inspectorPort = options.profiled === true ? yield* freePort : undefined
    const service = yield* startService(environment, {
      nodeArguments: inspectorPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectorPort}`]
    })
    const { backofficePort, child, create, host, port } = service
    const run = runName()
    const operatorId = dataset?.operatorId ??
      (yield* create("operators", {
        slug: "bench",
        name: "Bench",
        currency: provisioning.currency,
        ...(provisioning.jurisdictions !== undefined && {
          is_sandbox: true,
          profiles: provisioning.jurisdictions,
          default_profile: provisioning.jurisdictions[0]
        })
      }, Created)).id
    if (provisioning.jurisdictions?.includes("gb") === true) {
      const url = "https://register.example/v2"
      const settings = { url, batch_url: url, api_key: "bench" }
      yield* create("registers", { operator: "bench", kind: "gamstop", settings }, Created)
    }
    const key = dataset?.key ?? (yield* create(
      "keys",
      { operator: String(operatorId), name: "bench", rate_limit_per_minute: 10_000_000 },
      ApiKey
    ))
    const catalogue = yield* makeCatalogue(service, String(operatorId), run, provisioning)

    const origin = `http://${host}:${port}`
    const client = yield* makeSignedClient(origin, "x-api-key", key)
    const providerClient = yield* makeSignedClient(origin, "x-provider-key", catalogue.provider)
    const count = dataset?.playerIds.length ?? provisioning.players
    const limited = Math.min(count - 1, needs.limited ?? 0)
    const provision = Effect.fnUntraced(function*(number: number, id: number) {
      yield* client.call("POST", `${players}/${id}/deposits`, {
        amount: provisioning.openingBalance,
        external_reference: `${openingReference}-${run}-${number}`,
        payment_method: catalogue.openingMethod
      }, Anything)
      const launched = yield* client.call(
        "POST",
        `${players}/${id}/games/${catalogue.slotId}/launch`,
        { mode: "real" },
        Launch
      )
      const bearer = needs.bearers === true
        ? (yield* client.call("POST", `${players}/${id}/session-tokens`, { ttl_minutes: 720 }, SessionToken)).token
        : undefined
      const playerRef = needs.refs === true
        ? (yield* providerClient.call(
          "POST",
          "/api/v1/provider/wallet/authenticate",
          { session_token: launched.session_token },
          Authenticated
        )).player_ref
        : undefined
      if (number > count - limited) {
        yield* client.call("PUT", `${players}/${id}/limits`, { limits: { max_single_bet: stakeLimit } }, Anything)
      }
      return {
        id,
        sessionToken: launched.session_token,
        ...(bearer === undefined ? {} : { bearer }),
        ...(playerRef === undefined ? {} : { playerRef })
      } satisfies JobPlayer
    })
    let ready = 0
    const provisioned = yield* Effect.forEach(
      Array.from({ length: count }, (_, index) => index),
      (index) => {
        const known = dataset?.playerIds[index]
        const playerId = known === undefined
          ? register(client, index + 1, provisioning)
          : Effect.succeed(known)
        return playerId.pipe(
          Effect.flatMap((id) => provision(index + 1, id)),
          Effect.tap(() => Effect.sync(() => progress(`${name}: ${++ready} of ${count} players`)))
        )
      },
      { concurrency: signedConcurrency }
    ).pipe(Effect.raceFirst(child.ended))

    const own = dataset === undefined ? database : dataset.database
    const idle = (provisioning.registered ?? 0) - count
    if (idle > 0) {
      progress(`${name}: ${idle} players who never come`)
      yield* postgres.query(own, idleStatements(operatorId, idle, provisioning.currency))
      yield* postgres.query(own, "VACUUM (ANALYZE) players, accounts")
    }
    const judged = postgres.query(own, "SELECT count(*)::int AS effects FROM compliance_effects").pipe(
      Effect.tap(([row]) => Effect.sync(() => progress(`${name}: ${Number(row?.["effects"])} effects to judge`))),
      Effect.repeat({
        until: ([row]) => row?.["effects"] === 0,
        schedule: Schedule.spaced("250 millis"),
        times: judgingSeconds * 4
      }),
      Effect.asVoid
    )
    yield* judged

    /** Stored balances of all players; those of some are compared with the service's answers. */
    const balances = Effect.fnUntraced(function*(wanted: number) {
      const asked = provisioned.slice(0, wanted)
      const stored = (yield* postgres.query(
        own,
        `SELECT a.real_balance::float8 AS balance FROM unnest($1::bigint[]) WITH ORDINALITY AS u (id, number)
          JOIN accounts a ON a.player_id = u.id ORDER BY number`,
        [asked.map(({ id }) => id)]
      )).map((row) => Number(row["balance"]))
      const some = everyNth(asked.length, walletsRead)
      const told = yield* walletBalances(client, some.flatMap((index) => asked[index] ?? []))
      const other = some.find((index, position) => stored[index] !== told[position])
      return other === undefined ? stored : yield* new BenchError({
        message: `${name}: the service tells another balance of player ${asked[other]?.id ?? "?"} than it stored`
      })
    })

    return {
      name,
      database: own,
      service,
      operatorId,
      read: (uri) => client.call("GET", `/api/v1/operator${uri}`, undefined, Anything),
      events: (query) => client.whole(`/api/v1/operator/events?${query}`, EventPage),
      touch: Effect.fnUntraced(function*(wanted: number) {
        const ids = yield* postgres.query(
          own,
          "SELECT player_id::float8 AS id FROM accounts WHERE operator_id = $1 ORDER BY player_id DESC LIMIT $2",
          [operatorId, wanted]
        )
        yield* walletBalances(client, ids.map((row) => ({ id: Number(row["id"]) })))
      }),
      judged,
      environment,
      profiler: inspectorPort === undefined ? undefined : yield* startProfiler(inspectorPort),
      pid: () => child.pid,
      host,
      port,
      provider: { key: catalogue.provider.key, secret: catalogue.provider.secret },
      operator: key,
      gameId: "bench-slot",
      slotId: String(catalogue.slotId),
      limitedFrom: count - limited,
      originalId: String(catalogue.coinId),
      players: provisioned,
      openingBalances: dataset === undefined
        ? provisioned.map(() => provisioning.openingBalance)
        : yield* balances(count),
      balances,
      work: get(`http://${host}:${backofficePort}/metrics`).pipe(
        Effect.map(parseWork),
        Effect.orElseSucceed(() => undefined)
      ),
      // verifying a large ledger takes minutes: only the balances of the players of the run are checked there
      audit: dataset === undefined
        ? service.verify({ operatorId }).pipe(
          // one that a case has begun may still run
          Effect.retry({
            schedule: Schedule.spaced("1 second"),
            times: 60,
            while: ({ message }) => message.includes("TRY_AGAIN")
          }),
          Effect.map(({ violations }) => violations.slice(0, 10).map((found) => `${name}: ${JSON.stringify(found)}`))
        )
        : Effect.succeed([])
    }
  })
