/**
 * What the world outside knows of a licence: the versions of the profile that players are under, and a national register of excluded players that is
 * slow or does not answer while the plan has it so.
 */
import { Clock, Effect, Layer } from "effect"
import { noneProfile } from "../../../src/domain/jurisdiction/BuiltIn.ts"
import type { Profile } from "../../../src/domain/jurisdiction/Profile.ts"
import { noRules, type ProfileVersion, rulesIn } from "../../../src/domain/jurisdiction/Rules.ts"
import { oneForOne } from "../../../src/domain/CurrencyConversion.ts"
import type { CheckVerdict } from "../../../src/domain/register/Register.ts"
import type { Person } from "../../../src/registers/Register.ts"
import { Entropy } from "../../../src/platform/Entropy.ts"
import { Chain, ChainKey } from "../../../src/chain/Chain.ts"
import { RegisterPeople } from "../../../src/features/registers/RegisterPeople.ts"
import { RegisterQuestions } from "../../../src/features/registers/RegisterQuestions.ts"
import { Registers } from "../../../src/features/registers/Registers.ts"
import { bookOf, ProfileBook } from "../../../src/store/ProfileBook.ts"
import { chanceOf } from "../../kit/Chance.ts"
import { layerNoRegisters } from "../../kit/NoRegisters.ts"
import type { ProfileChange, Plan, RegisterTrouble } from "./Plan.ts"
import type { Machine } from "./World.ts"

const code = "x-simulated"
const kind = "generic"
const second = 1000
const minute = 60 * second

/** Ages of answers that the profile accepts, in ms: before a launch, and where the register does not answer before a deposit. */
export const maxAgeOfPlayMs = 10 * minute
export const maxAgeOfDepositMs = 120 * minute

/** Time in ms after which every node goes by a version. */
export const toldWithinMs = 2 * second

/** Time in ms that a question waits for its answer. */
const questionMs = 2 * second

const profileOf = (cap: number): Profile => ({
  ...noneProfile,
  code,
  name: "Simulated",
  stakes: [{ categories: ["slots"], amount: cap, under_age: null, amount_under: null }],
  registers: [{
    kind,
    on: {
      play: { max_age: "PT10M", unavailable: "refuse" },
      deposit: { max_age: "PT1H", unavailable: "last_good" }
    },
    last_good_max_age: "PT2H"
  }]
})

const firstVersion = (cap: number): ProfileVersion => ({
  version: 1,
  validFrom: 0,
  looserFrom: 0,
  isApproved: true,
  document: profileOf(cap)
})

const versionOf = (beginning: number, { at, cap, looserAfterMs }: ProfileChange, index: number): ProfileVersion => ({
  version: index + 2,
  validFrom: beginning + at,
  looserFrom: beginning + at + looserAfterMs,
  isApproved: true,
  document: profileOf(cap)
})

const changesOf = ({ faults }: Plan): ReadonlyArray<ProfileChange> =>
  faults.filter((fault) => fault.kind === "profile").toSorted((one, other) => one.at - other.at)

/** The rules of the players at the beginning. */
export const openingRules = ({ licence }: Plan) =>
  licence === null
    ? noRules
    : rulesIn({ profile: profileOf(licence.cap), version: 1 }, oneForOne)

/** Highest stake that a bet decided at `at` may have, by what a node may know then; undefined without a licence. */
export const highestStake = (plan: Plan, at: number): number | undefined => {
  if (plan.licence === null) return undefined
  const changes = changesOf(plan).map((change) => ({ ...change, from: plan.beginning + change.at }))
  /** The cap at an instant to somebody who knows of the first so many changes. */
  const capOf = (instant: number, known: number): number =>
    changes.slice(0, known).reduce((cap, { cap: next, from, looserAfterMs }) => {
      if (instant < from) return cap
      return next <= cap || instant >= from + looserAfterMs ? next : cap
    }, plan.licence?.cap ?? 0)
  const heard = changes.filter(({ from }) => from + toldWithinMs <= at).length
  return Math.max(
    ...[...changes.keys(), changes.length].filter((known) => known >= heard).map((known) => capOf(at, known))
  )
}

/** What the register says of a player at an instant of the world, ms after the beginning. */
const verdictAt = (plan: Plan, playerId: number, at: number): CheckVerdict => {
  const troubles = plan.faults.filter((fault): fault is RegisterTrouble => fault.kind === "register" && fault.at <= at)
  const own = troubles.filter((fault) => fault.effect === "excludes" && fault.playerId === playerId)
  if (own.some((fault) => at < fault.at + fault.forMs)) return "excluded"
  return own.length > 0 ? "previous" : "clear"
}

const personOf = (playerId: number): Person => ({
  firstName: "Ann",
  lastName: `Berg ${playerId}`,
  birthDate: "1990-01-01",
  email: "ann@example.com",
  phone: null,
  postcode: null,
  personalId: String(playerId),
  lastNamePrefix: null,
  birthName: null,
  birthPlace: null,
  registerCode: null
})

/** The profile book of a machine: a version is known there some time after it began, and whatever began before the machine was started. */
export const layerProfiles = (plan: Plan, machine: Machine) =>
  Layer.sync(ProfileBook, () => {
    const { beginning, licence } = plan
    const startedAt = machine.world.now
    const changes = changesOf(plan).map((change, index) => {
      const told = chanceOf(plan.seed, "told", change.id, machine.name).below(toldWithinMs)
      return { version: versionOf(beginning, change, index), from: beginning + change.at, told }
    })
    const books = [...changes.keys(), changes.length].map((known) =>
      new Map([[code, [firstVersion(licence?.cap ?? 0), ...changes.slice(0, known).map(({ version }) => version)]]])
    )
    const none = new Map<string, ReadonlyArray<ProfileVersion>>()
    // versions are told in their order
    const knownAt = (now: number): number =>
      changes.findLastIndex(({ from, told }) => from <= startedAt || from + told <= now) + 1
    return bookOf(() => books[knownAt(machine.world.now)] ?? none)
  })

/** Registers as the service asks them, over a register whose answers the plan decides. */
export const layerRegisters = (plan: Plan, machine: Machine) => {
  if (plan.licence === null) return layerNoRegisters
  const chance = chanceOf(plan.seed, "register", machine.name)
  let asked = 0
  const isTroubled = (effect: RegisterTrouble["effect"], at: number): boolean =>
    plan.faults.some((fault) =>
      fault.kind === "register" && fault.effect === effect && fault.at <= at && at < fault.at + fault.forMs
    )
  const worldAt = () => machine.world.now - plan.beginning
  const ask: RegisterQuestions["Service"]["ask"] = Effect.fnUntraced(function*(_operatorId, _kind, { person }) {
    const askedAt = yield* Clock.currentTimeMillis
    const requestId = `${machine.name}-${asked++}`
    const isSilent = isTroubled("is silent", worldAt())
    yield* Effect.sleep(
      isSilent ? questionMs : isTroubled("is slow", worldAt()) ? chance.between(200, 1900) : chance.between(1, 40)
    )
    const verdict = isSilent ? "unavailable" : verdictAt(plan, Number(person.personalId), worldAt())
    return {
      requestId,
      askedAt,
      answeredAt: yield* Clock.currentTimeMillis,
      verdict,
      responseId: null,
      registerCode: null,
      status: isSilent ? null : 200,
      fault: isSilent ? "no answer" : null
    }
  })
  return Registers.layer.pipe(
    Layer.provide([
      Layer.mock(RegisterQuestions)({ ask }),
      Layer.succeed(RegisterPeople, { of: (ids) => Effect.succeed(new Map(ids.map((id) => [id, personOf(id)]))) }),
      Chain.layer.pipe(Layer.provide([ChainKey.layerTest, Entropy.layer]))
    ])
  )
}
