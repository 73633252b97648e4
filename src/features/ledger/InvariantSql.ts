/** SQL fragments shared by the ledger invariants of entries and of provider transactions. */
import { type EntryType, entryTypes } from "../../domain/state/Change.ts"

/** Whether a provider transaction names the entry, and whether the entry may leave the real wallet below zero. */
const traits: { readonly [type in EntryType]: { readonly ofGame: boolean; readonly overdraws: boolean } } = {
  deposit: { ofGame: false, overdraws: false },
  withdrawal: { ofGame: false, overdraws: false },
  withdrawal_rejection: { ofGame: false, overdraws: false },
  correction_up: { ofGame: false, overdraws: false },
  correction_down: { ofGame: false, overdraws: true },
  bonus_correction_up: { ofGame: false, overdraws: false },
  bonus_correction_down: { ofGame: false, overdraws: false },
  bonus_conversion: { ofGame: false, overdraws: true },
  casino_bet: { ofGame: true, overdraws: false },
  casino_win: { ofGame: true, overdraws: false },
  casino_rollback: { ofGame: true, overdraws: true },
  loyalty_exchange: { ofGame: false, overdraws: false },
  tournament_prize: { ofGame: true, overdraws: false },
  chargeback: { ofGame: false, overdraws: true }
}

export const typesThat = (trait: "ofGame" | "overdraws"): string =>
  entryTypes.filter((type) => traits[type][trait]).map((type) => `'${type}'`).join(", ")

/**
 * Ids that a relation holds twice are looked for in blocks of 64: a block has as many ids as bits, or it holds one twice. That needs
 * neither a sort of all ids nor a group for each.
 */
export const inBlockWithRepetition = (id: string, relation: string): string =>
  `${id} >> 6 IN (SELECT block FROM (SELECT ${id} >> 6 AS block, 1::bigint << (${id} & 63)::integer AS bit FROM ${relation}) bits
      GROUP BY block HAVING count(*) <> bit_count(bit_or(bit)::bit(64)))`

/** Of statements that name rollbacks twice: read once. */
export const withRollbacksOf = (transactions: string): string =>
  `WITH rollbacks AS MATERIALIZED (SELECT t.provider_id, t.transaction_id, t.target_transaction_id, t.player_id, t.entry_ids
    FROM ${transactions} t WHERE t.kind = 'rollback' AND t.status = 'processed')`

/** Rollbacks that were not taken back in their turn. */
export const standingRollbacks =
  `(SELECT r.provider_id, r.target_transaction_id, r.player_id FROM rollbacks r LEFT JOIN rollbacks s
  ON s.provider_id = r.provider_id AND s.target_transaction_id = r.transaction_id WHERE s.provider_id IS NULL)`
