/**
 * Versions of all profiles in memory, so that a decision asks nobody. A change of this process, or told by another node, shows at once; any other
 * within two seconds.
 */
import { Clock, Context, Effect, Layer, Result, Schema, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { Notices } from "../cluster/Notices.ts"
import { type Factor, oneForOne, parseFactor } from "../domain/CurrencyConversion.ts"
import { builtInProfiles } from "../domain/jurisdiction/BuiltIn.ts"
import { noneCode, Profile } from "../domain/jurisdiction/Profile.ts"
import {
  hasAmounts,
  type InForce,
  inForce,
  noRules,
  type ProfileVersion,
  type Rules,
  rulesIn
} from "../domain/jurisdiction/Rules.ts"
import { ServingClient } from "../platform/Database.ts"
import { toDate } from "../platform/Time.ts"
import { Instant } from "../domain/Instant.ts"
import { oneOf, rowsOf } from "./Rows.ts"

const versionRows = rowsOf(Schema.Struct({
  code: Schema.String,
  version: Schema.Number,
  document: Schema.Unknown,
  validFrom: Instant,
  looserFrom: Instant,
  isApproved: Schema.Boolean
}))

const decodeDocument = Schema.decodeUnknownResult(Profile)

const factorRows = rowsOf(Schema.Struct({ code: Schema.String, currency: Schema.String, factor: Schema.String }))

const countRows = rowsOf(Schema.Struct({ versions: Schema.Number, approved: Schema.Number, factors: Schema.Number }))

/** Versions of each code, and the factors of the currencies that it has met. */
interface Book {
  readonly versions: ReadonlyMap<string, ReadonlyArray<ProfileVersion>>
  /** By code and currency. */
  readonly factors: ReadonlyMap<string, Factor>
}

const firstVersion = (document: Profile): ProfileVersion => ({
  version: 1,
  validFrom: 0,
  looserFrom: 0,
  isApproved: true,
  document
})

const builtIn: Book = {
  versions: new Map(builtInProfiles.map((document) => [document.code, [firstVersion(document)]])),
  factors: new Map()
}

const keyOf = (code: string, currency: string): string => `${code} ${currency}`

interface Held {
  readonly rules: Rules
  readonly until: number
}

/** Reads of one book. What was put together is kept until it is over: as many as there are codes and currencies. */
const readerOf = (book: Book) => {
  /** By code and currency: a command looks up two texts that it has, and makes none. */
  const held = new Map<string, Map<string, Held>>()
  const factorOf = (code: string, own: string, currency: string) =>
    currency === own ? oneForOne : book.factors.get(keyOf(code, currency))
  const current = (code: string, now: number): InForce | undefined => inForce(book.versions.get(code) ?? [], now)
  return {
    book,
    current,
    rulesOf: (code: string, currency: string, now: number): Rules | undefined => {
      // the rules of the API itself, which no version changes
      if (code === noneCode) return noRules
      const ofCode = held.get(code) ?? new Map<string, Held>()
      const found = ofCode.get(currency)
      if (found !== undefined && now < found.until) return found.rules
      const version = current(code, now)
      if (version === undefined) return undefined
      const factor = hasAmounts(version.profile) ? factorOf(code, version.profile.currency, currency) : oneForOne
      if (factor === undefined) return undefined
      const rules = rulesIn(version, factor)
      held.set(code, ofCode.set(currency, { rules, until: version.until }))
      return rules
    }
  }
}

interface Counted {
  readonly versions: number
  readonly approved: number
  readonly factors: number
}

const isSame = (one: Counted, other: Counted): boolean =>
  one.versions === other.versions && one.approved === other.approved && one.factors === other.factors

type Reader = ReturnType<typeof readerOf>

export class ProfileBook extends Context.Service<ProfileBook, {
  /**
   * The rules of a code in a player's currency at `now` (epoch milliseconds): the same object until a version begins. Undefined for a code or a
   * currency that this process has not heard of yet.
   */
  readonly rulesOf: Reader["rulesOf"]
  /** What counts of a code at `now`; undefined for an unknown code. */
  readonly current: Reader["current"]
  /** The versions of each code. */
  readonly versions: () => Book["versions"]
  /**
   * Makes the rules of a code count in a currency: keeps the factor of now where none is kept. False where they have amounts and there is no rate.
   */
  readonly meet: (code: string, currency: string) => Effect.Effect<boolean, SqlError.SqlError>
  /** Reads again, here and on every node: to be called after every committed change. */
  readonly refresh: Effect.Effect<void>
}>()("pitboss/store/ProfileBook") {
  /** The built-in profiles, without a database. */
  static readonly layerBuiltIn = Layer.sync(ProfileBook, () => builtInBook)

  static readonly layer = Layer.effect(
    ProfileBook,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      let reader = readerOf(builtIn)
      let read = { versions: 0, approved: 0, factors: 0 }
      // one at a time: an older reading must not overwrite a newer one
      const refreshing = yield* Semaphore.make(1)
      const readAll = Effect.gen(function*() {
        // rows are added and approved, never changed otherwise; the same book keeps the objects that players refer to
        const counted = yield* oneOf(countRows(
          sql`SELECT count(*)::float8 AS versions, count(approved_at)::float8 AS approved,
              (SELECT count(*) FROM profile_factors)::float8 AS factors FROM profile_versions`
        ))
        if (counted === undefined || isSame(counted, read)) return
        const rows = yield* versionRows(
          sql`SELECT code, version, document, valid_from AS "validFrom", looser_from AS "looserFrom",
              approved_at IS NOT NULL AS "isApproved" FROM profile_versions ORDER BY code, version`
        )
        const factors = yield* factorRows(sql`SELECT code, currency, factor::text AS factor FROM profile_factors`)
        read = counted
        const versions = new Map(builtIn.versions)
        const unread: Array<string> = []
        for (const { code, document, ...version } of rows) {
          const decoded = decodeDocument(document)
          if (Result.isFailure(decoded)) unread.push(`${code} ${version.version}`)
          else versions.set(code, [...versions.get(code) ?? [], { ...version, document: decoded.success }])
        }
        // without one of its versions a code would have looser rules: its players wait for it
        for (const one of unread) versions.delete(one.split(" ", 1)[0] ?? "")
        if (unread.length > 0) {
          yield* Effect.annotateLogs(Effect.logError("stored profile not understood"), { profiles: unread })
        }
        reader = readerOf({
          versions,
          factors: new Map(factors.flatMap(({ code, currency, factor }) => {
            const parsed = parseFactor(factor)
            return parsed === undefined ? [] : [[keyOf(code, currency), parsed]]
          }))
        })
      })
      const refreshHere = readAll.pipe(
        // while the database is unavailable nothing can be bet either; the next reading follows in a second
        Effect.ignoreCause,
        refreshing.withPermits(1)
      )
      yield* refreshHere
      const refresh = (yield* Notices).define("profiles", () => refreshHere)("")
      yield* Effect.sleep("1 second").pipe(Effect.andThen(refreshHere), Effect.forever, Effect.forkScoped)
      const meet = Effect.fn("ProfileBook.meet")(function*(code: string, currency: string) {
        const now = yield* Clock.currentTimeMillis
        const counting = reader.current(code, now)
        if (counting === undefined) return false
        // also where the profile has no amounts yet: a later version may, and nothing could be decided about its players
        const isKept = code === noneCode || currency === counting.profile.currency ||
          reader.book.factors.has(keyOf(code, currency))
        if (isKept) return true
        yield* sql`INSERT INTO profile_factors (code, currency, factor, created_at)
          SELECT ${code}, currency, factor, ${toDate(now)} FROM exchange_rates
          WHERE currency = ${currency} AND base = ${counting.profile.currency} ORDER BY id DESC LIMIT 1
          ON CONFLICT DO NOTHING`
        yield* refresh
        return reader.rulesOf(code, currency, now) !== undefined
      })
      return serviceOf(() => reader, refresh, meet)
    })
  )
}

const serviceOf = (
  reader: () => Reader,
  refresh: Effect.Effect<void>,
  meet: ProfileBook["Service"]["meet"]
) =>
  ProfileBook.of({
    rulesOf: (code, currency, now) => reader().rulesOf(code, currency, now),
    current: (code, now) => reader().current(code, now),
    versions: () => reader().book.versions,
    meet,
    refresh
  })

const builtInReader = readerOf(builtIn)

/** The built-in profiles; a currency of another than the profile's own has no factor. */
export const builtInBook = serviceOf(
  () => builtInReader,
  Effect.void,
  (code, currency) =>
    Effect.map(Clock.currentTimeMillis, (now) => builtInReader.rulesOf(code, currency, now) !== undefined)
)
