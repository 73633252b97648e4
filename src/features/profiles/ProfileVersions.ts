/** Jurisdiction profiles in the back office: new versions and their approval (`docs/decisions/0057-jurisdictions.md`). */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { fieldIssues } from "../../contract/common/FormErrors.ts"
import { instant, integer } from "../../contract/common/Fields.ts"
import type { StaffProfile, StaffProfileSummary, StaffProfileVersion } from "../../contract/profiles/StaffApi.ts"
import { differencesOf } from "../../domain/jurisdiction/Differences.ts"
import { isOwnCode, noneCode, Profile } from "../../domain/jurisdiction/Profile.ts"
import { gameCategories } from "../../domain/jurisdiction/GameCategories.ts"
import { hasAmounts, inForce, type ProfileVersion } from "../../domain/jurisdiction/Rules.ts"
import { looserFrom } from "../../domain/limit/LimitRaise.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { objectionMessage, objectionToApproval } from "../../domain/staff/FourEyes.ts"
import { isCurrency } from "../../domain/Standards.ts"
import type { Actor } from "../../office/Actor.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import { makeStaffFacts } from "../../office/SpendingFacts.ts"
import { iso, toDate } from "../../platform/Time.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { orTryAgain, rowsOf } from "../../store/Rows.ts"

/** Versions of a code, and codes of operators' own. */
const maxVersions = 1000
const maxOwnCodes = 100

const Import = Schema.Struct({
  ...Profile.fields,
  version: Schema.optionalKey(integer(2, maxVersions)),
  valid_from: Schema.optionalKey(instant)
})

const decodeImport = Schema.decodeUnknownResult(Import, { errors: "all", onExcessProperty: "error" })

const useRows = rowsOf(Schema.Struct({ isUsed: Schema.Boolean, hours: Schema.Number }))

const countRows = rowsOf(Schema.Struct({ code: Schema.String, operators: Schema.Number }))

const categoryRows = rowsOf(Schema.Struct({ category: Schema.String }))

const currencyRows = rowsOf(Schema.Struct({ currency: Schema.String }))

const proposalRows = rowsOf(Schema.Struct({
  version: Schema.Number,
  importedBy: Schema.String,
  importedAt: Schema.Date,
  validFrom: Schema.Date,
  approvedBy: Schema.NullOr(Schema.String),
  isApproved: Schema.Boolean
}))

const notFound = refuse("NOT_FOUND", "There is no such profile, or it has no such version.")

const refuseEarlier = ({ version }: ProfileVersion) =>
  refuse(
    "INVALID_REQUEST",
    `Version ${version} is already approved and replaces this one. Add the document again, as a new version.`,
    {
      version
    }
  )

type Versions = ReadonlyArray<ProfileVersion>

type Unavailable = Refusal<"TRY_AGAIN">

/**
 * What counts without a version when it begins: what it changes. Not the version numbered before it, which may begin later, or may have looser parts that
 * wait: a repetition of either would loosen without approval and without the wait.
 */
const documentBefore = (versions: Versions, { validFrom, version }: Pick<ProfileVersion, "validFrom" | "version">) =>
  inForce(versions.filter((other) => other.version < version), validFrom)

/** What a version changes; nothing when it is the first. */
const changesIn = (versions: Versions, one: ProfileVersion) => {
  const before = documentBefore(versions, one)
  return before === undefined ? [] : differencesOf(before.profile, one.document)
}

export class ProfileVersions extends Context.Service<ProfileVersions, {
  /** Every code, with the version that counts now. */
  readonly list: Effect.Effect<ReadonlyArray<StaffProfileSummary>, Unavailable>
  /** A version, by default the one that counts now. */
  readonly show: (code: string, version?: number) => Effect.Effect<StaffProfile, Refusal<"NOT_FOUND"> | Unavailable>
  /**
   * Adds a version. One of a built-in code waits for another person's approval, and so does a looser one of a code that an active operator uses; others
   * count from their time on.
   */
  readonly add: (
    actor: Actor,
    document: { readonly [field: string]: unknown }
  ) => Effect.Effect<StaffProfileVersion, Refusal<"VALIDATION_FAILED"> | Unavailable>
  /** Approves a version that waits. */
  readonly approve: (
    actor: Actor,
    code: string,
    version: number
  ) => Effect.Effect<
    StaffProfileVersion,
    Refusal<"NOT_FOUND" | "INSUFFICIENT_SCOPE" | "INVALID_REQUEST" | "VALIDATION_FAILED"> | Unavailable
  >
}>()("pitboss/profiles/ProfileVersions") {
  static readonly layer = Layer.effect(
    ProfileVersions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const book = yield* ProfileBook
      const auditLog = yield* AuditLog
      const staffFacts = yield* makeStaffFacts

      /** Operators by the code that they offer. */
      const operatorsByCode = countRows(
        sql`SELECT code, count(*)::float8 AS operators FROM operators o CROSS JOIN LATERAL unnest(o.profiles) AS code GROUP BY code`
      )

      /**
       * Whether somebody is held to the rules of a code: an active operator offers it, or it has players, also of those that offer it no more; and the
       * longest cooling-off of the operators.
       */
      const useOf = Effect.fnUntraced(function*(code: string) {
        const [use] = yield* useRows(
          sql`SELECT coalesce(bool_or(active), false)
              OR EXISTS (SELECT FROM players WHERE jurisdiction = ${code} AND jurisdiction <> 'none') AS "isUsed",
              coalesce(max(cooling_off_hours), 0)::float8 AS hours
            FROM operators WHERE ${code} = ANY (profiles)`
        )
        return use ?? { isUsed: false, hours: 0 }
      })

      const rowsOfCode = (code: string) =>
        proposalRows(
          sql`SELECT version, imported_by AS "importedBy", imported_at AS "importedAt", valid_from AS "validFrom",
              approved_by AS "approvedBy", approved_at IS NOT NULL AS "isApproved"
            FROM profile_versions WHERE code = ${code} ORDER BY version LIMIT ${maxVersions}`
        )

      const statusOf = ({ isApproved }: ProfileVersion) => isApproved ? "approved" as const : "proposed" as const

      const describe = (
        code: string,
        versions: Versions,
        one: ProfileVersion,
        by: { readonly importedBy: string; readonly approvedBy: string | null } | undefined
      ): StaffProfileVersion => ({
        code,
        version: one.version,
        status: statusOf(one),
        valid_from: iso(one.validFrom),
        looser_from: iso(one.looserFrom),
        imported_by: by?.importedBy ?? null,
        approved_by: by?.approvedBy ?? null,
        differences: changesIn(versions, one)
      })

      /** A version as the book has it now. */
      const shown = Effect.fnUntraced(function*(code: string, version: number) {
        const versions = book.versions().get(code) ?? []
        const one = versions.find((other) => other.version === version)
        if (one === undefined) return yield* Effect.fail(notFound)
        const rows = yield* rowsOfCode(code)
        return { versions, one, row: rows.find((row) => row.version === version) }
      })

      const documentOf = (one: ProfileVersion, document = one.document) => ({
        ...document,
        version: one.version,
        valid_from: iso(one.validFrom)
      })

      const current = Effect.fnUntraced(function*(code: string) {
        const now = yield* Clock.currentTimeMillis
        return book.current(code, now)
      })

      const list = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const counts = new Map((yield* operatorsByCode).map((row) => [row.code, row.operators]))
        return [...book.versions()].flatMap(([code, versions]): ReadonlyArray<StaffProfileSummary> => {
          const counting = inForce(versions, now)
          const newest = versions.findLast(({ isApproved }) => !isApproved)
          const one = versions.find(({ version }) => version === counting?.version) ?? versions[0]
          return one === undefined ? [] : [{
            code,
            name: one.document.name,
            version: one.version,
            status: statusOf(one),
            valid_from: iso(one.validFrom),
            proposed: newest?.version ?? null,
            operators: counts.get(code) ?? 0
          }]
        })
      }).pipe(orTryAgain, Effect.withSpan("ProfileVersions.list"))

      const show = Effect.fn("ProfileVersions.show")(function*(code: string, version?: number) {
        const counting = yield* current(code)
        const { one, row, versions } = yield* shown(code, version ?? counting?.version ?? 1)
        return {
          ...describe(code, versions, one, row),
          document: documentOf(one),
          versions: versions.map((other) => ({
            code,
            version: other.version,
            status: statusOf(other),
            valid_from: iso(other.validFrom),
            is_current: other.version === counting?.version
          }))
        }
      }, orTryAgain)

      const refuseCode = (document: Profile, versions: Versions): Refusal<"VALIDATION_FAILED"> | undefined => {
        const [first] = versions
        if (document.code === noneCode) {
          return refuseFields({ code: [`must not be ${noneCode}, which stands for the rules of the API itself`] })
        }
        if (first === undefined && !isOwnCode(document.code)) {
          return refuseFields({ code: ["must be a built-in code, or begin with x-"] })
        }
        const isNewCode = first === undefined && [...book.versions().keys()].filter(isOwnCode).length >= maxOwnCodes
        if (isNewCode) return refuseFields({ code: [`there are ${maxOwnCodes} codes of operators' own already`] })
        if (versions.length >= maxVersions) return refuseFields({ code: [`has ${maxVersions} versions already`] })
        if (!isCurrency(document.currency)) {
          return refuseFields({ currency: ["must be an active ISO 4217 currency code"] })
        }
        return first !== undefined && document.currency !== first.document.currency
          ? refuseFields({ currency: [`must be ${first.document.currency}, as in every version of the profile`] })
          : undefined
      }

      /** Caps on stakes in a category that no game has hold nobody: a slip of the pen, most likely. */
      const refuseCategories = Effect.fnUntraced(function*({ stakes }: Profile) {
        const named = new Set(stakes.flatMap(({ categories }) => categories))
        const unknown = [...named].filter((category) => !gameCategories.some((one) => one === category))
        if (unknown.length === 0) return
        // a game of chance of another category counts as a slot
        const found = yield* categoryRows(
          sql`SELECT DISTINCT category FROM games WHERE type = 'live' AND ${sql.in("category", unknown)}`
        )
        const missing = unknown.filter((category) => !found.some((one) => one.category === category))
        if (missing.length === 0) return
        return yield* Effect.fail(refuseFields({
          stakes: [
            `must name ${gameCategories.join(", ")} or a live game's own category: ${missing.join(", ")} is neither`
          ]
        }))
      })

      /** Nothing could be decided about players in a currency that amounts have no exchange rate to. */
      const refuseWithoutRate = Effect.fnUntraced(function*(document: Profile) {
        if (!hasAmounts(document)) return
        const { code, currency } = document
        const others = yield* currencyRows(
          sql`SELECT DISTINCT currency FROM players WHERE jurisdiction = ${code} AND jurisdiction <> 'none'
            AND currency <> ${currency}`
        )
        const unmet = yield* Effect.filter(
          others,
          (one) => Effect.map(book.keepRate(code, one.currency), (isKept) => !isKept)
        )
        if (unmet.length === 0) return
        return yield* Effect.fail(refuseFields({
          currency: [`has players of ${unmet.map((one) => one.currency).join(", ")}, and no exchange rate to it`]
        }))
      })

      const add = Effect.fn("ProfileVersions.add")(
        function*(actor: Actor, body: { readonly [field: string]: unknown }) {
          const decoded = decodeImport(body)
          if (Result.isFailure(decoded)) return yield* Effect.fail(refuseFields(fieldIssues(decoded.failure.issue)))
          const { valid_from: sentFrom, version: sentVersion, ...document } = decoded.success
          const { code } = document
          yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              // one version of a code at a time
              yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`profile ${code}`}, 0))`
              yield* book.refresh
              const versions = book.versions().get(code) ?? []
              const refusal = refuseCode(document, versions)
              if (refusal !== undefined) return yield* Effect.fail(refusal)
              yield* refuseCategories(document)
              yield* refuseWithoutRate(document)
              const version = (versions.at(-1)?.version ?? 0) + 1
              if (sentVersion !== undefined && sentVersion !== version) {
                return yield* Effect.fail(refuseFields({ version: [`must be ${version}, the next one`] }))
              }
              const validFrom = sentFrom === undefined ? now : Math.max(now, Date.parse(sentFrom))
              const before = documentBefore(versions, { version, validFrom })
              const { hours, isUsed } = yield* useOf(code)
              const differences = before === undefined ? [] : differencesOf(before.profile, document)
              const isLooser = isUsed && differences.some(({ effect }) => effect === "looser")
              const waits = !isOwnCode(code) || isLooser
              const looser = isLooser && before !== undefined
                ? looserFrom(validFrom, before.profile, hours)
                : validFrom
              yield* sql`INSERT INTO profile_versions ${
                sql.insert({
                  code,
                  version,
                  document: JSON.stringify(document),
                  valid_from: toDate(validFrom),
                  looser_from: toDate(looser),
                  approved_at: waits ? null : toDate(now),
                  approved_by: null,
                  imported_at: toDate(now),
                  imported_by: actor.label
                })
              }`
              yield* record({
                action: "profile.import",
                subject: `profile:${code}`,
                before: before === undefined ? null : { version: before.version },
                after: { version, status: waits ? "proposed" : "approved", valid_from: iso(validFrom), differences }
              })
            }))
          yield* book.refresh
          const newest = book.versions().get(code)?.at(-1)
          const { one, row, versions } = yield* shown(code, newest?.version ?? 0)
          return describe(code, versions, one, row)
        },
        // what was added a moment ago is there
        Effect.catchIf((error): error is typeof notFound => error === notFound, Effect.die),
        orTryAgain
      )

      const refuseSamePerson = Effect.fnUntraced(
        function*(
          actor: Actor,
          { importedAt, importedBy }: { readonly importedAt: Date; readonly importedBy: string }
        ) {
          const refuseTo = (reason: string, message: string) =>
            Effect.fail(refuse("INSUFFICIENT_SCOPE", message, { reason, imported_by: importedBy }))
          if (actor.label === importedBy) {
            return yield* refuseTo("second_approver", "Somebody else has to approve this version.")
          }
          const { staff, trust } = yield* staffFacts([actor.label, importedBy])
          const objection = objectionToApproval({
            actor: staff.get(actor.label),
            others: [staff.get(importedBy)],
            correctors: [],
            requestedAt: importedAt.getTime(),
            trust
          })
          if (objection !== undefined) return yield* refuseTo(objection, objectionMessage(objection))
        }
      )

      const approve = Effect.fn("ProfileVersions.approve")(
        function*(actor: Actor, code: string, version: number) {
          yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`profile ${code}`}, 0))`
              yield* book.refresh
              const { one, row, versions } = yield* shown(code, version)
              if (row === undefined || row.isApproved) return
              const later = versions.find((other) => other.isApproved && other.version > version)
              if (later !== undefined) return yield* Effect.fail(refuseEarlier(later))
              yield* refuseSamePerson(actor, row)
              yield* refuseWithoutRate(one.document)
              const { hours, isUsed } = yield* useOf(code)
              const validFrom = Math.max(now, one.validFrom)
              const before = documentBefore(versions, { version, validFrom })
              const isLooser = isUsed &&
                changesIn(versions, { ...one, validFrom }).some(({ effect }) => effect === "looser")
              const looser = isLooser && before !== undefined
                ? looserFrom(validFrom, before.profile, hours)
                : validFrom
              yield* sql`UPDATE profile_versions SET approved_at = ${toDate(now)}, approved_by = ${actor.label},
                  valid_from = ${toDate(validFrom)}, looser_from = ${toDate(looser)}
                WHERE code = ${code} AND version = ${version}`
              yield* record({
                action: "profile.approve",
                subject: `profile:${code}`,
                before: { version, status: "proposed" },
                after: { version, status: "approved", valid_from: iso(validFrom), looser_from: iso(looser) }
              })
            }))
          yield* book.refresh
          const { one, row, versions } = yield* shown(code, version)
          return describe(code, versions, one, row)
        },
        orTryAgain
      )

      return ProfileVersions.of({
        list,
        show,
        add,
        approve
      })
    })
  )
}
