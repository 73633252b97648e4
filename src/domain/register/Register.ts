/** National registers of excluded players: their kinds, the events at which one is asked, and the verdicts. */
import { Schema } from "effect"

/** Wire formats of registers; `generic` is that of an intermediary. */
export const registerKinds = ["gamstop", "spelpaus", "rofus", "cruks", "oasis", "generic"] as const

export type RegisterKind = (typeof registerKinds)[number]

/** What an operator is connected to: registers, and a screening against lists of sanctions and of politically exposed persons. */
export const connectionKinds = [...registerKinds, "screening"] as const

export type ConnectionKind = (typeof connectionKinds)[number]

/** Moments at which a profile has a register asked. */
export const registerEvents = ["registration", "login", "play", "deposit", "marketing"] as const

export type RegisterEvent = (typeof registerEvents)[number]

/** Why a register is asked: at one of the moments, or to renew an answer. */
export const questionEvents = [...registerEvents, "refresh"] as const

export type QuestionEvent = (typeof questionEvents)[number]

/** What a proper answer says of a person; `previous`: was excluded before, and may play. */
export const registerVerdicts = ["clear", "excluded", "previous"] as const

export type RegisterVerdict = (typeof registerVerdicts)[number]

/** Outcomes of a question: the verdict of a proper answer, or `unavailable`, which says nothing of the person. */
export const checkVerdicts = [...registerVerdicts, "unavailable"] as const

export type CheckVerdict = (typeof checkVerdicts)[number]

/** Why somebody is screened. */
export const screeningEvents = ["registration", "identity", "rescreen"] as const

export type ScreeningEvent = (typeof screeningEvents)[number]

/** Events and verdicts of kept checks, of registers and of screenings. */
export const keptEvents = [...questionEvents, "identity", "rescreen"] as const
export const keptVerdicts = [...checkVerdicts, "hit"] as const

const hitCategories = ["pep", "sanction"] as const

/** Somebody on a list who may be the person. */
export const Hit = Schema.Struct({
  list: Schema.String.check(Schema.isMaxLength(200)),
  category: Schema.Literals(hitCategories),
  score: Schema.Finite,
  name: Schema.String.check(Schema.isMaxLength(300))
})

export type Hit = typeof Hit.Type

/** The last proper answer of a register about a player. */
export const RegisterStanding = Schema.Struct({
  kind: Schema.Literals(registerKinds),
  verdict: Schema.Literals(registerVerdicts),
  /** When it was answered, epoch milliseconds. */
  at: Schema.Number
})

export type RegisterStanding = typeof RegisterStanding.Type

/**
 * Standings of a player as carried in memory, one number for each register: the time in milliseconds times 32, the place of the kind times 4, and the
 * place of the verdict. Every player of a jurisdiction with a register carries one; as an object it would be four times as large.
 */
export type PackedStandings = ReadonlyArray<number>

const kindSteps = 4
const timeSteps = 32

export const packStanding = ({ at, kind, verdict }: RegisterStanding): number =>
  at * timeSteps + registerKinds.indexOf(kind) * kindSteps + registerVerdicts.indexOf(verdict)

const unpack = (packed: number): RegisterStanding => ({
  kind: registerKinds[Math.floor(packed % timeSteps / kindSteps)] ?? "generic",
  verdict: registerVerdicts[packed % kindSteps] ?? "excluded",
  at: Math.floor(packed / timeSteps)
})

/** The standings that the numbers stand for. */
export const standingsOf = (packed: PackedStandings): ReadonlyArray<RegisterStanding> => packed.map(unpack)

/** The standing with one register; undefined before its first proper answer. */
export const standingWith = (packed: PackedStandings, kind: RegisterKind): RegisterStanding | undefined =>
  standingsOf(packed).find((one) => one.kind === kind)

/** The standings with this one in the place of the earlier one of its register. */
export const withStanding = (packed: PackedStandings, standing: RegisterStanding): PackedStandings => [
  ...standingsOf(packed).filter(({ kind }) => kind !== standing.kind).map(packStanding),
  packStanding(standing)
]

const excluding = registerVerdicts.indexOf("excluded")

/** Whether the last proper answer of a register excludes the player. On the path of a bet. */
export const isRegisterExcluded = (packed: PackedStandings): boolean =>
  packed.some((one) => one % kindSteps === excluding)
