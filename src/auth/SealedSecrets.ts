/**
 * Inventory and re-encryption of encrypted columns (`docs/operations.md`, "A new master key").
 *
 * The master key is checked at startup: a service with a wrong key would refuse every signed call, and would encrypt new secrets that the right key
 * does not decrypt.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { byteStrings, texts } from "../platform/ArrayParameters.ts"
import type { Refusal } from "../domain/Refusal.ts"
import { describeSqlError } from "../platform/Database.ts"
import { Secrets } from "../platform/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { StartupError } from "../platform/StartupError.ts"
import { toDate } from "../platform/Time.ts"
import { orTryAgain, rowsOf } from "../store/Rows.ts"

/** Number of secrets of one kind, by the key that opens them. */
export interface SecretCounts {
  /** Table; `webhook_endpoints_previous` for previous secrets during an overlap, `provider_settings` for those of vendors. */
  readonly kind: string
  /** All except unreadable ones that are no longer needed: of revoked keys, and revealed seeds. */
  readonly total: number
  /** Sealed under `MASTER_KEY`, including those just re-encrypted. */
  readonly current: number
  /** Sealed under the previous key, or in a form without a key id. */
  readonly previous: number
  /** Opened by neither key. */
  readonly unreadable: number
}

interface SealedColumn {
  readonly kind: string
  readonly table: string
  readonly column: string
  /** Primary key columns, with their types and the initial cursor. */
  readonly key: ReadonlyArray<readonly [name: string, type: string, first: string]>
  /** SQL expression of the secret's purpose; a test compares it with the sealing code. */
  readonly purpose: string
  readonly where?: string
  /** Rows that no longer need the secret: re-encrypted when readable, not counted when not. */
  readonly spent?: string
}

const column = (
  table: string,
  name: string,
  purpose: string,
  more: Partial<Pick<SealedColumn, "kind" | "key" | "where" | "spent">> = {}
): SealedColumn => ({ kind: table, table, column: name, key: [["id", "bigint", "0"]], purpose, ...more })

/** Order of re-encryption. Columns that prove the key at startup come last: until then the old key is required. */
const columns: ReadonlyArray<SealedColumn> = [
  column("api_keys", "secret_sealed", "'api-key:' || id", { spent: "revoked_at IS NOT NULL" }),
  column("providers", "secret_sealed", "'provider:' || id"),
  column("providers", "settings_sealed", "'provider-settings:' || id", { kind: "provider_settings" }),
  column("webhook_endpoints", "secret_sealed", "'webhook:' || id"),
  column("webhook_endpoints", "previous_secret_sealed", "'webhook:' || id", { kind: "webhook_endpoints_previous" }),
  column("server_seeds", "server_seed_sealed", "'server-seed:' || player_id || ':' || server_seed_hash", {
    where: "NOT lost",
    // public from then on
    spent: "retired_at IS NOT NULL"
  }),
  column("idempotency_keys", "body_sealed", "'idempotent-reply:' || scope || chr(10) || key", {
    key: [["scope", "text", ""], ["key", "text", ""]]
  }),
  column("players", "numbers_sealed", "'player-numbers:' || id"),
  column("register_connections", "settings_sealed", "'register-settings:' || id"),
  column("register_codes", "code_sealed", "'register-code:' || player_id || ':' || kind", {
    key: [["player_id", "bigint", "0"], ["kind", "text", ""]]
  }),
  column("imported_players", "password_sealed", "'imported-password:' || player_id", {
    key: [["player_id", "bigint", "0"]]
  }),
  column("payment_requests", "details_sealed", "'payment-details:' || id"),
  column("staff", "totp_sealed", "'staff-totp:' || id", { kind: "staff_second_factors" }),
  column("staff", "totp_pending_sealed", "'staff-totp-pending:' || id", { kind: "staff_second_factors_pending" }),
  column("kept_secrets", "sealed", "'kept:' || name", { key: [["name", "text", ""]] })
]

const keptPurpose = (name: string): string => `kept:${name}`

const isKept = ({ purpose }: { readonly purpose: string }): boolean => purpose.startsWith(keptPurpose(""))

/** Kinds not sampled at startup: short-lived ones, and rare columns of large tables. */
const unsampled: ReadonlySet<string> = new Set([
  "idempotency_keys",
  "players",
  "payment_requests",
  "imported_players",
  "staff_second_factors_pending"
])

/** Rows per statement, small enough not to delay players. */
const perPage = 100

const SealedRow = Schema.Struct({
  key: Schema.Array(Schema.String),
  purpose: Schema.String,
  sealed: Schema.Uint8Array,
  isSpent: Schema.Boolean
})
const sealedRows = rowsOf(SealedRow)
const keptRows = rowsOf(Schema.Struct({ sealed: Schema.Uint8Array }))

const keyNames = ({ key }: SealedColumn): string => key.map(([name]) => name).join(", ")

/** Page of a column after the key `$1`, in key order. */
const pageText = (one: SealedColumn): string =>
  `SELECT ARRAY[${one.key.map(([name]) => `${name}::text`).join(", ")}] AS key, ${one.purpose} AS purpose,
      ${one.column} AS sealed, ${one.spent ?? "false"} AS "isSpent"
    FROM ${one.table}
    WHERE ${one.column} IS NOT NULL AND ${one.where ?? "true"}
      AND (${keyNames(one)}) > (${one.key.map(([, type], index) => `($1::text[])[${index + 1}]::${type}`).join(", ")})
    ORDER BY ${keyNames(one)} LIMIT ${perPage}`

/** Last needed secret of a column; for the service's own secrets, all. */
const sampleText = (one: SealedColumn): string =>
  `SELECT ARRAY[]::text[] AS key, ${one.purpose} AS purpose, ${one.column} AS sealed, false AS "isSpent"
    FROM ${one.table} WHERE ${one.column} IS NOT NULL AND ${one.where ?? "true"} AND NOT (${one.spent ?? "false"})
    ORDER BY ${one.key.map(([name]) => `${name} DESC`).join(", ")} LIMIT ${one.table === "kept_secrets" ? 100 : 1}`

/** Leaves values changed meanwhile as they are. */
const resealText = (one: SealedColumn): string =>
  `UPDATE ${one.table} t SET ${one.column} = n.fresh
    FROM unnest(${one.key.map((_, index) => `$${index + 1}::text[]`).join(", ")},
      $${one.key.length + 1}::bytea[], $${one.key.length + 2}::bytea[])
      AS n(${one.key.map((_, index) => `key${index}`).join(", ")}, sealed, fresh)
    WHERE ${one.key.map(([name, type], index) => `t.${name} = n.key${index}::${type}`).join(" AND ")}
      AND t.${one.column} = n.sealed`

const wrongKey = new StartupError({
  message: "MASTER_KEY cannot decrypt the secrets of this database: start with the key that encrypted them, " +
    "or set that key as MASTER_KEY_PREVIOUS to rotate to the new one"
})

const notYet = new StartupError({
  message:
    "MASTER_KEY cannot be rotated yet: start once with the current key as MASTER_KEY and without MASTER_KEY_PREVIOUS, " +
    "so that the service stores its own secrets under the current key"
})

const unusable = (error: SqlError.SqlError) =>
  new StartupError({ message: `the secrets of the database cannot be read: ${describeSqlError(error)}` })

export class SealedSecrets extends Context.Service<SealedSecrets, {
  /** Service secret by name: the stored one, else `initial`, which is then stored. */
  readonly kept: (name: string, initial: Uint8Array) => Effect.Effect<Uint8Array, StartupError>
  /** Counts of all sealed values, by kind. */
  readonly survey: Effect.Effect<ReadonlyArray<SecretCounts>, Refusal<"TRY_AGAIN">>
  /** Re-encrypts under `MASTER_KEY`; may be repeated, run concurrently, and interrupted. Unreadable values are kept and counted. */
  readonly reseal: Effect.Effect<ReadonlyArray<SecretCounts>, Refusal<"TRY_AGAIN">>
}>()("pitboss/auth/SealedSecrets") {
  /** Stores nothing; returns `initial`. */
  static readonly layerMemory = Layer.succeed(SealedSecrets, {
    kept: (_, initial) => Effect.succeed(initial),
    survey: Effect.succeed([]),
    reseal: Effect.succeed([])
  })

  static readonly layer = Layer.effect(
    SealedSecrets,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const secrets = yield* Secrets
      const { masterKeyLost, masterKeyPrevious } = yield* Settings

      const page = (one: SealedColumn, after: ReadonlyArray<string>) =>
        sealedRows(sql.unsafe(pageText(one), [texts(after)]))

      /** Reads one column page by page, counting or re-encrypting. */
      const walkColumn = Effect.fnUntraced(function*(one: SealedColumn, isReseal: boolean) {
        let [total, previous, unreadable] = [0, 0, 0]
        let after: ReadonlyArray<string> = one.key.map(([, , first]) => first)
        for (;;) {
          const rows = yield* page(one, after)
          const renewed: Array<typeof SealedRow.Type & { readonly fresh: Uint8Array }> = []
          for (const row of rows) {
            const plain = yield* Effect.option(secrets.open(row.purpose, row.sealed))
            if (plain._tag === "None" && row.isSpent) continue
            total++
            if (plain._tag === "None") unreadable++
            else if (secrets.isCurrent(row.sealed)) continue
            else if (isReseal) renewed.push({ ...row, fresh: secrets.seal(row.purpose, plain.value) })
            else previous++
          }
          if (renewed.length > 0) {
            yield* sql.unsafe(resealText(one), [
              ...one.key.map((_, index) => texts(renewed.map(({ key }) => key[index] ?? ""))),
              byteStrings(renewed.map(({ sealed }) => sealed)),
              byteStrings(renewed.map(({ fresh }) => fresh))
            ])
          }
          const last = rows.at(-1)
          if (last === undefined || rows.length < perPage) break
          after = last.key
        }
        return {
          kind: one.kind,
          total,
          current: total - previous - unreadable,
          previous,
          unreadable
        } satisfies SecretCounts
      })

      const walk = (isReseal: boolean) => orTryAgain(Effect.forEach(columns, (column) => walkColumn(column, isReseal)))

      const opens = ({ purpose, sealed }: typeof SealedRow.Type) =>
        Effect.match(secrets.open(purpose, sealed), { onSuccess: () => true, onFailure: () => false })

      /** Last secret of each sampled kind; all of the service's own. */
      const samples = Effect.map(
        Effect.forEach(
          columns.filter(({ kind }) => !unsampled.has(kind)),
          (one) => sealedRows(sql.unsafe(sampleText(one)))
        ),
        (found) => found.flat()
      )

      const check = Effect.gen(function*() {
        const found = yield* samples
        // the service's own secrets are derived from the first key; without them it is unknown which of the two keys that is
        if (masterKeyPrevious !== undefined && found.length > 0 && !found.some(isKept)) return yield* notYet
        const unreadable = yield* Effect.filter(found, (row) => Effect.map(opens(row), (isOpen) => !isOpen))
        if (unreadable.length === 0) return
        const isOurs = found.some(isKept) && !unreadable.some(isKept)
        if (!isOurs) {
          if (!masterKeyLost) return yield* wrongKey
          // regenerated by their users
          const names = unreadable.filter(isKept).map(({ purpose }) => purpose.slice(keptPurpose("").length))
          yield* sql`DELETE FROM kept_secrets WHERE name = ANY(${texts(names)})`
        }
        // an unreadable secret must not stop the service
        yield* Effect.logError("stored secrets cannot be decrypted with this MASTER_KEY").pipe(
          Effect.annotateLogs({
            purposes: unreadable.map(({ purpose }) => purpose).join(", "),
            remedy: "`secret list` counts them; start with the right MASTER_KEY, or rotate them"
          })
        )
      }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(unusable(error))))

      const kept: SealedSecrets["Service"]["kept"] = Effect.fnUntraced(
        function*(name, initial) {
          const now = yield* Clock.currentTimeMillis
          yield* sql`INSERT INTO kept_secrets (name, sealed, created_at)
            VALUES (${name}, ${secrets.seal(keptPurpose(name), initial)}, ${toDate(now)}) ON CONFLICT DO NOTHING`
          const [row] = yield* keptRows(sql`SELECT sealed FROM kept_secrets WHERE name = ${name}`)
          return row === undefined ? initial : yield* secrets.open(keptPurpose(name), row.sealed)
        },
        Effect.catchTags({
          SecretUnreadable: () => Effect.fail(wrongKey),
          SqlError: (error) => Effect.fail(unusable(error))
        })
      )

      yield* check
      return SealedSecrets.of({ kept, survey: walk(false), reseal: walk(true) })
    })
  )
}
