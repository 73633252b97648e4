import { Console, Effect, Redacted, Schema, type Scope } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { subkeyBytes } from "../../src/platform/Subkey.ts"
import { BenchError, failedAt } from "../BenchError.ts"
import { endProgress, showProgress } from "../report/Progress.ts"
import { type Postgres, startPostgres, temporaryFolder } from "../targets/Postgres.ts"
import { ApiKey, Created, environmentOn, type Environment, startService } from "../targets/Service.ts"
import { generate } from "./Generate.ts"
import { Shape } from "./GeneratorSql.ts"
import { linkStatements } from "./LinkSql.ts"

const database = "dataset"
const smallOperators = 3
const minuteMs = 60_000

export interface DatasetOptions {
  readonly players: number
  /** Ledger entries, about. */
  readonly entries: number
  /** Where it is kept for later runs, and found again; a temporary folder when left out. */
  readonly folder: string | undefined
}

const Made = Schema.Struct({
  players: Schema.Int,
  entries: Schema.Int,
  provider_transactions: Schema.Int,
  payments: Schema.Int,
  bytes: Schema.Int
})

/** Manifest of a kept folder. */
const Manifest = Schema.Struct({
  version: Schema.Literal(2),
  masterKey: Schema.String,
  token: Schema.String,
  key: ApiKey,
  shape: Shape,
  made: Made,
  seconds: Schema.Int
})
type Manifest = typeof Manifest.Type

/** A database filled with a casino's year, and the settings to start a service on it. */
export interface Dataset {
  readonly postgres: Postgres
  readonly database: string
  readonly environment: Environment
  /** Id of the operator with nearly all players. */
  readonly operatorId: number
  readonly key: typeof ApiKey.Type
  readonly shape: Shape
  readonly made: typeof Made.Type
  /** How long it took to make. */
  readonly seconds: number
}

/**
 * Settings under which data is made: nothing is synced, no page is written twice, and checkpoints keep out of the way. A power cut
 * would cost the data, which can be made again; measurements run with the service's own settings.
 */
const makingSettings: Readonly<Record<string, string>> = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "64GB",
  checkpoint_timeout: "1h",
  shared_buffers: "1GB",
  autovacuum: "off"
}

/** Operators and a key, made as staff make them, by a service that ends before the data is generated. */
const provision = Effect.fnUntraced(function*(environment: Environment) {
  const { create } = yield* startService(environment)
  const operators = yield* Effect.forEach(
    Array.from({ length: 1 + smallOperators }, (_, index) => `operator-${index + 1}`),
    (slug) => create("operators", { slug, name: slug, currency: "EUR" }, Created)
  )
  const operatorIds = operators.map(({ id }) => id)
  const key = yield* create(
    "keys",
    { operator: String(operatorIds[0]), name: "bench", rate_limit_per_minute: 10_000_000 },
    ApiKey
  )
  return { operatorIds, key }
}, Effect.scoped)

/** Puts all rows into the chain of hashes, under the key that a service with this master key derives: a minute for five million entries. */
const link = Effect.fnUntraced(
  function*(postgres: Postgres, environment: Environment, progress: (text: string) => void) {
    const masterKey = Redacted.make(new Uint8Array(Buffer.from(environment["MASTER_KEY"] ?? "", "base64")))
    const [found] = yield* postgres.query(
      database,
      `SELECT nextval('chain_ids')::float8 AS id, (pg_relation_size('ledger_entries') / 8192)::float8 AS pages`
    )
    const statements = linkStatements({
      chainId: Number(found?.["id"]),
      key: subkeyBytes(masterKey, "ledger-chain"),
      pages: Number(found?.["pages"])
    })
    for (const [index, statement] of statements.entries()) {
      progress(`${index} of ${statements.length}`)
      yield* postgres.query(
        database,
        statement.startsWith("VACUUM")
          ? statement
          : `SET session_replication_role = replica; SET work_mem = '256MB'; ${statement}`
      )
    }
    // the service that made the operators remembered the last links of another chain
    yield* Effect.promise(() => rm(environment["DATA_DIR"] ?? "", { recursive: true, force: true }))
  }
)

const make = Effect.fnUntraced(function*(folder: string | undefined, options: DatasetOptions) {
  const first = Effect.gen(function*() {
    const postgres = yield* startPostgres({ folder })
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const environment = environmentOn(postgres, database)
    return { ...yield* provision(environment), environment }
  })
  const { environment, key, operatorIds } = yield* Effect.scoped(first)
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1000)
  const { made, shape } = yield* Effect.scoped(Effect.gen(function*() {
    const postgres = yield* startPostgres({ folder, settings: makingSettings })
    const generated = yield* generate({
      url: postgres.url(database),
      players: options.players,
      entries: options.entries,
      endsAt: Date.now() - minuteMs,
      operatorIds,
      progress: (text) => showProgress(`generating, ${seconds()} s: ${text}`)
    })
    yield* link(postgres, environment, (text) => showProgress(`linking, ${seconds()} s: ${text}`))
    // now, and not while it is stopped: that must not take longer than one waits for it
    yield* postgres.query("postgres", "CHECKPOINT")
    return generated
  }))
  // syncs files that the server left unsynced
  yield* Effect.try({ try: () => execFileSync("sync"), catch: failedAt("sync") })
  return {
    version: 2,
    masterKey: environment["MASTER_KEY"] ?? "",
    token: environment["BACKOFFICE_TOKEN"] ?? "",
    key,
    shape,
    made,
    seconds: seconds()
  } satisfies Manifest
})

const manifestOf = (folder: string): string => join(folder, "dataset.json")

/** Approximate seconds that making the data takes; 0 where they are. */
export const secondsToMake = ({ entries, folder }: DatasetOptions): number =>
  folder !== undefined && existsSync(manifestOf(folder)) ? 0 : entries / 15_000

const readManifest = (folder: string): Effect.Effect<Manifest, BenchError> =>
  Effect.tryPromise({ try: () => readFile(manifestOf(folder), "utf8"), catch: failedAt(folder) }).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(Manifest))),
    Effect.catchTag("SchemaError", (error) => Effect.fail(failedAt(manifestOf(folder))(error)))
  )

const writeManifest = (folder: string, manifest: Manifest): Effect.Effect<Manifest, BenchError> =>
  Effect.tryPromise({
    try: async () => {
      await writeFile(manifestOf(folder), `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600 })
      return manifest
    },
    catch: failedAt(folder)
  })

const findOrMake = Effect.fnUntraced(function*(folder: string, options: DatasetOptions) {
  if (existsSync(manifestOf(folder))) return yield* readManifest(folder)
  if (existsSync(join(folder, "postgres"))) {
    return yield* new BenchError({ message: `${folder} holds a database that was not made to its end: remove it` })
  }
  return yield* writeManifest(folder, yield* make(folder, options))
})

/**
 * Fills a database with a casino's year, or opens the one that an earlier run left in the folder, and starts PostgreSQL on it with
 * the service's own settings. It ends with the scope.
 */
export const openDataset = Effect.fn("openDataset")(function*(
  options: DatasetOptions
): Effect.fn.Return<Dataset, BenchError, Scope.Scope> {
  const folder = options.folder ?? (yield* temporaryFolder)
  const manifest = yield* findOrMake(folder, options)
  endProgress()
  const { made, seconds, shape } = manifest
  const number = (value: number) => value.toLocaleString("en-US")
  yield* Console.log(
    `${number(made.players)} players, ${number(made.entries)} entries, ${
      number(made.provider_transactions)
    } provider transactions, ` +
      `${number(made.payments)} payments, ${number(Math.round(made.bytes / 2 ** 20))} MiB, made in ${seconds} s`
  )
  const postgres = yield* startPostgres({ folder })
  return {
    postgres,
    database,
    environment: {
      ...environmentOn(postgres, database),
      MASTER_KEY: manifest.masterKey,
      BACKOFFICE_TOKEN: manifest.token
    },
    operatorId: shape.operatorIds[0] ?? 0,
    key: manifest.key,
    shape,
    made,
    seconds
  }
})

/** Players with money to bet, spread over the whole of the data: active, and with no bonus that a bet could bring to its end. */
export const playersToBet = ({ database, operatorId, postgres }: Dataset, count: number) =>
  postgres.query(
    database,
    `SELECT p.id::float8 AS id FROM players p WHERE p.operator_id = $1 AND p.status = 'active'
      AND NOT EXISTS (SELECT FROM player_bonuses b WHERE b.player_id = p.id AND b.state <> 'finished')
      ORDER BY hashint8(p.id) LIMIT $2`,
    [operatorId, count]
  ).pipe(Effect.map((rows) => rows.map((row) => Number(row["id"]))))
