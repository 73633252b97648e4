/** Profile updates (SPEC section 4.2): identity columns, which no money decision reads, written by SQL together with their audit log lines. */
import { Clock, Context, Data, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import type { AuditLine } from "../../chain/Lines.ts"
import { reverifyStep } from "../../domain/player/AccountStatus.ts"
import { forgetAnswersStep } from "../../domain/player/RegisterChecks.ts"
import { dayNumber, noRules } from "../../domain/jurisdiction/Rules.ts"
import { answer } from "../../domain/state/Decision.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { consentColumns, ConsentRow, idsOfConsents, makeWriteConsents } from "../consents/ConsentRecords.ts"
import { makeRefuseExcluded } from "./internal/ExcludedIdentities.ts"
import { clashOf, makeFindTaken, taken } from "./internal/Uniqueness.ts"
import { RemoteCommands } from "../../store/RemoteCommands.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { playerColumns, type PlayerProfile, type PlayerRow, playerRows, toProfile } from "./PlayerProfile.ts"
import {
  checkProfileChanges,
  type ProfileChanges,
  type ProfileField,
  profileFields
} from "../../contract/players/RegistrationResource.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"

export type ProfileRefusal = Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "SELF_EXCLUDED_IDENTITY" | "TRY_AGAIN">

const consentRows = rowsOf(ConsentRow)
const codeRows = rowsOf(Schema.Struct({ codes: Schema.Array(Schema.String) }))

const notFound = refuse("NOT_FOUND", "There is no such player.")
const tryAgain = refuse("TRY_AGAIN", "Temporarily unavailable. Send the same request again.")

/** The change would leave a verified player with another name or birth date. Nothing was written. */
class IsVerified extends Data.TaggedError("IsVerified") {}

/** The change would leave a player with answers of registers about another person. Nothing was written. */
class HasAnswers extends Data.TaggedError("HasAnswers") {}

/** Tries of a change that runs into concurrent verifications of the player. */
const maxTries = 5

/** Identity fields of duplicate detection that a profile update can change. */
const identityFields: ReadonlyArray<ProfileField> = ["first_name", "last_name", "birth_date"]

/** How many profiles change at a time; those of one player always one after the other. */
const lanes = 64

const columnOf = (field: ProfileField) => field === "marketing.email" ? "marketing_email" : field

export class Profiles extends Context.Service<Profiles, {
  /**
   * Updates the fields that are present. `body` is the undecoded request; all invalid fields are reported at once. `actor` is the name in the audit
   * log, which gets a line per changed field.
   */
  readonly update: (
    operatorId: number,
    playerId: number,
    body: { readonly [field: string]: unknown },
    actor: string
  ) => Effect.Effect<PlayerProfile, ProfileRefusal>
}>()("pitboss/players/Profiles") {
  static readonly layer = Layer.effect(
    Profiles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* Ids
      const book = yield* ProfileBook
      const actors = yield* PlayerActors
      const chain = yield* Chain
      const players = playerRows(yield* PersonalData)
      const findTaken = yield* makeFindTaken
      const refuseExcluded = yield* makeRefuseExcluded
      const writeConsents = yield* makeWriteConsents
      const columns = sql.literal(playerColumns)
      const semaphores = yield* Effect.forEach(Array.from({ length: lanes }), () => Semaphore.make(1))

      const lock = (operatorId: number, playerId: number) =>
        Effect.flatMap(
          oneOf(players(sql`SELECT ${columns} FROM players
            WHERE id = ${playerId} AND operator_id = ${operatorId} FOR NO KEY UPDATE`)),
          (row): Effect.Effect<PlayerRow, Refusal<"NOT_FOUND">> =>
            row === undefined ? Effect.fail(notFound) : Effect.succeed(row)
        )

      /**
       * Refuses changes that give the player the name and birth date of another one who is excluded: an account opened under a false name would otherwise
       * get the right one. Numbers are not compared, which no profile update changes; nor is the player, who may correct a name while excluded.
       */
      const refuseBecomingExcluded = (
        row: PlayerRow,
        changes: ProfileChanges,
        now: number
      ) => {
        const { birth_date, first_name, id, last_name, middle_name, operator_id: operatorId } = row
        const next = (field: ProfileField, value: string) => String(changes.get(field) ?? value)
        const identity = {
          firstName: next("first_name", first_name),
          middleName: middle_name,
          lastName: next("last_name", last_name),
          birthDate: next("birth_date", birth_date),
          personalId: null,
          documentNumber: null
        }
        const isExcluded = toProfile(row, now).self_exclusion !== null
        return refuseExcluded(operatorId, identity, now, { playerId: id, isExcluded })
      }

      /** Writes what a profile says of e-mail as the consent to it for all products; gives the lines of the audit log. */
      const consent = Effect.fnUntraced(function*(
        operatorId: number,
        playerId: number,
        email: unknown,
        actor: string,
        { firstId, now }: { readonly firstId: number; readonly now: number }
      ) {
        if (typeof email !== "boolean") return []
        const row = yield* oneOf(consentRows(sql`SELECT ${sql.literal(consentColumns)} FROM players
          WHERE id = ${playerId} AND operator_id = ${operatorId}`))
        if (row === undefined) return yield* Effect.fail(notFound)
        const author = { by: "operator", actor, reason: null } as const
        const { lines } = yield* writeConsents(row, [{ channel: "email", granted: email }], author, firstId, now)
        return lines
      })

      const write = Effect.fnUntraced(
        function*(operatorId: number, playerId: number, changes: ProfileChanges, actor: string, now: number) {
          const firstId = yield* Effect.mapError(ids.reserve(changes.size + idsOfConsents(1)), () => tryAgain)
          return yield* inTransaction(sql)(Effect.gen(function*() {
            const before = yield* lock(operatorId, playerId)
            const consented = yield* consent(operatorId, playerId, changes.get("marketing.email"), actor, {
              firstId: firstId + changes.size,
              now
            })
            const changed = profileFields.filter((field) =>
              changes.has(field) && changes.get(field) !== before[columnOf(field)]
            )
            if (changed.length === 0) {
              yield* chain.writeAuditLines(consented)
              return { before, after: before }
            }
            const isOther = changed.some((field) => identityFields.includes(field))
            const next = (field: ProfileField) =>
              changed.includes(field) ? changes.get(field) ?? null : before[columnOf(field)]
            if (isOther) {
              yield* refuseBecomingExcluded(before, changes, now)
              if (before.kyc_status === "verified") return yield* new IsVerified()
              if (before.registers.some(({ verdict }) => verdict !== "excluded")) return yield* new HasAnswers()
            }
            const after = yield* oneOf(players(
              sql`UPDATE players SET ${
                sql.update({
                  ...Object.fromEntries(profileFields.map((field) => [columnOf(field), next(field)])),
                  updated_at: toDate(now)
                })
              }
              WHERE id = ${playerId} RETURNING ${columns}`
            ))
            // an exclusion holds under every name that its player ever had
            if (isOther) {
              yield* sql`INSERT INTO former_identities (operator_id, player_id, first_name, last_name, birth_date, changed_at)
                VALUES (${operatorId}, ${playerId}, ${before.first_name}, ${before.last_name}, ${before.birth_date},
                  ${toDate(now)})
                ON CONFLICT DO NOTHING`
            }
            const lines = changed.map((field, index): AuditLine => ({
              id: firstId + index,
              at: now,
              actor,
              action: "player.profile",
              operatorId,
              playerId,
              subject: `player:${playerId}`,
              before: { [field]: before[columnOf(field)] },
              after: { [field]: next(field) },
              reason: null
            }))
            yield* chain.writeAuditLines([...lines, ...consented])
            return { before, after: after ?? before }
          }))
        }
      )

      const updateProfile = (yield* RemoteCommands).define({
        name: "player.profile",
        payload: Schema.Struct({
          operatorId: Schema.Number,
          country: Schema.String,
          language: Schema.String,
          birthDay: Schema.Number
        }),
        run: (playerId, { operatorId, ...changed }) =>
          actors.ask(operatorId, playerId, (player) => answer({ ...player, ...changed }, undefined))
      })

      /** Passes country and language, which game providers are sent, and the day of birth, which caps go by, to the player's actor, wherever it is now. The row is authoritative. */
      const tell = ({ birth_date, country, id, language, operator_id: operatorId }: PlayerRow) =>
        updateProfile(id, { operatorId, country, language, birthDay: dayNumber(birth_date) }).pipe(
          Effect.catch(({ code }) =>
            Effect.annotateLogs(Effect.logWarning("stored profile change not yet applied in memory"), {
              player_id: id,
              reason: code
            })
          )
        )

      /**
       * Writes the changes, after a reset of a KYC verification and of answers of registers that they invalidate: no name becomes verified unseen. Locks the row before it reads
       * the status.
       */
      const writeUnverified = (
        operatorId: number,
        playerId: number,
        changes: ProfileChanges,
        actor: string,
        now: number
      ) =>
        write(operatorId, playerId, changes, actor, now).pipe(
          Effect.tapError((error) =>
            error instanceof IsVerified
              ? actors.ask(operatorId, playerId, reverifyStep(actor))
              : error instanceof HasAnswers
              ? actors.ask(operatorId, playerId, forgetAnswersStep(actor))
              : Effect.void
          ),
          Effect.retry({
            while: (error) => error instanceof IsVerified || error instanceof HasAnswers,
            times: maxTries
          }),
          Effect.catchTags({
            IsVerified: () => Effect.fail(tryAgain),
            HasAnswers: () => Effect.fail(tryAgain)
          })
        )

      const update = Effect.fn("Profiles.update")(
        function*(operatorId: number, playerId: number, body: { readonly [field: string]: unknown }, actor: string) {
          const now = yield* Clock.currentTimeMillis
          const known = yield* oneOf(
            // of who was moved lately, the jurisdiction left counts as well
            codeRows(
              sql`SELECT array_remove(ARRAY[jurisdiction, CASE WHEN looser_from > ${
                toDate(now)
              } THEN moved_from END], NULL) AS codes
                FROM players WHERE id = ${playerId} AND operator_id = ${operatorId}`
            )
          )
          if (known === undefined) return yield* Effect.fail(notFound)
          const ages = known.codes.map((code) => book.current(code, now)?.profile.minimum_age ?? noRules.minimum_age)
          const { changes, messages, unique } = checkProfileChanges(body, now, Math.max(...ages))
          const takenNow = yield* findTaken(operatorId, unique, playerId)
          if (changes === undefined || Object.keys(takenNow).length > 0) {
            return yield* Effect.fail(refuseFields({ ...messages, ...takenNow }))
          }
          const { after, before } = yield* writeUnverified(operatorId, playerId, changes, actor, now).pipe(
            Effect.catchTag("SqlError", (error): Effect.Effect<never, ProfileRefusal | SqlError.SqlError> => {
              const field = clashOf(error)
              return Effect.fail(field === undefined ? error : refuseFields({ [field]: taken }))
            })
          )
          const isTold = after.country !== before.country || after.language !== before.language ||
            after.birth_date !== before.birth_date
          if (isTold) yield* tell(after)
          return toProfile(after, now)
        },
        (effect, _, playerId) => orTryAgain(semaphores[playerId % lanes]?.withPermits(1)(effect) ?? effect)
      )

      return Profiles.of({ update })
    })
  )
}
