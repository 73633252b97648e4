/** What makes events happen in a sandbox: calls of its operator and, where the staff token is there, of staff. Each step is told. */
import { Effect, Schema } from "effect"
import type * as OperatorClient from "../../src/client/OperatorClient.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { type StaffCall, staffOperator } from "../listen/Credentials.ts"

type Operator = OperatorClient.OperatorClient

type Rules = Effect.Success<ReturnType<Operator["profiles"]["get"]>>["data"]

interface Failure {
  readonly message: string
  readonly code?: string
  readonly details?: { readonly [name: string]: unknown }
}

const reasonOf = ({ code, details, message }: Failure): string =>
  code === undefined
    ? message
    : `${code}: ${message}${code === "VALIDATION_FAILED" ? ` ${JSON.stringify(details)}` : ""}`

/** Amounts in minor units: a deposit, a withdrawal where its method takes less, and a bonus. */
const depositAmount = 10_000
const withdrawalAmount = 1000
const bonusAmount = 1000

/** Rules that every kind of obligation, check and register appears in. */
const fullProfile = "gb"

const Registers = Schema.Array(Schema.Struct({ kind: Schema.String, active: Schema.Boolean }))
const Made = Schema.Struct({ id: Schema.Int })

/** Length of the pause between two looks at a clock that goes on. */
const clockPause = "200 millis"

/** `run`: what names of this run begin with. */
export const makeSandbox = (
  { operator, run, slug, staff }: {
    readonly operator: Operator
    readonly slug: string
    readonly staff: StaffCall | undefined
    readonly run: string
  }
) => {
  const steps: Array<string> = []

  const step = <A, R>(
    what: (answer: A) => string,
    name: string,
    call: Effect.Effect<A, Failure, R>
  ): Effect.Effect<A, StartupError, R> =>
    call.pipe(
      Effect.mapError((error) => new StartupError({ message: `cannot ${name}: ${reasonOf(error)}` })),
      Effect.tap((answer) => Effect.sync(() => steps.push(what(answer))))
    )

  /** A step of staff; fails with what staff would have to do where nobody of them acts. */
  const byStaff = Effect.fnUntraced(function*<A>(
    done: string,
    missing: string,
    schema: Schema.Codec<A, unknown>,
    ...[method, path, payload]: Parameters<StaffCall>
  ) {
    if (staff === undefined) {
      return yield* new StartupError({ message: `${missing}, or use --operator ${slug} with the staff token` })
    }
    return yield* step(
      () => `staff: ${done}`,
      done,
      staff(method, path, payload).pipe(
        Effect.flatMap((data) =>
          Effect.mapError(
            Schema.decodeUnknownEffect(schema)(data),
            () => new StartupError({ message: "an answer of another form" })
          )
        )
      )
    )
  })

  /** Registers a player under these rules, in whose currency their amounts are; else under those of no jurisdiction where the operator has them. */
  const register = Effect.fnUntraced(function*(rules?: Rules) {
    const offered = yield* read("read the jurisdictions", operator.profiles.list())
    const code = rules?.code ?? offered.data.find((profile) => profile.code === "none")?.code
    const { data } = yield* step(
      ({ data: { id, username } }) => `registered player ${id}, ${username}`,
      "register a player",
      operator.players.register({
        payload: {
          username: `trigger_${run}`,
          email: `trigger_${run}@players.example`,
          first_name: "Ada",
          last_name: `Trigger-${run}`,
          birth_date: "1990-12-31",
          country: "GB",
          city: "London",
          // the same one would be an alert about several accounts
          address: `${run} Example Street`,
          zip_code: "SW1A 1AA",
          terms_accepted: true,
          ...code === undefined ? {} : { jurisdiction: code },
          ...rules === undefined ? {} : { currency: rules.currency }
        }
      })
    )
    return data.id
  })

  const read = <A, R>(name: string, call: Effect.Effect<A, Failure, R>) =>
    Effect.mapError(call, (error) => new StartupError({ message: `cannot ${name}: ${reasonOf(error)}` }))

  const deposit = (player: number) =>
    step(
      ({ data }) => `deposited ${data.amount} for player ${player}: deposit ${data.id}`,
      "deposit",
      operator.payments.deposit({
        params: { player },
        payload: { amount: depositAmount, external_reference: `trigger-deposit-${run}` }
      })
    )

  const verify = (player: number) =>
    step(
      () => `verified the identity of player ${player}`,
      "verify the identity",
      operator.sandbox.moveKyc({ params: { player }, payload: { status: "verified" } })
    )

  /** A player who has asked for a withdrawal. */
  const withdrawal = Effect.gen(function*() {
    const methods = yield* read("read the payment methods", operator.payments.methods())
    const found = methods.data.find(({ supports_withdrawal: supports }) => supports)
    if (found === undefined) {
      yield* byStaff(
        "added the payment method trigger",
        `a payment method is needed: pitboss payment-method create --operator ${slug} --code bank`,
        Made,
        "POST",
        "/payment-methods",
        { operator: slug, code: "trigger", name: "Trigger" }
      )
    }
    const player = yield* register()
    yield* deposit(player)
    yield* verify(player)
    const { data } = yield* step(
      ({ data: { amount, id } }) => `asked for a withdrawal of ${amount}: withdrawal ${id}`,
      "ask for a withdrawal",
      operator.payments.withdraw({
        params: { player },
        payload: {
          amount: Math.min(depositAmount, Math.max(withdrawalAmount, found?.min_withdrawal ?? 0)),
          payment_method: found?.code ?? "trigger",
          external_reference: `trigger-withdrawal-${run}`
        }
      })
    )
    return { player, payment: data.id }
  })

  const moveWithdrawal = (payment: number, move: "approve" | "pay" | "reject") =>
    step(
      ({ data: { status } }) => `withdrawal ${payment} is ${status}`,
      `${move} the withdrawal`,
      operator.sandbox[move]({ params: { payment } })
    )

  /** A player with a bonus. */
  const bonus = Effect.gen(function*() {
    const { data: catalogue } = yield* read("read the bonuses", operator.bonuses.catalogue())
    // one that has to be wagered, and is granted without a deposit
    const found = catalogue.find(({ type, wagering_multiplier: times }) => type === "no_deposit" && times > 0)
    const bonusId = found?.id ?? (yield* byStaff(
      "added a bonus",
      `a bonus is needed: pitboss bonus create --operator ${slug} --name Welcome --type no_deposit --default-amount 1000`,
      Made,
      "POST",
      "/bonuses",
      {
        operator: slug,
        name: "Trigger",
        type: "no_deposit",
        default_amount: bonusAmount,
        wagering_multiplier: 3,
        valid_days: 7
      }
    )).id
    const player = yield* register()
    const { data } = yield* step(
      ({ data: { amount, id } }) => `granted a bonus of ${amount} to player ${player}: bonus ${id}`,
      "grant a bonus",
      operator.bonuses.grant({ params: { player }, payload: { bonus_id: bonusId } })
    )
    return { player, expiresAt: data.expires_at }
  })

  /** Advances the sandbox's clock, and waits until all is done that fell due. */
  const advance = Effect.fnUntraced(function*(by: { readonly to: string } | { readonly seconds: number }) {
    const clock = step(
      ({ data: { now } }) => `advanced the sandbox's clock to ${now}`,
      "advance the clock",
      Effect.gen(function*() {
        let answer = yield* operator.sandbox.advanceClock({ payload: by })
        while (answer.data.advancing) {
          yield* Effect.sleep(clockPause)
          answer = yield* operator.sandbox.clock()
        }
        return answer
      })
    )
    yield* clock
  })

  /** A jurisdiction of the operator whose rules have something; with the staff token one is added where there is none. */
  const jurisdiction = Effect.fnUntraced(function*(what: string, suits: (rules: Rules) => boolean) {
    const { data: offered } = yield* read("read the jurisdictions", operator.profiles.list())
    for (const { code } of offered) {
      const { data: rules } = yield* read(`read ${code}`, operator.profiles.get({ params: { code } }))
      if (suits(rules)) return rules
    }
    const missing = `a jurisdiction with ${what} is needed: pitboss operator update ${slug} --profiles ` +
      [...offered.map(({ code }) => code), fullProfile].join(",")
    const profiles = staff === undefined ? [] : (yield* staffOperator(staff, slug)).profiles
    yield* byStaff(`offered the jurisdiction ${fullProfile}`, missing, Made, "PATCH", `/operators/${slug}`, {
      profiles: [...profiles, fullProfile]
    })
    const known = yield* byStaff("read the registers", missing, Registers, "GET", `/registers?operator=${slug}`)
    const { data: rules } = yield* read(
      `read ${fullProfile}`,
      operator.profiles.get({ params: { code: fullProfile } })
    )
    for (const { kind } of rules.registers) {
      if (known.some((register) => register.kind === kind && register.active)) continue
      // a sandbox sends nothing: the address is only one of the right form
      const address = "https://register.example/"
      yield* byStaff(`connected the simulated register ${kind}`, missing, Made, "POST", "/registers", {
        operator: slug,
        kind,
        settings: { url: address, batch_url: address, api_key: "simulated" }
      })
    }
    return rules
  })

  /** Answers what the rules ask of a new player. */
  const settle = Effect.fnUntraced(function*(player: number, { limits: { prompt, required } }: Rules) {
    if (prompt) {
      yield* step(
        () => `player ${player} declines to set limits`,
        "answer the question for limits",
        operator.obligations.acknowledge({
          params: { player },
          payload: { kind: "limit_prompt", answer: "decline" }
        })
      )
    }
    if (required.length > 0) {
      yield* setLimits(
        player,
        required.flatMap(([field]) => field === undefined ? [] : [field]),
        600
      )
    }
  })

  const setLimits = (
    player: number,
    fields: ReadonlyArray<Rules["limits"]["required"][number][number]>,
    value: number
  ) =>
    step(
      () => `set ${fields.join(", ")} of player ${player} to ${value}`,
      "set the limits",
      operator.responsible_gaming.setLimits({
        params: { player },
        payload: { limits: Object.fromEntries(fields.map((field) => [field, value])) }
      })
    )

  /** Signs a player in, by which the registers are asked. */
  const signIn = (player: number) =>
    Effect.asVoid(Effect.option(operator.players.issueToken({ params: { player } }))).pipe(
      Effect.tap(() => Effect.sync(() => steps.push(`player ${player} signs in, and the register is asked`)))
    )

  const rename = (player: number, lastName: string) =>
    step(
      () => `player ${player} is now called ${lastName}`,
      "change the name",
      operator.players.update({ params: { player }, payload: { last_name: lastName } })
    )

  return {
    operator,
    run,
    steps,
    step,
    read,
    register,
    deposit,
    verify,
    withdrawal,
    moveWithdrawal,
    bonus,
    advance,
    jurisdiction,
    settle,
    setLimits,
    signIn,
    rename,
    /** A game that is launched like every other. */
    game: Effect.flatMap(
      Effect.mapError(
        operator.games.list({ query: { per_page: 1 } }),
        (error) => new StartupError({ message: `cannot read the games: ${reasonOf(error)}` })
      ),
      ({ data: [game] }) =>
        game === undefined
          ? Effect.fail(new StartupError({ message: "a game is needed: pitboss game create --help" }))
          : Effect.succeed(game.id)
    )
  }
}

export type Sandbox = ReturnType<typeof makeSandbox>

/** The last name that the simulated register says is excluded. */
export const excludedName = "Excluded"
