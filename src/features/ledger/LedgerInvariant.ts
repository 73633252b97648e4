/** Type of a ledger invariant, and the scope of a verification: all rows, or only those new since an earlier one. */

/** From where a verification goes on: what an earlier one found sound is not read again (`docs/decisions/0029-chain-of-hashes.md`). */
export interface VerifiedUntil {
  /** The last seal that was verified. */
  readonly seal: number
  readonly sealHash: string
  /** Rows with a time from here on are read; epoch milliseconds. All rows of the links after the seal have such a time. */
  readonly since: number
  /** Rows with a time from {@link since} on are in links after this seal. */
  readonly linksAfterSeal: number
  /** When the oldest payment, bonus and converted bonus was made that changed since: their entries are read from then on. Epoch milliseconds. */
  readonly paymentsSince: number
  readonly bonusesSince: number
  readonly conversionsSince: number
  /** Audit lines in links up to the seal. */
  readonly audit: AuditSum
}

/** Number of audit lines, and the sum of their ids' hashes under a seed that only the service knows. */
export interface AuditSum {
  readonly lines: number
  readonly sum: bigint
}

export interface LedgerInvariant {
  /** Its name; several when the statement checks several invariants and returns the name in a column `rule`. */
  readonly rule: string | ReadonlyArray<string>
  /**
   * Statement that finds violations: `player_id`, `subject`, `message`. Placeholders: {@link inScope}. Those relations that it reads by their own names
   * are read wholly by each verification, so every join has to be hashable.
   */
  readonly statement: string
  /**
   * The statement of a verification that goes on from an earlier one, where the placeholders alone do not make it one; null: only a verification of
   * everything checks it.
   */
  readonly incremental?: string | null
  /** How long it takes for 20 million entries, about: the longest are checked first, so that both sessions end at the same time. */
  readonly seconds?: number
}

/** A violated invariant and the record. */
export interface Violation {
  /** The invariant. */
  readonly rule: string
  readonly player_id: number | null
  /** The entry, payment, provider transaction or round. */
  readonly subject: string
  readonly message: string
}

/** Violations reported per invariant. */
export const maxViolations = 100

/** What a verification covers. */
export interface VerificationScope {
  /** Undefined: all operators. */
  readonly operatorId: number | undefined
  /** Undefined: everything. */
  readonly until: VerifiedUntil | undefined
}

/** Rounds that were opened so long before are verified once more: those of a live table last. */
const openRoundsMs = 86_400_000

const dayMs = 86_400_000

const instant = (ms: number): string => `'${new Date(ms).toISOString()}'::timestamptz`

/** Rows of the operator's players, whichever operator a row names, with a time in `column` from `since` on. */
const ofPlayers = (
  table: string,
  operatorId: number | undefined,
  column: string,
  since: string | undefined
): string => {
  const isNew = since === undefined ? "" : ` WHERE t.${column} >= ${since}`
  if (operatorId !== undefined) {
    return `(SELECT t.* FROM ${table} t JOIN accounts a ON a.player_id = t.player_id AND a.operator_id = ${
      Math.trunc(operatorId)
    }${isNew})`
  }
  return since === undefined ? table : `(SELECT t.* FROM ${table} t${isNew})`
}

/** Links of the chain after a seal: looked up chain by chain, since most links are older. */
export const linksAfter = (seal: number): string =>
  `(WITH RECURSIVE chains AS (
      (SELECT chain_id FROM chain_links ORDER BY chain_id DESC LIMIT 1)
      UNION ALL
      SELECT n.chain_id FROM chains h CROSS JOIN LATERAL (SELECT chain_id FROM chain_links c
        WHERE c.chain_id < h.chain_id ORDER BY c.chain_id DESC LIMIT 1) n)
    SELECT c.* FROM chains h
    CROSS JOIN LATERAL (SELECT coalesce(max(s.link), 0) AS link FROM chain_seal_heads s
      WHERE s.chain_id = h.chain_id AND s.seal <= ${Math.trunc(seal)} OFFSET 0) sealed
    CROSS JOIN LATERAL (SELECT * FROM chain_links l WHERE l.chain_id = h.chain_id AND l.link > sealed.link OFFSET 0) c)`

/**
 * A statement for a scope. Replaces `$operator` by a condition on `operator_id`; `$entries`, `$transactions`, `$originalRounds` by what is new of the
 * ledger, the provider transactions of the operator's players and the rounds of originals; `$allTransactions` by these without a limit of time,
 * `$entriesOfPayments`, `$entriesOfBonuses`, `$wagers` and `$roundsOfWagers` by what belongs to those that changed; `$openRounds` by the rounds of the operator's players that were opened lately, `$openTransactions` by all messages since; `$links` by the links of the chain that rows since `$since` may be in, `$newLinks` by those of rows that were not there; `$since` by the
 * instant, and `$day` by the beginning of the first day (UTC) that is not verified wholly.
 */
export const inScope = (statement: string, { operatorId, until }: VerificationScope): string => {
  const since = until === undefined ? undefined : instant(until.since)
  const opened = until === undefined ? undefined : instant(until.since - openRoundsMs)
  const fromTime = (name: "paymentsSince" | "bonusesSince" | "conversionsSince"): string | undefined =>
    until === undefined ? undefined : instant(until[name])
  const transactionsSince = (from: string | undefined): string =>
    ofPlayers("provider_transactions", operatorId, "created_at", from)
  const newOf = (table: string, column: string, from: string | undefined): string =>
    from === undefined ? table : `(SELECT * FROM ${table} WHERE ${column} >= ${from})`
  const relations: { readonly [name: string]: string } = {
    $allTransactions: transactionsSince(undefined),
    $openTransactions: newOf("provider_transactions", "created_at", opened),
    $transactions: transactionsSince(since),
    $entries: newOf("ledger_entries", "created_at", since),
    $originalRounds: newOf("original_rounds", "created_at", since),
    $openRounds: ofPlayers("rounds", operatorId, "opened_at", opened),
    $entriesOfPayments: newOf("ledger_entries", "created_at", fromTime("paymentsSince")),
    $entriesOfBonuses: newOf("ledger_entries", "created_at", fromTime("bonusesSince")),
    $wagers: transactionsSince(fromTime("conversionsSince")),
    $roundsOfWagers: newOf("original_rounds", "created_at", fromTime("conversionsSince")),
    $links: until === undefined ? "chain_links" : linksAfter(until.linksAfterSeal),
    $newLinks: until === undefined ? "chain_links" : linksAfter(until.seal),
    $since: since ?? "'-infinity'::timestamptz",
    $day: until === undefined ? "'-infinity'::timestamptz" : instant(Math.floor(until.since / dayMs) * dayMs),
    $operator: operatorId === undefined ? "true" : `operator_id = ${Math.trunc(operatorId)}`
  }
  return statement.replaceAll(/\$[a-zA-Z]+/g, (name) => relations[name] ?? name)
}
