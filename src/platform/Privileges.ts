/**
 * Database roles: the service's role owns nothing and has only the rights that the service needs; the owner of the tables migrates them and grants
 * those rights. Whoever steals a connection of the service can neither rewrite the ledger or the audit log nor disable their triggers.
 */
import { Effect, Redacted, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { hostsOf } from "./DatabaseHosts.ts"

/** Rights on a table besides select and insert. */
interface Rights {
  readonly delete?: true
  /** Columns that are immutable after the insert. `all`: the table is append-only. */
  readonly fixed: "all" | ReadonlyArray<string>
}

const appendOnly: Rights = { fixed: "all" }

const columns = (names: string): ReadonlyArray<string> => names.split(" ")

/** Every table of the schema. A missing one is inaccessible to the service; a test compares the two. */
const rights: Readonly<Record<string, Rights>> = {
  accepted_signatures: { delete: true, fixed: "all" },
  acknowledgements: appendOnly,
  accounts: { fixed: columns("player_id operator_id") },
  api_keys: { fixed: columns("id operator_id key created_at") },
  audit_log: appendOnly,
  bonus_cost_changes: { delete: true, fixed: "all" },
  bonus_costs: { fixed: columns("operator_id day bonus_id currency is_test") },
  bonus_liabilities: { fixed: columns("operator_id bonus_id currency is_test") },
  bonuses: { fixed: columns("id operator_id created_at") },
  bootstrap_retirement: appendOnly,
  case_evidence: appendOnly,
  case_notes: appendOnly,
  case_orders: { delete: true, fixed: "all" },
  case_reports: { fixed: columns("id case_id operator_id player_id reference created_at") },
  cases: { fixed: columns("id operator_id player_id type opened_by occurrence created_at") },
  chain_links: appendOnly,
  chain_seal_heads: appendOnly,
  chain_seals: appendOnly,
  cluster_runners: { delete: true, fixed: columns("machine_id address") },
  cluster_shards: { fixed: columns("shard") },
  compliance_alerts: { fixed: columns("id operator_id player_id rule occurrence created_at") },
  compliance_effects: { delete: true, fixed: columns("id kind player_id subject_id at") },
  compliance_settings: { fixed: columns("operator_id rule") },
  corrections: { fixed: columns("id operator_id player_id wallet amount currency reason requested_by requested_at") },
  data_requests: { fixed: columns("id operator_id player_id type case_id created_by created_at due_at") },
  daily_players: { fixed: columns("operator_id day previous_day kind is_test shard") },
  daily_sums: { fixed: columns("operator_id day is_test currency exchange_rate_id provider_id is_live shard") },
  event_positions: { fixed: columns("operator_id") },
  event_sequences: { fixed: columns("player_id") },
  events: { delete: true, fixed: columns("id operator_id player_id type created_at player_version") },
  exchange_rates: appendOnly,
  figure_funds: { fixed: columns("operator_id currency wallet") },
  figure_hours: { delete: true, fixed: "all" },
  former_identities: appendOnly,
  free_rounds: {
    fixed: columns(
      "id operator_id player_id provider_id game_id reference rounds stake currency valid_until created_by created_at"
    )
  },
  game_sessions: { fixed: columns("id player_id operator_id game_id mode platform ip opened_at expires_at") },
  game_sums: { delete: true, fixed: columns("operator_id day provider_id game_id is_test currency base") },
  game_sums_walk: { fixed: columns("name") },
  games: { fixed: columns("id provider_id created_at") },
  idempotency_keys: { delete: true, fixed: columns("scope key") },
  import_checked_players: { delete: true, fixed: "all" },
  import_chunks: { fixed: columns("run_id number operator_id") },
  import_runs: { fixed: columns("id operator_id name file_sha256 sends_events") },
  imported_players: {
    fixed: columns("player_id operator_id run_id unverified_withdrawn lifetime_deposits lifetime_withdrawals")
  },
  jobs: { fixed: columns("name") },
  kept_call_sizes: { fixed: columns("operator_id is_bet") },
  kept_calls: { delete: true, fixed: "all" },
  kept_secrets: { delete: true, fixed: columns("name") },
  ledger_blocks: appendOnly,
  ledger_entries: appendOnly,
  ledger_restores: {
    fixed: columns("id reason requested_by requested_at old_seal old_hash requested_end request_tag")
  },
  ledger_verification: { fixed: columns("id") },
  ledger_verified_players: { fixed: columns("player_id operator_id") },
  licensee_comparisons: { delete: true, fixed: columns("id player_id") },
  licensee_walks: { delete: true, fixed: columns("operator_id") },
  licensees: { fixed: columns("id created_at") },
  obligations: { fixed: columns("id operator_id player_id kind gates case_id created_at") },
  operator_clocks: { fixed: columns("operator_id") },
  operators: { fixed: columns("id is_sandbox created_at archived_at") },
  original_rounds: appendOnly,
  payment_counts: { delete: true, fixed: "all" },
  payment_methods: { fixed: columns("id operator_id created_at") },
  payment_requests: {
    fixed: columns("id operator_id player_id type amount currency payment_method external_reference created_at")
  },
  player_bonuses: {
    fixed: columns(
      "id operator_id player_id bonus_id name type amount wager_requirement max_bet max_conversion valid_days contributions created_at imported_balance imported_wagered"
    )
  },
  player_counts: { delete: true, fixed: "all" },
  player_facts: { fixed: columns("operator_id kind player_id number") },
  player_notes: appendOnly,
  players: {
    fixed: columns(
      "id operator_id username currency is_test registration_source registration_ip registration_promo_code registration_affiliate_id registration_btag created_at"
    )
  },
  profile_factors: appendOnly,
  profile_versions: { fixed: columns("code version document imported_at imported_by") },
  promo_codes: { fixed: columns("id operator_id code created_at") },
  promo_redemptions: appendOnly,
  provider_transactions: appendOnly,
  vendor_tasks: { fixed: columns("provider_id kind") },
  providers: { fixed: columns("id key protocol created_at") },
  register_checks: appendOnly,
  register_codes: { fixed: columns("player_id kind") },
  register_connections: { fixed: columns("id operator_id kind created_at") },
  rounds: { fixed: columns("player_id game_id round_id opened_at operator_id") },
  screenings: { fixed: columns("player_id operator_id") },
  server_seeds: { fixed: columns("id player_id operator_id server_seed_hash created_at") },
  staff: { fixed: columns("id created_at created_by") },
  staff_attempts: { delete: true, fixed: columns("subject") },
  staff_recovery_codes: { delete: true, fixed: "all" },
  staff_sessions: {
    delete: true,
    fixed: columns("id token_hash staff_id method created_at expires_at address user_agent of_token")
  },
  staff_spending: { fixed: columns("id at staff approved_by operator_id player_id kind amount value") },
  staff_tickets: { delete: true, fixed: columns("token_hash staff_id issued_by of_token created_at expires_at") },
  staff_tokens: appendOnly,
  stale_rounds: { delete: true, fixed: "all" },
  stale_rounds_walk: { fixed: columns("id") },
  webhook_deliveries: { delete: true, fixed: columns("id event_id endpoint_id operator_id created_at") },
  webhook_endpoints: { fixed: columns("id operator_id created_at") }
}

/** Functions of the owner that do what the role may not. */
const ownerFunctions = ["erase_personal_data", "erase_refused_checks", "reset_sandbox"]

/** Advisory lock of grants; an arbitrary number. */
const grantLock = 7_204_551_040

/** Tables with declared rights. */
export const declaredTables: ReadonlyArray<string> = Object.keys(rights)

const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

/** User of a `postgres://` address. */
export const roleOf = (url: Redacted.Redacted): string => {
  const [first = ""] = hostsOf(Redacted.value(url))
  return decodeURIComponent(new URL(first).username)
}

const Database = Schema.Struct({ name: Schema.String })

const Columns = Schema.Struct({ table: Schema.String, columns: Schema.Array(Schema.String) })

/** Grants the declared rights to `role` and revokes all others, in one transaction. Runs as the owner of the tables. */
export const grantRights = Effect.fn("grantRights")(function*(role: string) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Columns,
    execute: () =>
      sql`SELECT t.relname::text AS "table", array_agg(a.attname::text ORDER BY a.attnum) AS columns
        FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE t.relnamespace = current_schema::regnamespace AND t.relkind IN ('r', 'p') GROUP BY t.relname ORDER BY 1`
  })(undefined)
  const owned = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Database,
    execute: () =>
      sql`SELECT datname::text AS name FROM pg_database
        WHERE datname = current_database() AND pg_has_role(current_user, datdba, 'USAGE')`
  })(undefined)
  const to = quoted(role)
  const statements = tables.flatMap(({ columns, table }) => {
    const declared = rights[table]
    if (declared === undefined) return []
    const { delete: mayDelete, fixed } = declared
    const changing = fixed === "all" ? [] : columns.filter((column) => !fixed.includes(column))
    return [
      `GRANT SELECT, INSERT${mayDelete === true ? ", DELETE" : ""} ON ${quoted(table)} TO ${to}`,
      ...(changing.length === 0
        ? []
        : [`GRANT UPDATE (${changing.map(quoted).join(", ")}) ON ${quoted(table)} TO ${to}`])
    ]
  })
  const all = [
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${to}`,
    `REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM ${to}`,
    // a temporary table would shadow one of the schema: commits of that connection would be lost with it
    ...owned.map(({ name }) => `REVOKE TEMPORARY ON DATABASE ${quoted(name)} FROM PUBLIC, ${to}`),
    `GRANT USAGE ON SCHEMA public TO ${to}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${to}`,
    // they change what the role may not: within the bounds that they check themselves
    `GRANT EXECUTE ON FUNCTION ${ownerFunctions.join(", ")} TO ${to}`,
    ...statements
  ]
  yield* sql.withTransaction(
    Effect.andThen(
      sql`SELECT pg_advisory_xact_lock(${BigInt(grantLock)})`,
      Effect.forEach(all, (statement) => sql.unsafe(statement), { discard: true })
    )
  )
})

/**
 * Creates a role with login only, or renews its password and resets its settings: a role can set a search path or a timeout for its own future
 * sessions. Runs as a superuser.
 */
export const ensureRole = Effect.fn("ensureRole")(function*(role: string, password: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`SELECT 1 FROM pg_roles WHERE rolname = ${role}`
  const literal = `'${password.replaceAll("'", "''")}'`
  yield* sql.unsafe(
    `${found === undefined ? "CREATE" : "ALTER"} ROLE ${quoted(role)} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE
      NOREPLICATION NOBYPASSRLS PASSWORD ${literal}`
  )
  yield* sql.unsafe(`ALTER ROLE ${quoted(role)} RESET ALL`)
})

const Excess = Schema.Struct({ right: Schema.String })

/** Rights of the connected role beyond the declared ones, for the warning at the start. */
export const excessiveRights: Effect.Effect<
  ReadonlyArray<string>,
  SqlError.SqlError | Schema.SchemaError,
  SqlClient.SqlClient
> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const appendOnlyTables = declaredTables.filter((table) => rights[table]?.fixed === "all")
  const undeletable = declaredTables.filter((table) => rights[table]?.delete !== true)
  const found = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Excess,
    execute: () =>
      sql`SELECT 'superuser' AS "right" FROM pg_roles WHERE rolname = current_user AND rolsuper
        UNION ALL SELECT 'creates roles' FROM pg_roles WHERE rolname = current_user AND rolcreaterole
        UNION ALL SELECT 'makes temporary tables' WHERE has_database_privilege(current_user, current_database(), 'TEMPORARY')
        UNION ALL SELECT 'sets ' || string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
          WHERE relnamespace = current_schema::regnamespace AND NOT pg_has_role(current_user, relowner, 'USAGE')
            AND CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'UPDATE') ELSE false END HAVING count(*) > 0
        UNION ALL SELECT 'owns ' || string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
          WHERE relnamespace = current_schema::regnamespace AND relkind IN ('r', 'p')
            AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
            AND pg_has_role(current_user, relowner, 'USAGE') HAVING count(*) > 0
        UNION ALL SELECT 'changes ' || string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
          WHERE relnamespace = current_schema::regnamespace AND relname = ANY(string_to_array(${
        appendOnlyTables.join(",")
      }, ','))
            AND NOT pg_has_role(current_user, relowner, 'USAGE')
            AND has_any_column_privilege(oid, 'UPDATE') HAVING count(*) > 0
        UNION ALL SELECT 'deletes from ' || string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
          WHERE relnamespace = current_schema::regnamespace AND relname = ANY(string_to_array(${
        undeletable.join(",")
      }, ','))
            AND NOT pg_has_role(current_user, relowner, 'USAGE')
            AND has_table_privilege(oid, 'DELETE, TRUNCATE') HAVING count(*) > 0`
  })(undefined)
  return found.map(({ right }) => right)
})
