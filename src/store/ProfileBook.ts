/**
 * Jurisdiction profiles in all versions, with the factors that convert their amounts to other currencies, and the versions of operators' terms and
 * conditions: in memory, so that a decision needs no query. A change by this process, or announced by another node, applies at once, any other within
 * two seconds.
 */
import { Clock, Context, Effect, Layer, Result, Schema, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import { Notices } from "../cluster/Notices.ts"
import { type Factor, oneForOne, parseFactor } from "../domain/CurrencyConversion.ts"
import { builtInProfiles } from "../domain/jurisdiction/BuiltIn.ts"
import { rulesWhileMoving } from "../domain/jurisdiction/Moves.ts"
import { noneCode, Profile } from "../domain/jurisdiction/Profile.ts"
import {
  hasAmounts,
  type InForce,
  inForce,
  type Moved,
  noRules,
  type ProfileVersion,
  type Rules,
  rulesIn
} from "../domain/jurisdiction/Rules.ts"
import type { Player } from "../domain/state/Player.ts"
import { ServingClient } from "../platform/Database.ts"
import { RecentMap } from "../platform/RecentMap.ts"
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

const termsRows = rowsOf(Schema.Struct({ operatorId: Schema.Number, terms: Schema.String }))

const Counted = Schema.Struct({
  versions: Schema.Number,
  approved: Schema.Number,
  factors: Schema.Number,
  /** Digest of the terms of all operators. */
  terms: Schema.NullOr(Schema.String)
})

const countRows = rowsOf(Counted)

/** Versions of each code, the factors of the currencies that it has met, and the terms of operators. */
interface Book {
  readonly versions: ReadonlyMap<string, ReadonlyArray<ProfileVersion>>
  /** By code and currency. */
  readonly factors: ReadonlyMap<string, Factor>
  /** Version of the terms of each operator that has some, by its id. */
  readonly terms: ReadonlyMap<number, string>
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
  factors: new Map(),
  terms: new Map()
}

const keyOf = (code: string, currency: string): string => `${code} ${currency}`

interface Held {
  readonly rules: Rules
  readonly until: number
}

/** Rules of players who were moved lately that are kept, at most. */
const maxMoved = 1000

type Ruled = Pick<Player, "currency" | "operatorId"> & { readonly rules: Pick<Rules, "code" | "moved"> }

interface WhileMoving {
  readonly before: Rules
  readonly elsewhere: Rules
  readonly rules: Rules
}

/** Reads of one book. What was put together is kept until it is over: as many as there are terms, codes and currencies. */
const readerOf = (book: Book) => {
  /** By terms, code and currency: a command looks up texts that it has, and makes none. */
  const held = new Map<string | null, Map<string, Map<string, Held>>>()
  const factorOf = (code: string, own: string, currency: string) =>
    currency === own ? oneForOne : book.factors.get(keyOf(code, currency))
  const current = (code: string, now: number): InForce | undefined => inForce(book.versions.get(code) ?? [], now)
  const rulesOf = (code: string, currency: string, now: number, operatorId: number): Rules | undefined => {
    const terms = book.terms.get(operatorId) ?? null
    // the rules of the API itself, which no version changes
    if (code === noneCode && terms === null) return noRules
    const ofTerms = held.get(terms) ?? new Map<string, Map<string, Held>>()
    const ofCode = ofTerms.get(code) ?? new Map<string, Held>()
    const found = ofCode.get(currency)
    if (found !== undefined && now < found.until) return found.rules
    const version = current(code, now)
    if (version === undefined) return undefined
    const factor = hasAmounts(version.profile) ? factorOf(code, version.profile.currency, currency) : oneForOne
    if (factor === undefined) return undefined
    const rules = rulesIn(version, factor, terms)
    held.set(terms, ofTerms.set(code, ofCode.set(currency, { rules, until: version.until })))
    return rules
  }
  /** Of players who were moved lately: put together once for all of the same move. */
  const moving = new RecentMap<string, WhileMoving>(maxMoved)
  const whileMoving = (before: Rules, elsewhere: Rules, moved: Moved, key: string): Rules => {
    const found = moving.get(key)
    if (found?.before === before && found.elsewhere === elsewhere) return found.rules
    const rules = rulesWhileMoving(before, elsewhere, moved)
    moving.set(key, { before, elsewhere, rules })
    return rules
  }
  return {
    book,
    current,
    rulesOf,
    rulesFor: ({ currency, operatorId, rules: { code, moved } }: Ruled, now: number): Rules | undefined => {
      const rules = rulesOf(code, currency, now, operatorId)
      if (moved === null || rules === undefined || now >= moved.until) return rules
      const before = rulesOf(moved.from, currency, now, operatorId)
      const key = `${code} ${currency} ${operatorId} ${moved.from} ${moved.until}`
      return before === undefined ? undefined : whileMoving(before, rules, moved, key)
    }
  }
}

const isSame = (one: typeof Counted.Type, other: typeof Counted.Type): boolean =>
  one.versions === other.versions && one.approved === other.approved && one.factors === other.factors &&
  one.terms === other.terms

type Reader = ReturnType<typeof readerOf>

export class ProfileBook extends Context.Service<ProfileBook, {
  /**
   * The rules of a code in a player's currency at `now` (epoch milliseconds), with the terms of the operator: the same object until a version begins, or
   * other terms. Undefined for a code or a currency that this process has not heard of yet.
   */
  readonly rulesOf: Reader["rulesOf"]
  /** As `rulesOf`, of a player: of one who was moved lately, with what is stricter where the player was. */
  readonly rulesFor: Reader["rulesFor"]
  /** What counts of a code at `now`; undefined for an unknown code. */
  readonly current: Reader["current"]
  /** The versions of each code. */
  readonly versions: () => Book["versions"]
  /**
   * Makes the rules of a code count in a currency: keeps the factor of now where none is kept. False where they have amounts and there is no rate.
   */
  readonly meet: (code: string, currency: string) => Effect.Effect<boolean, SqlError.SqlError>
  /** Keeps the factor of now for a code and a currency where none is kept; false where there is no rate. */
  readonly keepRate: (code: string, currency: string) => Effect.Effect<boolean, SqlError.SqlError>
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
      // Kept: versions, factors, terms, reader, read, refreshing. Versions of profiles and of operators' terms, and the rules put together of them.
      // Several nodes: a change is told to all nodes; each reads again every second.
      let read: typeof Counted.Type = { versions: 0, approved: 0, factors: 0, terms: null }
      // one at a time: an older reading must not overwrite a newer one
      const refreshing = yield* Semaphore.make(1)
      const readAll = Effect.gen(function*() {
        // rows are added and approved, never changed otherwise; the same book keeps the objects that players refer to
        const counted = yield* oneOf(countRows(
          sql`SELECT count(*)::float8 AS versions, count(approved_at)::float8 AS approved,
              (SELECT count(*) FROM profile_factors)::float8 AS factors,
              (SELECT md5(string_agg(id || ' ' || terms_version, ',' ORDER BY id)) FROM operators
                WHERE terms_version IS NOT NULL) AS terms FROM profile_versions`
        ))
        if (counted === undefined || isSame(counted, read)) return
        const rows = yield* versionRows(
          sql`SELECT code, version, document, valid_from AS "validFrom", looser_from AS "looserFrom",
              approved_at IS NOT NULL AS "isApproved" FROM profile_versions ORDER BY code, version`
        )
        const factors = yield* factorRows(sql`SELECT code, currency, factor::text AS factor FROM profile_factors`)
        const terms = yield* termsRows(
          sql`SELECT id::float8 AS "operatorId", terms_version AS terms FROM operators WHERE terms_version IS NOT NULL`
        )
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
          yield* Effect.annotateLogs(Effect.logError("stored jurisdiction profile cannot be decoded"), {
            profiles: unread
          })
        }
        reader = readerOf({
          versions,
          terms: new Map(terms.map((row) => [row.operatorId, row.terms])),
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
      const keepRate = Effect.fn("ProfileBook.keepRate")(function*(code: string, currency: string) {
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
        return reader.book.factors.has(keyOf(code, currency))
      })
      const meet = Effect.fn("ProfileBook.meet")(function*(code: string, currency: string) {
        if (yield* keepRate(code, currency)) return true
        return reader.rulesOf(code, currency, yield* Clock.currentTimeMillis, 0) !== undefined
      })
      return serviceOf(() => reader, refresh, keepRate, meet)
    })
  )
}

const serviceOf = (
  reader: () => Reader,
  refresh: Effect.Effect<void>,
  keepRate: ProfileBook["Service"]["keepRate"],
  meet: ProfileBook["Service"]["meet"]
) =>
  ProfileBook.of({
    rulesOf: (code, currency, now, operatorId) => reader().rulesOf(code, currency, now, operatorId),
    rulesFor: (player, now) => reader().rulesFor(player, now),
    current: (code, now) => reader().current(code, now),
    versions: () => reader().book.versions,
    keepRate,
    meet,
    refresh
  })

/** Versions of profiles that `versions` gives, without a database; a currency of another than a profile's own has no factor. */
export const bookOf = (versions: () => Book["versions"]): ProfileBook["Service"] => {
  let reader = readerOf(builtIn)
  const current = (): Reader => {
    const now = versions()
    if (reader.book.versions !== now) reader = readerOf({ ...builtIn, versions: now })
    return reader
  }
  return serviceOf(
    current,
    Effect.void,
    () => Effect.succeed(false),
    (code, currency) =>
      Effect.map(Clock.currentTimeMillis, (now) => current().rulesOf(code, currency, now, 0) !== undefined)
  )
}

/** The built-in profiles. */
export const builtInBook = bookOf(() => builtIn.versions)
