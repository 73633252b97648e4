/**
 * Profile updates (SPEC section 4.2): columns of identity, which no decision about money reads, written by SQL with their line of
 * the audit log.
 */
import { Clock, Context, Data, Effect, Layer, Schema, Semaphore } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Chain } from "../../chain/Chain.ts"
import { reverifyStep } from "../../domain/player/AccountStatus.ts"
import { dayNumber } from "../../domain/jurisdiction/Rules.ts"
import { answer } from "../../domain/state/Decision.ts"
import { type Refusal, refuse, refuseFields } from "../../domain/Refusal.ts"
import { Ids } from "../../platform/Ids.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import { toDate } from "../../platform/Time.ts"
import { makeIsExcluded, selfExcluded } from "./internal/ExcludedIdentities.ts"
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
import { oneOf, orTryAgain } from "../../store/Rows.ts"

export type ProfileRefusal = Refusal<"NOT_FOUND" | "VALIDATION_FAILED" | "SELF_EXCLUDED_IDENTITY" | "TRY_AGAIN">

const notFound = refuse("NOT_FOUND", "There is no such player.")
const tryAgain = refuse("TRY_AGAIN", "Temporarily unavailable. Send the same request again.")

/** The change would leave a verified player with another name or birth date. Nothing was written. */
class IsVerified extends Data.TaggedError("IsVerified") {}

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
      const actors = yield* PlayerActors
      const chain = yield* Chain
      const players = playerRows(yield* PersonalData)
      const findTaken = yield* makeFindTaken
      const isExcluded = yield* makeIsExcluded
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
       * Whether the changes give the player the name and birth date of another one who is excluded: an account opened under a false name would otherwise
       * get the right one. Numbers are not compared, which no profile update changes; nor is the player, who may correct a name while excluded.
       */
      const becomesExcluded = (
        { birth_date, first_name, id, last_name, middle_name, operator_id: operatorId }: PlayerRow,
        changes: ProfileChanges,
        now: number
      ) => {
        const next = (field: ProfileField, value: string) => String(changes.get(field) ?? value)
        const identity = {
          firstName: next("first_name", first_name),
          middleName: middle_name,
          lastName: next("last_name", last_name),
          birthDate: next("birth_date", birth_date),
          personalId: null,
          documentNumber: null
        }
        return isExcluded(operatorId, identity, now, id)
      }

      const write = Effect.fnUntraced(
        function*(operatorId: number, playerId: number, changes: ProfileChanges, actor: string, now: number) {
          const firstId = yield* Effect.mapError(ids.reserve(Math.max(1, changes.size)), () => tryAgain)
          return yield* inTransaction(sql)(Effect.gen(function*() {
            const before = yield* lock(operatorId, playerId)
            const changed = profileFields.filter((field) =>
              changes.has(field) && changes.get(field) !== before[columnOf(field)]
            )
            if (changed.length === 0) return { before, after: before }
            const isOther = changed.some((field) => identityFields.includes(field))
            const next = (field: ProfileField) =>
              changed.includes(field) ? changes.get(field) ?? null : before[columnOf(field)]
            if (isOther) {
              if (yield* becomesExcluded(before, changes, now)) return yield* Effect.fail(selfExcluded)
              if (before.kyc_status === "verified") return yield* new IsVerified()
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
            yield* chain.writeAuditLines(changed.map((field, index) => ({
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
            })))
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
          // absent from a node of an earlier version
          birthDay: Schema.optionalKey(Schema.Number)
        }),
        run: (playerId, { operatorId, ...changed }) =>
          actors.ask(operatorId, playerId, (player) => answer({ ...player, ...changed }, undefined))
      })

      /** Passes country and language, which game providers are sent, and the day of birth, which caps go by, to the player's actor, wherever it is now. The row is authoritative. */
      const tell = ({ birth_date, country, id, language, operator_id: operatorId }: PlayerRow) =>
        updateProfile(id, { operatorId, country, language, birthDay: dayNumber(birth_date) }).pipe(
          Effect.catch(({ code }) =>
            Effect.annotateLogs(Effect.logWarning("profile update of a player in memory failed"), {
              player_id: id,
              reason: code
            })
          )
        )

      /**
       * Writes the changes, after a reset of a KYC verification that they invalidate: no name becomes verified unseen. Locks the row before it reads
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
            error instanceof IsVerified ? actors.ask(operatorId, playerId, reverifyStep(actor)) : Effect.void
          ),
          Effect.retry({ while: (error) => error instanceof IsVerified, times: maxTries }),
          Effect.catchTag("IsVerified", () => Effect.fail(tryAgain))
        )

      const update = Effect.fn("Profiles.update")(
        function*(operatorId: number, playerId: number, body: { readonly [field: string]: unknown }, actor: string) {
          const now = yield* Clock.currentTimeMillis
          const known = yield* sql`SELECT 1 FROM players WHERE id = ${playerId} AND operator_id = ${operatorId}`
          if (known.length === 0) return yield* Effect.fail(notFound)
          const { changes, messages, unique } = checkProfileChanges(body, now)
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
