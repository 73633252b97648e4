/**
 * Queues players whose identity is new or changed, in the transaction that writes it, for the comparison with accounts at the other operators of
 * their licensee, by which an exclusion holds there too.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { numbers } from "../../platform/ArrayParameters.ts"

/**
 * Queues the players of operators that have a licensee, in the open transaction: their identity is new or another one. Holds the operators as they are
 * until its end, so that one that joins a licensee meanwhile either sees these players' facts or has them queued.
 */
export const makeQueueComparisons = Effect.map(
  SqlClient.SqlClient,
  (sql) => (playerIds: ReadonlyArray<number>) =>
    playerIds.length === 0 ? Effect.void : sql`WITH held AS (
      SELECT id, licensee_id FROM operators
      WHERE id IN (SELECT operator_id FROM players WHERE id = ANY (${numbers(playerIds)}::float8[]::bigint[])) FOR SHARE
    )
    INSERT INTO licensee_comparisons (player_id)
    SELECT p.id FROM players p JOIN held ON held.id = p.operator_id AND held.licensee_id IS NOT NULL
    WHERE p.id = ANY (${numbers(playerIds)}::float8[]::bigint[])`
)

/** Queues, page by page, the running exclusions of every operator of a licensee that has one operator more, in the open transaction. */
export const makeQueueLicensee = Effect.map(
  SqlClient.SqlClient,
  (sql) => (licenseeId: number) =>
    sql`INSERT INTO licensee_walks (operator_id) SELECT id FROM operators WHERE licensee_id = ${licenseeId}::float8::bigint
    ON CONFLICT (operator_id) DO UPDATE SET after = 0`
)
