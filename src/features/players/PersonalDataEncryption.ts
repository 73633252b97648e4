/** Encrypts personal data stored in clear by earlier versions, table by table in batches. Resumable and idempotent. */
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { replyPurpose } from "../../domain/state/Idempotency.ts"
import { inTransaction } from "../../platform/InTransaction.ts"
import { PersonalData } from "../../platform/PersonalData.ts"
import type { JobResult } from "../../platform/Scheduler.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { oneOf, rowsOf } from "../../store/Rows.ts"
import { detailsPurpose, numberDigests, sealNumbers } from "../../store/SealedFields.ts"

const rowsPerPage = 200
const pagesPerRun = 20

const optionalText = Schema.NullOr(Schema.String)
const After = Schema.Array(Schema.String)

const walkRows = rowsOf(Schema.Struct({ name: Schema.String, after: After, isDone: Schema.Boolean }))
const playerRows = rowsOf(Schema.Struct({ id: Schema.Number, personalId: optionalText, documentNumber: optionalText }))
const paymentRows = rowsOf(
  Schema.Struct({ id: Schema.Number, info: optionalText, notes: optionalText, bankName: optionalText })
)
const factRows = rowsOf(Schema.Struct({
  operatorId: Schema.String,
  kind: Schema.String,
  hex: Schema.String,
  digest: Schema.Uint8Array,
  playerId: Schema.String
}))
const replyRows = rowsOf(
  Schema.Struct({ scope: Schema.String, key: Schema.String, fingerprint: Schema.Uint8Array, body: optionalText })
)
const eventRows = rowsOf(Schema.Struct({ id: Schema.String }))

const array = (values: ReadonlyArray<unknown>, oid: number) => Result.getOrThrow(PgTypes.array([...values], oid))
const numbers = (values: ReadonlyArray<number>) => array(values, PgTypes.OID.float8)
const texts = (values: ReadonlyArray<string | null>) => array(values, PgTypes.OID.text)
const byteStrings = (values: ReadonlyArray<Uint8Array | null>) => array(values, PgTypes.OID.bytea)

/** Answers that may say something personal. */
const personalBody = /"(personal_id|document_number|info)":/

/** Seals a page after a key; gives the key of the last row of it, undefined when it was the last page. */
type Step = (after: ReadonlyArray<string>) => Effect.Effect<
  { readonly done: number; readonly next: ReadonlyArray<string> | undefined },
  SqlError.SqlError
>

const nextOf = <Row>(rows: ReadonlyArray<Row>, keyOf: (row: Row) => ReadonlyArray<string>) => {
  const last = rows.at(-1)
  return { done: rows.length, next: last === undefined || rows.length < rowsPerPage ? undefined : keyOf(last) }
}

export class PersonalDataEncryption extends Context.Service<PersonalDataEncryption, {
  readonly run: Effect.Effect<JobResult, SqlError.SqlError>
}>()("pitboss/players/PersonalDataEncryption") {
  static readonly layer = Layer.effect(
    PersonalDataEncryption,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const personal = yield* PersonalData
      const secrets = yield* Secrets

      const players: Step = Effect.fnUntraced(function*([after = "0"]) {
        const rows = yield* playerRows(
          sql`SELECT id, personal_id AS "personalId", document_number AS "documentNumber" FROM players
            WHERE players.id > ${after}::text::bigint AND (personal_id IS NOT NULL OR document_number IS NOT NULL)
            ORDER BY players.id LIMIT ${rowsPerPage} FOR NO KEY UPDATE`
        )
        const digests = rows.map((row) => numberDigests(personal, row))
        yield* sql`UPDATE players p SET numbers_sealed = u.sealed, personal_id_digest = u.personal_id,
            document_number_digest = u.document_number, personal_id = NULL, document_number = NULL
          FROM unnest(${numbers(rows.map(({ id }) => id))}::float8[],
            ${byteStrings(rows.map((row) => sealNumbers(personal, row.id, row)))}::bytea[],
            ${byteStrings(digests.map((digest) => digest.personalId))}::bytea[],
            ${byteStrings(digests.map((digest) => digest.documentNumber))}::bytea[])
            AS u(id, sealed, personal_id, document_number)
          WHERE p.id = u.id::bigint`
        return nextOf(rows, ({ id }) => [String(id)])
      })

      const payments: Step = Effect.fnUntraced(function*([after = "0"]) {
        const rows = yield* paymentRows(
          sql`SELECT id, info, notes, bank_name AS "bankName" FROM payment_requests r
            WHERE r.id > ${after}::text::bigint AND (info IS NOT NULL OR notes IS NOT NULL OR bank_name IS NOT NULL)
            ORDER BY r.id LIMIT ${rowsPerPage} FOR NO KEY UPDATE`
        )
        yield* sql`UPDATE payment_requests r SET details_sealed = u.sealed, info = NULL, notes = NULL, bank_name = NULL
          FROM unnest(${numbers(rows.map(({ id }) => id))}::float8[], ${
          byteStrings(
            rows.map(({ bankName, id, info, notes }) =>
              personal.seal(detailsPurpose(id), { info, notes, bank_name: bankName })
            )
          )
        }::bytea[]) AS u(id, sealed)
          WHERE r.id = u.id::bigint`
        return nextOf(rows, ({ id }) => [String(id)])
      })

      const facts: Step = Effect.fnUntraced(function*([operatorId = "0", kind = "", hex = "", playerId = "0"]) {
        const rows = yield* factRows(
          sql`SELECT operator_id::text AS "operatorId", kind, encode(digest, 'hex') AS hex, digest, player_id::text AS "playerId"
            FROM player_facts f
            WHERE (f.operator_id, f.kind, f.digest, f.player_id) >
                (${operatorId}::text::bigint, ${kind}, decode(${hex}, 'hex'), ${playerId}::text::bigint)
              AND length(f.digest) = 16
            ORDER BY f.operator_id, f.kind, f.digest, f.player_id LIMIT ${rowsPerPage} FOR UPDATE`
        )
        yield* sql`UPDATE player_facts f SET digest = u.keyed
          FROM unnest(${texts(rows.map((row) => row.operatorId))}::text[], ${
          texts(rows.map((row) => row.kind))
        }::text[],
            ${byteStrings(rows.map((row) => row.digest))}::bytea[], ${texts(rows.map((row) => row.playerId))}::text[],
            ${byteStrings(rows.map((row) => personal.fact(row.digest)))}::bytea[])
            AS u(operator_id, kind, digest, player_id, keyed)
          WHERE f.operator_id = u.operator_id::bigint AND f.kind = u.kind AND f.digest = u.digest
            AND f.player_id = u.player_id::bigint`
        return nextOf(rows, (row) => [row.operatorId, row.kind, row.hex, row.playerId])
      })

      const replies: Step = Effect.fnUntraced(function*([scope = "", key = ""]) {
        const rows = yield* replyRows(
          sql`SELECT scope, key, fingerprint, body FROM idempotency_keys k
            WHERE (k.scope, k.key) > (${scope}, ${key}) ORDER BY k.scope, k.key LIMIT ${rowsPerPage} FOR UPDATE`
        )
        const sealed = rows.map((row) =>
          row.body !== null && personalBody.test(row.body) ? secrets.seal(replyPurpose(row), row.body) : null
        )
        yield* sql`UPDATE idempotency_keys k SET fingerprint = u.fingerprint, body_sealed = coalesce(u.sealed, k.body_sealed),
            body = CASE WHEN u.sealed IS NULL THEN k.body END
          FROM unnest(${texts(rows.map((row) => row.scope))}::text[], ${texts(rows.map((row) => row.key))}::text[],
            ${byteStrings(rows.map((row) => personal.fingerprint(row.fingerprint)))}::bytea[],
            ${byteStrings(sealed)}::bytea[]) AS u(scope, key, fingerprint, sealed)
          WHERE k.scope = u.scope AND k.key = u.key AND (u.sealed IS NOT NULL OR length(k.fingerprint) = 32)`
        return nextOf(rows, (row) => [row.scope, row.key])
      })

      /** Runs after players and payments: readers of an event take the fields removed here from their rows. */
      const events: Step = Effect.fnUntraced(function*([after = "0"]) {
        const rows = yield* eventRows(
          sql`WITH found AS (
              SELECT v.id FROM events v WHERE v.id > ${after}::text::bigint
                AND (v.data -> 'player' ->> 'personal_id' IS NOT NULL OR v.data -> 'player' ->> 'document_number' IS NOT NULL
                  OR v.data -> 'payment' ->> 'info' IS NOT NULL)
              ORDER BY v.id LIMIT ${rowsPerPage} FOR UPDATE
            ), emptied AS (
              UPDATE events v SET data = CASE WHEN v.data -> 'payment' ? 'info'
                THEN jsonb_set(v.data, '{payment,info}', 'null')
                ELSE v.data || jsonb_build_object('player',
                  (v.data -> 'player') || '{"personal_id": null, "document_number": null}') END
              FROM found WHERE v.id = found.id RETURNING v.id
            )
            SELECT id::text AS id FROM emptied ORDER BY emptied.id`
        )
        return nextOf(rows, ({ id }) => [id])
      })

      const steps: ReadonlyArray<readonly [name: string, step: Step]> = [
        ["players", players],
        ["payment_requests", payments],
        ["player_facts", facts],
        ["idempotency_keys", replies],
        ["events", events]
      ]

      /** One page, and how far the table is, in one transaction. */
      const takePage = (name: string, step: Step) =>
        inTransaction(sql)(Effect.gen(function*() {
          yield* sql`INSERT INTO personal_data_walk (name, after) VALUES (${name}, '[]') ON CONFLICT DO NOTHING`
          const walk = yield* oneOf(walkRows(
            sql`SELECT name, after, is_done AS "isDone" FROM personal_data_walk WHERE name = ${name} FOR UPDATE`
          ))
          if (walk === undefined || walk.isDone) return { done: 0, isDone: true }
          const { done, next } = yield* step(walk.after)
          yield* sql`UPDATE personal_data_walk SET after = ${JSON.stringify(next ?? walk.after)}, is_done = ${
            next === undefined
          }
            WHERE name = ${name}`
          return { done, isDone: next === undefined }
        }))

      const run = Effect.gen(function*() {
        let done = 0
        let pages = 0
        for (const [name, step] of steps) {
          for (;;) {
            if (pages++ >= pagesPerRun) return { done, hasMore: false }
            const page = yield* takePage(name, step)
            done += page.done
            if (page.isDone) break
          }
        }
        return { done, hasMore: false }
      })

      return PersonalDataEncryption.of({ run })
    })
  )
}
