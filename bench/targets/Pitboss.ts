import { Effect, Schedule, Schema, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { BenchError } from "../BenchError.ts"
import { parseCommitCounts } from "../report/Prometheus.ts"
import { runToEnd, startChild } from "./Child.ts"
import { freePort } from "./FreePort.ts"
import { makeOperatorClient, type OperatorClient, operatorConcurrency } from "./OperatorClient.ts"
import type { Postgres } from "./Postgres.ts"
import type { Provisioning, Target } from "./Target.ts"

const source = join(import.meta.dirname, "..", "..", "src")
const host = "127.0.0.1"
const gameId = "bench-slot"
const database = "pitboss"

const Created = Schema.Struct({ id: Schema.Int })
const ApiKey = Schema.Struct({ key: Schema.String, secret: Schema.String })
const Provider = Schema.Struct({ id: Schema.Int, key: Schema.String, secret: Schema.String })
const Launch = Schema.Struct({ session_token: Schema.String })
const Wallet = Schema.Struct({ balance: Schema.Int })
const Verification = Schema.Struct({ violations: Schema.Array(Schema.Unknown) })
const Anything = Schema.Unknown

/** The back-office command line against the running service, as staff use it. */
const makeBackoffice = (environment: Readonly<Record<string, string>>) => {
  return <A>(schema: Schema.Codec<A, unknown>, words: ReadonlyArray<string>): Effect.Effect<A, BenchError> =>
    runToEnd({
      name: `backoffice ${words.slice(0, 2).join(" ")}`,
      args: [join(source, "cli.ts"), ...words, "--json"],
      environment
    }).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Schema.fromJsonString(schema))),
      Effect.timeoutOrElse({
        duration: "5 minutes",
        orElse: () => Effect.fail(new BenchError({ message: `backoffice ${words.join(" ")} does not end` }))
      }),
      Effect.catchTag(
        "SchemaError",
        (error) => Effect.fail(new BenchError({ message: `backoffice ${words.join(" ")}: ${error.message}` }))
      )
    )
}

const get = (url: string): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]) })
      if (!response.ok) throw new Error(String(response.status))
      return response.text()
    },
    catch: (error) => new BenchError({ message: `${url}: ${error instanceof Error ? error.message : String(error)}` })
  })

interface Player {
  readonly id: number
  readonly sessionToken: string
}

/** Registers one player, gives it money, and opens a wallet session in the game. */
const provisionPlayer = Effect.fnUntraced(function*(
  operator: OperatorClient,
  game: number,
  number: number,
  { currency, openingBalance }: Provisioning
): Effect.fn.Return<Player, BenchError> {
  const players = "/api/v1/operator/players"
  const { id } = yield* operator.call("POST", players, {
    username: `bench-${number}`,
    email: `bench-${number}@players.example`,
    first_name: "Bench",
    last_name: `Player ${number}`,
    birth_date: "1990-01-01",
    country: "MT",
    terms_accepted: true,
    currency
  }, Created)
  yield* operator.call("POST", `${players}/${id}/deposits`, {
    amount: openingBalance,
    external_reference: `bench-${number}`,
    payment_method: "bench"
  }, Anything)
  const launch = yield* operator.call("POST", `${players}/${id}/games/${game}/launch`, { mode: "real" }, Launch)
  return { id, sessionToken: launch.session_token }
})

/**
 * Starts the service on a database of its own on the common server and makes it ready as a customer would: staff
 * create operator, key, provider, game and payment method on the command line, the operator registers players, records
 * their deposits and launches the game.
 */
export const startPitboss = (
  postgres: Postgres,
  provisioning: Provisioning,
  progress: (text: string) => void
): Effect.Effect<Target, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const [port, backofficePort] = [yield* freePort, yield* freePort]
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const environment = {
      HOST: host,
      PORT: String(port),
      BACKOFFICE_PORT: String(backofficePort),
      DATABASE_URL: postgres.url(database),
      DATA_DIR: join(postgres.folder, "pitboss"),
      DEMO: "off",
      MASTER_KEY: randomBytes(32).toString("base64"),
      BACKOFFICE_TOKEN: randomBytes(24).toString("hex")
    }
    const child = yield* startChild({ name: "pitboss", args: [join(source, "main.ts")], environment })
    yield* get(`http://${host}:${port}/health/ready`).pipe(
      Effect.retry({ schedule: Schedule.spaced("200 millis"), times: 300 }),
      Effect.raceFirst(child.ended)
    )

    const backoffice = makeBackoffice(environment)
    const create = (noun: string, flags: Readonly<Record<string, string>>) => [
      noun,
      "create",
      ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    ]
    const operator = yield* backoffice(
      Created,
      create("operator", { slug: "bench", name: "Bench", currency: provisioning.currency })
    )
    const operatorId = String(operator.id)
    const key = yield* backoffice(
      ApiKey,
      create("key", { operator: operatorId, name: "bench", "rate-limit": "10000000" })
    )
    const provider = yield* backoffice(
      Provider,
      create("provider", {
        slug: "bench-provider",
        name: "Bench provider",
        "launch-url": "https://games.example/launch?token={token}&game={game}&mode={mode}"
      })
    )
    const game = yield* backoffice(
      Created,
      create("game", {
        provider: String(provider.id),
        "external-id": gameId,
        name: "Bench slot",
        type: "rng",
        category: "slots",
        rtp: "96"
      })
    )
    yield* backoffice(
      Anything,
      create("payment-method", {
        operator: operatorId,
        code: "bench",
        name: "Bench",
        currencies: provisioning.currency,
        "max-deposit": String(provisioning.openingBalance)
      })
    )

    const client = yield* makeOperatorClient(`http://${host}:${port}`, key.key, key.secret)
    let ready = 0
    const players = yield* Effect.forEach(
      Array.from({ length: provisioning.players }, (_, index) => index + 1),
      (number) =>
        provisionPlayer(client, game.id, number, provisioning).pipe(
          Effect.tap(() => Effect.sync(() => progress(`pitboss: ${++ready} of ${provisioning.players} players`)))
        ),
      { concurrency: operatorConcurrency }
    ).pipe(Effect.raceFirst(child.ended))

    return {
      name: "pitboss",
      pid: child.pid,
      host,
      port,
      providerKey: provider.key,
      secret: provider.secret,
      gameId,
      sessionTokens: players.map((player) => player.sessionToken),
      balances: (count) =>
        Effect.forEach(
          players.slice(0, count),
          (player) => client.call("GET", `/api/v1/operator/players/${player.id}/wallet`, undefined, Wallet),
          { concurrency: operatorConcurrency }
        ).pipe(Effect.map((wallets) => wallets.map(({ balance }) => balance))),
      commits: get(`http://${host}:${backofficePort}/metrics`).pipe(
        Effect.map(parseCommitCounts),
        Effect.orElseSucceed(() => undefined)
      ),
      audit: backoffice(Verification, ["ledger", "verify", "--operator", operatorId]).pipe(
        Effect.map(({ violations }) => violations.slice(0, 10).map((found) => `pitboss: ${JSON.stringify(found)}`))
      )
    }
  })
