import { Effect, Schema, type Scope } from "effect"
import type { BenchError } from "../BenchError.ts"
import { parseCommitCounts } from "../report/Prometheus.ts"
import { makeOperatorClient, type OperatorClient, operatorConcurrency } from "./OperatorClient.ts"
import type { Postgres } from "./Postgres.ts"
import { ApiKey, create, Created, environmentOn, get, startService, Verification } from "./Service.ts"
import type { Provisioning, Target } from "./Target.ts"

const gameId = "bench-slot"
const database = "pitboss"

const Provider = Schema.Struct({ id: Schema.Int, key: Schema.String, secret: Schema.String })
const Launch = Schema.Struct({ session_token: Schema.String })
const Wallet = Schema.Struct({ balance: Schema.Int })
const Anything = Schema.Unknown

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
    yield* postgres.query("postgres", `CREATE DATABASE ${database}`)
    const { backoffice, backofficePort, child, host, port } = yield* startService(environmentOn(postgres, database))
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
