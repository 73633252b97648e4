/** Players of the demo operator, and their money. */
import { Effect, Equal } from "effect"
import type { Entrant } from "../simulators/Play.ts"
import type { PlayerSession } from "../simulators/PlayerSession.ts"
import type { RunStats } from "../simulators/RunStats.ts"
import type { Scenario } from "../simulators/Scenarios.ts"
import { Answers } from "./Nodes.ts"
import { type Service, told } from "./Service.ts"

/** Initial deposit of each player, in minor units. */
const openingDeposit = 10_000

/** Below this the operator records a deposit first, so that the stakes of any scenario are covered. */
const enough = 3000
const topUp = 5000

export interface Account {
  readonly id: number
  readonly username: string
  readonly currency: string
}

export interface AccountOptions {
  readonly service: Service
  /** Unique to the run. */
  readonly run: string
  readonly number: number
}

const paymentOf = (id: number, amount: number, external_reference: string) => ({
  params: { player: id },
  payload: { amount, external_reference, payment_method: "card" }
})

export const registrationOf = ({ number, run, service }: AccountOptions) => {
  const username = `demo_${run}_${number}`
  return {
    username,
    email: `${username}@players.example`,
    first_name: "Demo",
    last_name: `Player${number}`,
    terms_accepted: true as const,
    ...service.resident(number)
  }
}

/** Registers a player and deposits. */
export const openAccount = Effect.fnUntraced(function*(options: AccountOptions) {
  const { number, run, service: { operator } } = options
  const payload = registrationOf(options)
  const { currency, username } = payload
  const { data: { id } } = yield* told("the registration", operator.players.register({ payload }))
  yield* told("the first deposit", operator.payments.deposit(paymentOf(id, openingDeposit, `${run}-${number}-opening`)))
  return { id, username, currency } satisfies Account
})

/** Launches a game. */
export const launchGame = ({ operator }: Service, player: number, game: number, mode: "real" | "demo") =>
  Effect.map(
    told("the launch", operator.games.launch({ params: { player, game }, payload: { mode } })),
    ({ data }) => data
  )

/** Records a deposit as the operator, repeats it in both ways that are harmless, and checks the answers. */
const makeDeposit = (account: Account, { operator }: Service, stats: RunStats, pace: Effect.Effect<void>) =>
  Effect.fnUntraced(function*(player: PlayerSession, amount: number) {
    const reference = player.newId()
    const name = `${account.username}: deposit ${reference}`
    const check = (what: string, expected: unknown, actual: unknown): void => {
      if (Equal.equals(expected, actual)) return
      stats.differ(`${name}${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
    }
    const request = paymentOf(account.id, amount, reference)
    const pay = Effect.fnUntraced(function*(idempotencyKey?: string) {
      yield* pace
      stats.calls++
      const answers: typeof Answers.Service = []
      const { data } = yield* operator.payments.deposit(request, idempotencyKey === undefined ? {} : { idempotencyKey })
        .pipe(Effect.provideService(Answers, answers))
      return { data, response: answers.at(-1) }
    })
    const first = yield* pay(reference)
    player.noteDeposit(amount)
    const retried = yield* pay(reference)
    const repeated = yield* pay()
    stats.countAnswer("deposit", "deposit repeated", "deposit repeated")
    const { external_reference, id, player_id, status, type } = first.data
    check(
      "",
      { type: "deposit", status: "paid", player_id: account.id, amount, external_reference: reference },
      { type, status, player_id, amount: first.data.amount, external_reference }
    )
    check(", same Idempotency-Key", { status: 201, replayed: "true", data: first.data }, {
      status: retried.response?.status,
      replayed: retried.response?.headers["idempotent-replayed"],
      data: retried.data
    })
    check(", same reference", { status: 200, id }, { status: repeated.response?.status, id: repeated.data.id })
  }, Effect.catch(({ message }) => Effect.sync(() => stats.differ(`${account.username}: a deposit: ${message}`))))

export interface PlayingOptions extends AccountOptions {
  readonly stats: RunStats
  /** Waits for the turn of the next call. */
  readonly pace: Effect.Effect<void>
}

/** Registers a player, deposits, and launches a game, for money and in free play. */
export const enter = Effect.fnUntraced(function*({ number, pace, run, service, stats }: PlayingOptions) {
  const { games } = service
  const game = games[(number - 1) % games.length] ?? games[0]
  const account = yield* openAccount({ number, run, service })
  const { session_token: token } = yield* launchGame(service, account.id, game.id, "real")
  const { session_token: freePlayToken } = yield* launchGame(service, account.id, game.id, "demo")
  const deposit = makeDeposit(account, service, stats, pace)
  const recorded: Scenario = {
    name: "a deposit, recorded three times",
    weight: 3,
    isPossible: () => true,
    play: (player) => deposit(player, topUp)
  }
  let ids = 0
  const entrant: Entrant = {
    session: { token, freePlayToken, playerRef: "", currency: account.currency, gameId: game.external_id },
    opening: { balance: openingDeposit, walletSeq: 1, entries: 1 },
    name: account.username,
    newId: () => `${run}-${number}-${++ids}`,
    before: (player) => player.balance() < enough ? deposit(player, topUp) : Effect.void,
    scenarios: [recorded]
  }
  return { account, entrant }
})
