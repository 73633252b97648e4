/** Types and totals of a checked import chunk, before anything is written. Pure. */
import { type ImportTotals, noTotals } from "../../../contract/moving/LineResource.ts"
import type { Arrival, ArrivingWithdrawal } from "../../../domain/moving/Arrival.ts"
import { type Refusal, refuse } from "../../../domain/Refusal.ts"
import type { Exclusion } from "../../../domain/state/Player.ts"
import { isStorable } from "../../../store/Rows.ts"
import { isObject } from "./Lines.ts"

export interface Run {
  readonly id: number
  readonly operator_id: number
  readonly name: string
  /** Audit log label of who began it. */
  readonly proposed_by: string
  readonly sends_events: boolean
  readonly bonus_id: number | null
}

/** Of lines that are checked without an import. */
export const noRun: Run = { id: 0, operator_id: 0, name: "", proposed_by: "", sends_events: false, bonus_id: null }

type Raw = { readonly [field: string]: unknown }

/** A line with its number in the file. */
export interface Numbered {
  readonly line: number
  readonly raw: Raw
}

/** A player to be written, with the totals that the line adds. */
export interface NewPlayer {
  readonly line: number
  readonly arrival: Arrival
}

/** A line that was rejected, with the reasons. */
export interface Rejection {
  readonly line: number
  readonly reasons: ReadonlyArray<string>
}

/** An open withdrawal; without an id where its player is in the file alone. */
export interface KnownWithdrawal {
  readonly line: number
  readonly playerId: number | undefined
  readonly currency: string
  readonly withdrawal: ArrivingWithdrawal
}

/** What a chunk has before anything is written. */
export interface Examined {
  readonly newcomers: ReadonlyArray<NewPlayer>
  readonly withdrawals: ReadonlyArray<Numbered>
  readonly rejected: ReadonlyArray<Rejection>
  /** Of lines that are known. */
  readonly totals: ImportTotals
}

const amountIn = (value: unknown): number => typeof value === "number" ? value : 0

const pendingIn = (currency: string, credits: ReadonlyArray<number>) =>
  credits.length === 0 ? {} : { pending_bonuses: { [currency]: credits.reduce((sum, credit) => sum + credit, 0) } }

const balancesOf = (currency: string, balance: number) => ({
  balances: { [currency]: balance },
  ...(balance < 0 ? { negative_balances: { [currency]: balance } } : {})
})

export const totalsOfPlayer = (currency: string, raw: Raw, isExcluded: boolean): ImportTotals => {
  const { bonus, pending_bonuses: waiting } = raw
  return {
    ...noTotals,
    players: 1,
    ...balancesOf(currency, amountIn(raw["balance"])),
    bonus_balances: isObject(bonus) ? { [currency]: amountIn(bonus["balance"]) } : {},
    ...pendingIn(
      currency,
      (Array.isArray(waiting) ? waiting.filter(isObject) : []).map(({ amount, interrupted }) =>
        amountIn(isObject(interrupted) ? interrupted["balance"] : amount)
      )
    ),
    exclusions: isExcluded ? 1 : 0
  }
}

export const totalsOfArrival = ({ balance, bonus, currency, exclusion, pendingBonuses }: Arrival): ImportTotals => ({
  ...noTotals,
  players: 1,
  ...balancesOf(currency, balance),
  bonus_balances: bonus === null ? {} : { [currency]: bonus.balance },
  ...pendingIn(currency, pendingBonuses.map(({ amount, interrupted }) => interrupted?.held ?? amount)),
  exclusions: exclusion === null ? 0 : 1
})

export const externalIdOf = (raw: Raw): string | undefined => {
  const id = raw["external_id"]
  return typeof id === "string" && isStorable(id) ? id.trim() : undefined
}

/** Unique names of a player who arrives, as `field value`. */
export const namesOf = ({ email, phone, username }: Arrival["texts"]): ReadonlyArray<string> => [
  `username ${username.toLowerCase()}`,
  `email ${email}`,
  ...phone === null ? [] : [`phone ${phone}`]
]

export const takenName = (name: string): string => `${name.slice(0, name.indexOf(" "))} is already taken`

export const noRules = (code: string): string =>
  `jurisdiction ${code} is not known, or has no exchange rate for the currency`

export const fieldsOf = (exclusion: Exclusion): NonNullable<Arrival["exclusion"]> => ({
  type: exclusion.type,
  since: exclusion.since,
  until: exclusion.until,
  source: exclusion.source ?? null,
  scope: exclusion.scope ?? null,
  returnFrom: exclusion.onRequest?.returnFrom ?? null,
  returnAt: exclusion.onRequest?.returnAt ?? null,
  returnWait: exclusion.onRequest?.wait ?? null
})

export const noSuchImport = refuse("NOT_FOUND", "There is no such import.")

export const refuseStatus = (status: string): Refusal<"INVALID_REQUEST"> =>
  refuse("INVALID_REQUEST", `The import is ${status} and does not allow this action.`, { status })

/** Refusal of another person than who began an import: the approver would otherwise be the maker. */
export const refuseOther = (
  { label }: { readonly label: string },
  { proposed_by }: Pick<Run, "proposed_by">
): Refusal<"INVALID_REQUEST"> | undefined =>
  label === proposed_by ? undefined : refuse(
    "INVALID_REQUEST",
    `${proposed_by} started this import: nobody else may send its lines or propose it.`,
    { proposed_by }
  )

export const otherCurrency = "external_id belongs to a player whose currency changed since the check"

export const noSuchPlayer = "external_id belongs to no player imported before"
