/** The demo under the rules of a jurisdiction: an operator of its own, and the fake of the national register that the rules have asked. */
import { Effect, FileSystem, Schema } from "effect"
import { swedishNumber } from "../../src/domain/register/PersonalNumbers.ts"
import type { RegisterKind } from "../../src/domain/register/Register.ts"
import { makeFakeRegister } from "../registers/FakeRegister.ts"
import type { People } from "../registers/People.ts"
import { print } from "../simulators/Report.ts"
import type { RunStats } from "../simulators/RunStats.ts"
import { SimulatorError } from "../simulators/SimulatorError.ts"
import { type Account, registrationOf } from "./Accounts.ts"
import { backoffice } from "./Backoffice.ts"
import { operatorWith, type Resident, type Service } from "./Service.ts"

interface Rules {
  readonly currency: string
  readonly register: RegisterKind
  readonly resident: (number: number) => Resident & { readonly personal_id: string }
}

/** A personal number by its date and number on that day, up to 999, with its check digit. */
const swedishPersonalId = (date: string, number: number): string => {
  const begun = date.replaceAll("-", "") + String(number).padStart(3, "0")
  return Array.from({ length: 10 }, (_, digit) => `${begun}${digit}`)
    .find((text) => swedishNumber(text) !== undefined) ?? begun
}

/** Far above what a run deposits. */
const largeLimit = 100_000_000

const jurisdictions: { readonly [code: string]: Rules } = {
  se: {
    currency: "SEK",
    register: "spelpaus",
    resident: (number) => {
      const birth_date = `${1990 - Math.floor(number / 1000)}-01-01`
      return {
        birth_date,
        country: "SE",
        currency: "SEK",
        personal_id: swedishPersonalId(birth_date, number % 1000),
        limits: { max_daily_deposit: largeLimit, max_weekly_deposit: largeLimit, max_monthly_deposit: largeLimit }
      }
    }
  }
}

export const jurisdictionNames = Object.keys(jurisdictions)

const Created = Schema.Struct({ id: Schema.Int })
const Key = Schema.Struct({ key: Schema.String, secret: Schema.String })

const hint = ". A register on this machine needs a service that was started with REGISTER_ALLOW_INSECURE=on"

/** Number of the person whom the register knows from the beginning. */
const excludedNumber = 0

/** The service with an operator of the jurisdiction, and what the register does for its players. */
export const enterJurisdiction = Effect.fnUntraced(
  function*({ code, run, service, stats }: {
    readonly code: string
    /** Unique to the run. */
    readonly run: string
    readonly service: Service
    readonly stats: RunStats
  }) {
    const rules = jurisdictions[code]
    if (rules === undefined) {
      return yield* new SimulatorError({ message: `${code} is none of ${jurisdictionNames.join(", ")}` })
    }
    const { currency, register: kind, resident } = rules
    const excluded = (number: number): People[number] => ({
      personal_id: resident(number).personal_id,
      verdict: "excluded"
    })
    const known = [excluded(excludedNumber)]
    const fake = yield* makeFakeRegister({ kind, people: known })
    const slug = `demo-${code}-${run}`
    const of = ["--operator", slug]
    const terms = ["--currency", currency, "--profiles", code, "--default-profile", code]
    yield* backoffice(Created, ["operator", "create", "--slug", slug, "--name", `Demo ${code}`, ...terms])
    const key = yield* backoffice(Key, ["key", "create", ...of, "--name", "Demo", "--rate-limit", "1000000"])
    yield* backoffice(Schema.Unknown, ["payment-method", "create", ...of, "--code", "card"])
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped({ prefix: "register-" }).pipe(
      Effect.tap((file) => fs.writeFileString(file, JSON.stringify(fake.settings))),
      Effect.mapError(({ message }) => new SimulatorError({ message }))
    )
    yield* backoffice(Created, ["register", "create", ...of, "--kind", kind, "--settings", file], hint)
    const inside: Service = { ...service, operator: yield* operatorWith(key, service), resident }

    /** The refusal of something that must be refused. */
    const refusalOf = <A, E extends { readonly _tag: string; readonly message: string }>(
      what: string,
      expected: string,
      call: Effect.Effect<A, E>
    ) =>
      Effect.match(call, {
        onSuccess: () => "nothing",
        onFailure: (error) => "code" in error && typeof error.code === "string" ? error.code : error.message
      }).pipe(
        Effect.tap((actual) =>
          Effect.sync(() => {
            if (actual !== expected) stats.differ(`${what}: ${actual} instead of ${expected}`)
          })
        )
      )

    yield* print(`${kind} at ${fake.url} knows one person as excluded, who cannot be registered:`)
    const stranger = { payload: registrationOf({ number: excludedNumber, run, service: inside }) }
    const registering = inside.operator.players.register(stranger)
    yield* print(
      `  ${yield* refusalOf("the registration of an excluded person", "SELF_EXCLUDED_IDENTITY", registering)}\n`
    )

    /** After the play: the register excludes one of the players, who is found at the next sign-in. */
    const excludeOne = Effect.fnUntraced(function*({ id, username }: Account, number: number) {
      fake.know([...known, excluded(number)])
      const request = { params: { player: id }, payload: { ttl_minutes: 60 } }
      const signingIn = inside.operator.players.issueToken(request)
      const refusal = yield* refusalOf(`the sign-in of ${username}, excluded by then`, "PLAYER_RESTRICTED", signingIn)
      const closed = yield* refusalOf(
        `a deposit of ${username}, excluded by then`,
        "PLAYER_RESTRICTED",
        inside.operator.payments.deposit({
          params: { player: id },
          payload: { amount: 100, external_reference: `${run}-excluded`, payment_method: "card" }
        })
      )
      yield* print(
        `\n${kind} was asked ${fake.asked.length} times. Once it excludes ${username}: sign-in ${refusal}, deposit ${closed}`
      )
    })
    return { service: inside, excludeOne }
  }
)
