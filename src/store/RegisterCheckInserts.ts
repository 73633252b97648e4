/** Inserts register checks outside player actors. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { KeptCheck } from "../domain/state/RegisterCheck.ts"
import { registerChecks } from "./internal/RegisterSections.ts"
import { runSection } from "./internal/StatementSections.ts"

/** Writes checks in the open transaction, as a commit does. */
export const makeInsertChecks = Effect.map(
  SqlClient.SqlClient,
  (sql) => (checks: ReadonlyArray<KeptCheck>) => runSection(sql, registerChecks, checks)
)
