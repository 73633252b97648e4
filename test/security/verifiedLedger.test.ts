import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AuditLog } from "../../src/office/AuditLog.ts"
import { Chain } from "../../src/chain/Chain.ts"
import { Seals } from "../../src/chain/Seals.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { layerBackoffice } from "../../src/servers/Backoffice.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { Calendar, hourMs, pass } from "../kit/Calendar.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

const correct = Effect.fnUntraced(function*(playerId: number, amount: number) {
  const actors = yield* PlayerActors
  yield* actors.ask(null, playerId, correctionStep({ wallet: "real", amount, reason: "test", actor: "staff:1" }))
})

const note = (actor: string) =>
  Effect.flatMap(AuditLog, (log) =>
    log.change(
      { label: actor },
      ({ record }) => record({ action: "operator.update", subject: "operator:1", before: null, after: null })
    ))

const verify = (extent: "everything" | "new") => Effect.flatMap(LedgerAudit, (audit) => audit.verify(undefined, extent))

/** What a verification says of a damage that is taken back. */
const after = Effect.fnUntraced(function*(damage: string, extent: "everything" | "new") {
  const sql = yield* SqlClient.SqlClient
  const report = yield* sql.withTransaction(Effect.gen(function*() {
    yield* sql`SET LOCAL session_replication_role = replica`
    for (const statement of damage.split(";")) yield* sql.unsafe(statement)
    return yield* Effect.flatMap(verify(extent), Effect.fail)
  })).pipe(Effect.flip)
  if (!("violations" in report)) return yield* Effect.die(report)
  return {
    afterSeal: report.after_seal,
    found: report.violations.map(({ rule, subject }) => `${rule}: ${subject}`)
  }
})

/** Two players, of whom one moves again after the verification of everything up to seal 2. */
const history = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const seals = yield* Seals
  const operator = yield* addOperator("one")
  const ada = yield* addPlayer(operator, "ada")
  const bob = yield* addPlayer(operator, "bob")
  for (const amount of [100, 200]) {
    yield* correct(ada, amount)
    yield* correct(bob, amount)
  }
  for (const actor of ["staff:7", "staff:8"]) {
    yield* note(actor)
    yield* seals.run
    yield* pass(4 * hourMs)
  }
  const first = yield* verify("new")
  assert.deepInclude(first, { violations: [], after_seal: null, since: null, seals: 2, entries: 4 })
  yield* correct(ada, 300)
  yield* note("staff:9")
  yield* seals.run
  const lines = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM audit_log WHERE actor LIKE 'staff:%'
    AND action = 'operator.update' ORDER BY id`
  const [oldLine, laterLine, line] = lines.map(({ id }) => id)
  return { ada, bob, line, oldLine, laterLine, sql, seals }
})

const live = layerBackoffice.pipe(Layer.provideMerge(layerTestService()), Layer.provideMerge(Calendar.layer))

// Goal: a verification that goes on from an earlier one finds what was done to rows written since, to the seals, and to the balances of anybody; what it
// does not find, one of everything does. Method: each damage alone, by SQL with all triggers off, in a transaction that is rolled back.
layer(live, { excludeTestServices: true })("an incremental verification of the ledger", (it) => {
  it.effect("finds changes to rows written since the last verification, and to any balance or seal (hash over the ends of all chains)", () =>
    Effect.gen(function*() {
      const { ada, bob, laterLine, line, oldLine } = yield* history
      const length = (yield* Chain).positions().at(-1)
      assert.deepStrictEqual(yield* after("SELECT 1", "new"), { afterSeal: 2, found: [] })
      assert.deepStrictEqual(yield* after("SELECT 1", "everything"), { afterSeal: null, found: [] })

      const auditLine = (at: string) =>
        `INSERT INTO audit_log (id, at, actor, action, subject, salt) VALUES (99999999, '${at}', 'staff:1', 'x', 'x', '')`
      const entry =
        "INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at) " +
        "SELECT player_id, seq + 1, id + 1000000, operator_id, wallet, type, 5, balance_after + 5, created_at FROM ledger_entries"
      const seen: ReadonlyArray<readonly [damage: string, found: ReadonlyArray<string>]> = [
        [
          `UPDATE ledger_entries SET created_at = created_at + interval '1 second' WHERE player_id = ${ada} AND seq = 3`,
          [
            `chain_row_changed: entry 3 of player ${ada}`
          ]
        ],
        [`DELETE FROM ledger_entries WHERE player_id = ${ada} AND seq = 3`, [
          `account_is_its_ledger: player ${ada}`,
          `chain_row_removed: entry 3 of player ${ada}`
        ]],
        [`DELETE FROM audit_log WHERE id = ${line}`, [
          `chain_row_removed: audit line ${line}`,
          "chain_row_removed: audit log"
        ]],
        [
          auditLine("2026-11-20T20:00:00Z"),
          [
            "chain_row_added: audit line 99999999",
            "chain_row_added: audit log"
          ]
        ],
        // a line of a time that was verified, one that a verified link is made to name, and one in the place of another
        [auditLine("2026-11-20T12:00:00Z"), ["chain_row_added: audit log"]],
        [
          `${
            auditLine("2026-11-20T20:00:00Z")
          }; UPDATE chain_links SET audit_ids = audit_ids || 99999999 WHERE ${laterLine} = ANY(audit_ids)`,
          ["chain_row_added: audit log"]
        ],
        [`DELETE FROM audit_log WHERE id = ${oldLine}; ${auditLine("2026-11-20T12:00:00Z")}`, [
          "chain_row_added: audit log"
        ]],
        // money for a player who has not moved, with an entry that a verified link is made to name
        [
          `${entry} WHERE player_id = ${bob} AND seq = 2; UPDATE ledger_entries SET created_at = '2026-11-20T20:00:00Z' WHERE player_id = ${bob} AND seq = 3;` +
          `UPDATE accounts SET entry_seq = 3, real_balance = 305 WHERE player_id = ${bob};` +
          `UPDATE chain_links SET player_ids = ARRAY[${bob}], seqs = ARRAY[3] WHERE ${laterLine} = ANY(audit_ids)`,
          [`chain_row_added: entry 3 of player ${bob}`]
        ],
        [
          `${entry} WHERE player_id = ${ada} AND seq = 3; UPDATE accounts SET entry_seq = 4, real_balance = 605 WHERE player_id = ${ada}`,
          [`chain_row_added: entry 4 of player ${ada}`]
        ],
        // money for a player who has not moved, with an entry of a time that was verified
        [
          `${entry} WHERE player_id = ${bob} AND seq = 2; UPDATE accounts SET entry_seq = 3, real_balance = 305 WHERE player_id = ${bob}`,
          [`account_is_its_ledger: player ${bob}`]
        ],
        [`UPDATE accounts SET real_balance = 301 WHERE player_id = ${bob}`, [`account_is_its_ledger: player ${bob}`]],
        [`DELETE FROM accounts WHERE player_id = ${bob}`, [`account_is_its_ledger: player ${bob}`]],
        // the links that are gone name the new rows
        ["DELETE FROM chain_links WHERE chain_id = " + (length?.chainId ?? 0) + " AND link = " + (length?.link ?? 0), [
          "chain_seal_broken: seal 3",
          `chain_link_broken: chain ${length?.chainId ?? 0}`,
          `chain_row_added: entry 3 of player ${ada}`,
          "chain_row_added: audit log"
        ]],
        ["UPDATE chain_seals SET sealed_at = sealed_at + interval '1 minute' WHERE seal = 1", [
          "chain_seal_broken: seal 1"
        ]],
        ["UPDATE chain_seal_heads SET hash = sha256('x') WHERE seal = 1", [
          "chain_seal_broken: seal 1",
          // follows the head of before
          `chain_link_broken: link ${length?.link ?? 0} of chain ${length?.chainId ?? 0}`
        ]],
        ["UPDATE chain_seals SET sealed_at = sealed_at + interval '1 minute' WHERE seal = 3", [
          "chain_seal_broken: seal 3"
        ]],
        ["DELETE FROM chain_seals WHERE seal = 1", ["chain_seal_broken: seal 1", "chain_seal_broken: seal 2"]]
      ]
      for (const [damage, expected] of seen) {
        const { afterSeal, found } = yield* after(damage, "new")
        assert.strictEqual(afterSeal, 2, damage)
        const rest = found.filter((text) => !text.startsWith("chain_row_added: audit line") || expected.includes(text))
        assert.sameMembers([...new Set(rest)], [...expected], damage)
      }

      const unseen: ReadonlyArray<readonly [damage: string, found: ReadonlyArray<string>]> = [
        [
          `UPDATE ledger_entries SET created_at = created_at + interval '1 second' WHERE player_id = ${ada} AND seq = 1`,
          [
            `chain_row_changed: entry 1 of player ${ada}`
          ]
        ],
        [`UPDATE audit_log SET actor = 'staff:5' WHERE id = ${oldLine}`, [`chain_row_changed: audit line ${oldLine}`]]
      ]
      for (const [damage, expected] of unseen) {
        assert.deepStrictEqual(yield* after(damage, "new"), { afterSeal: 2, found: [] }, damage)
        assert.deepStrictEqual(yield* after(damage, "everything"), { afterSeal: null, found: [...expected] }, damage)
      }

      // what the verification kept, and what it kept it of
      const changed = "verified_record_changed: ledger verification"
      const kept: ReadonlyArray<readonly [damage: string, found: ReadonlyArray<string>]> = [
        ["UPDATE ledger_verification SET seal = 3, seal_hash = (SELECT hash FROM chain_seals WHERE seal = 3)", [
          changed
        ]],
        ["UPDATE ledger_verification SET verified_at = verified_at + interval '1 day'", [changed]],
        ["UPDATE ledger_verification SET wholly_at = wholly_at + interval '1 day'", [changed]],
        ["UPDATE ledger_verification SET tag = sha256('x')", [changed]],
        ["DELETE FROM ledger_verified_players", [changed]],
        [
          `UPDATE ledger_verified_players SET real_balance = 301 WHERE player_id = ${bob};` +
          `UPDATE accounts SET real_balance = 301 WHERE player_id = ${bob}`,
          [`account_is_its_ledger: player ${bob}`, changed]
        ],
        ["UPDATE chain_seals SET hash = sha256('x') WHERE seal = 2", [
          "chain_seal_broken: seal 2",
          "chain_seal_broken: seal 3",
          changed
        ]],
        // of nothing that was verified nothing is said
        ["DELETE FROM ledger_verification", []]
      ]
      for (const [damage, expected] of kept) {
        assert.deepStrictEqual(yield* after(damage, "new"), { afterSeal: null, found: [...expected] }, damage)
      }
    }))
})

// Goal: what is kept moves on with each sound verification of all ledgers, and with none that is not. Method: verifications one after the other.
layer(live, { excludeTestServices: true })("the stored position of the incremental verification", (it) => {
  it.effect("advances with each verification without violation, and is discarded at the first violation until the ledger is repaired", () =>
    Effect.gen(function*() {
      const { bob, seals, sql } = yield* history
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 2, since: "2026-11-20T16:00:00.000Z" })
      // nothing was sealed since
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 3, since: "2026-11-20T20:00:00.000Z" })
      yield* correct(bob, 1)
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 3, entries: 6 })
      yield* seals.run
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 3 })
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 4 })

      // of one operator: it goes on from there as well, and keeps nothing
      const audit = yield* LedgerAudit
      const [operator] = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM operators`
      yield* correct(bob, 1)
      yield* seals.run
      assert.deepInclude(yield* audit.verify(operator?.id, "new"), { violations: [], after_seal: 4, players: 2 })
      assert.deepInclude(yield* audit.verify(operator?.id, "new"), { violations: [], after_seal: 4 })

      const damage = (amount: number) =>
        sql`UPDATE ledger_entries SET amount = amount + ${amount} WHERE player_id = ${bob} AND seq = 1`
      yield* damage(1)
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 4 })
      assert.isAbove((yield* verify("everything")).violations.length, 0)
      // the nightly one does not say that all is well
      for (const _ of [1, 2]) {
        const { after_seal, violations } = yield* verify("new")
        assert.isNull(after_seal)
        assert.include(violations.map(({ rule }) => rule), "chain_row_changed")
      }
      yield* damage(-1)
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: null })
      assert.deepInclude(yield* verify("new"), { violations: [], after_seal: 5 })
    }))
})
