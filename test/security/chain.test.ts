import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { layerBackoffice } from "../../src/servers/Backoffice.ts"
import { AuditLog } from "../../src/office/AuditLog.ts"
import { ExportPatience, LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import { LedgerRestores } from "../../src/features/ledger/LedgerRestores.ts"
import { Chain, type ChainKey } from "../../src/chain/Chain.ts"
import { RememberedEnds } from "../../src/chain/Ends.ts"
import { ExportCheck } from "../../src/chain/ExportLines.ts"
import { erasedLine, hashOf, linkLine, noHash, sealLine, valuesLineSql } from "../../src/chain/Lines.ts"
import { Seals } from "../../src/chain/Seals.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { StaffAccounts } from "../../src/features/staff/Staff.ts"
import { makePlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { Profiles } from "../../src/features/players/Profiles.ts"
import { addOperator, addPlayer, layerTestService } from "../kit/TestService.ts"

const live = layerBackoffice.pipe(Layer.provideMerge(layerTestService()))

const correct = Effect.fnUntraced(function*(playerId: number, amount: number) {
  const actors = yield* PlayerActors
  yield* actors.ask(null, playerId, correctionStep({ wallet: "real", amount, reason: "test", actor: "staff:1" }))
})

const findings = Effect.flatMap(
  LedgerAudit,
  ({ verify }) =>
    Effect.map(
      verify(undefined),
      ({ violations }) =>
        violations.filter(({ rule }) => rule.startsWith("chain_")).map(({ rule, subject }) => `${rule}: ${subject}`)
    )
)

/** Two players with three entries each, an audit line of the back office, and one of a profile; sealed twice on the way. */
const history = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const seals = yield* Seals
  const operator = yield* addOperator("one")
  const other = yield* addOperator("two")
  const ada = yield* addPlayer(operator, "ada")
  const bob = yield* addPlayer(other, "bob")
  for (const amount of [100, 200]) yield* Effect.all([correct(ada, amount), correct(bob, amount)], { concurrency: 2 })
  yield* seals.run
  yield* (yield* AuditLog).change(
    { label: "staff:7" },
    ({ record }) =>
      record({ action: "operator.update", subject: "operator:1", before: { b: 1, a: [1.5] }, after: null })
  )
  yield* (yield* Profiles).update(operator.id, ada, { city: "Löß" }, "key:1")
  yield* Effect.all([correct(ada, 300), correct(bob, 300)], { concurrency: 2 })
  yield* seals.run
  const chains = yield* sql<{ readonly id: number; readonly links: number }>`SELECT chain_id::float8 AS id,
    max(link)::float8 AS links FROM chain_links GROUP BY chain_id ORDER BY max(link) DESC, chain_id DESC`
  const journal = (yield* Chain).positions().at(-1)?.chainId ?? 0
  return { ada, bob, operator, other, chains, journal }
})

/** A line in the form of before salts, which has its values in itself. */
const forgedValues = hashOf("[\"values\",\"\",null,null,null]")
const forgedDigest = hashOf(`["audit",99999999,1000000,"staff:1","x",null,null,"x","${forgedValues}"]`)
const forgedLink = (chainId: number): string => hashOf(linkLine(chainId, 1, noHash, [forgedDigest]))

// Goal: every manual change, removal or addition in the ledger, the audit log, the chain or its seals is found and
// named. Method: each damage alone, by SQL with all triggers off, in a transaction that is rolled back.
layer(live)("the hash chain", (it) => {
  it.effect("finds and names manual changes to rows, links and seals (hashes over the ends of all chains)", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { ada, bob, chains, journal, operator, other } = yield* history
      assert.deepStrictEqual(yield* findings, [])
      const [line] = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM audit_log WHERE actor = 'staff:7'`
      const first = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM audit_log
        WHERE action = 'player.correct' AND player_id = ${ada} ORDER BY id`
      const lineId = line?.id ?? 0
      const auditChain = chains.find(({ id }) => id !== journal)?.id ?? 0
      const length = chains.find(({ id }) => id === journal)?.links ?? 0
      const forged = hashOf(linkLine(journal, length + 1, noHash, []))

      const damages: ReadonlyArray<readonly [damage: string, found: ReadonlyArray<string>]> = [
        [
          `UPDATE ledger_entries SET created_at = created_at + interval '1 microsecond' WHERE player_id = ${ada} AND seq = 2`,
          [
            `chain_row_changed: entry 2 of player ${ada}`
          ]
        ],
        [`UPDATE ledger_entries SET id = id + 1 WHERE player_id = ${bob} AND seq = 1`, [
          `chain_row_changed: entry 1 of player ${bob}`
        ]],
        [`UPDATE ledger_entries SET game_round_id = '' WHERE player_id = ${bob} AND seq = 3`, [
          `chain_row_changed: entry 3 of player ${bob}`
        ]],
        [`DELETE FROM ledger_entries WHERE player_id = ${ada} AND seq = 3`, [
          `chain_row_removed: entry 3 of player ${ada}`
        ]],
        [
          `DELETE FROM ledger_entries; DELETE FROM accounts`,
          [1, 2, 3].flatMap((seq) => [
            `chain_row_removed: entry ${seq} of player ${ada}`,
            `chain_row_removed: entry ${seq} of player ${bob}`
          ])
        ],
        [
          `INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
            SELECT player_id, 4, id + 1000000, operator_id, wallet, type, 5, balance_after + 5, created_at
            FROM ledger_entries WHERE player_id = ${ada} AND seq = 3`,
          [`chain_row_added: entry 4 of player ${ada}`]
        ],
        [`UPDATE audit_log SET actor = 'staff:8' WHERE id = ${lineId}`, [`chain_row_changed: audit line ${lineId}`]],
        [`UPDATE audit_log SET before = '{"a": [1.5], "b": 2}' WHERE id = ${lineId}`, [
          `chain_row_changed: audit line ${lineId}`
        ]],
        [`UPDATE audit_log SET reason = 'other' WHERE id = ${first[0]?.id}`, [
          `chain_row_changed: audit line ${first[0]?.id}`
        ]],
        [`UPDATE audit_log SET salt = sha256('x') WHERE id = ${lineId}`, [`chain_row_changed: audit line ${lineId}`]],
        // values that are gone without a line that says so, and another digest in their place
        ...([
          [`sha256(convert_to(${valuesLineSql("a")}, 'UTF8'))`, []],
          ["sha256('x')", [`chain_row_changed: audit line ${first[0]?.id}`]]
        ] as const).map(([digest, more]) =>
          [
            `UPDATE audit_log a SET values_digest = ${digest}, salt = NULL, before = NULL, after = NULL, reason = NULL
              WHERE id = ${first[0]?.id}`,
            [...more, `chain_values_removed: audit line ${first[0]?.id}`]
          ] as const
        ),
        [`DELETE FROM audit_log WHERE id = ${lineId}`, [`chain_row_removed: audit line ${lineId}`]],
        [
          `INSERT INTO audit_log (id, at, actor, action, subject, salt) VALUES (99999999, now(), 'staff:1', 'player.correct', 'x', '')`,
          ["chain_row_added: audit line 99999999"]
        ],
        [`UPDATE chain_links SET hash = sha256('x') WHERE chain_id = ${auditChain} AND link = 1`, [
          `chain_link_broken: link 1 of chain ${auditChain}`,
          `chain_link_broken: link 1 of chain ${auditChain}`,
          `chain_link_broken: link 2 of chain ${auditChain}`
        ]],
        [`UPDATE chain_links SET digests = sha256('x') WHERE chain_id = ${auditChain} AND link = 2`, [
          `chain_link_broken: link 2 of chain ${auditChain}`,
          ...(yield* sql<{ readonly id: string }>`SELECT audit_ids[1]::text AS id FROM chain_links
            WHERE chain_id = ${auditChain} AND link = 2`).map(({ id }) => `chain_row_changed: audit line ${id}`)
        ]],
        [`DELETE FROM chain_links WHERE chain_id = ${auditChain} AND link = 1`, [
          `chain_row_added: audit line ${lineId}`,
          `chain_link_broken: link 2 of chain ${auditChain}`
        ]],
        [`UPDATE chain_links SET audit_ids = '{}' WHERE chain_id = ${auditChain} AND link = 1`, [
          `chain_row_added: audit line ${lineId}`,
          `chain_link_broken: link 1 of chain ${auditChain}`
        ]],
        [`UPDATE chain_links SET tag = sha256('x') WHERE chain_id = ${auditChain} AND link = 2`, [
          `chain_link_broken: link 2 of chain ${auditChain}`
        ]],
        [
          `INSERT INTO chain_links VALUES (${journal}, ${
            length + 1
          }, '\\x${forged}', sha256('x'), '', '{}', '{}', '{}')`,
          [
            `chain_link_broken: link ${length + 1} of chain ${journal}`,
            `chain_link_broken: link ${length + 1} of chain ${journal}`
          ]
        ],
        [`UPDATE chain_seals SET hash = sha256('x') WHERE seal = 1`, [
          "chain_seal_broken: seal 1",
          "chain_seal_broken: seal 2"
        ]],
        [`UPDATE chain_seals SET sealed_at = sealed_at + interval '1 minute' WHERE seal = 2`, [
          "chain_seal_broken: seal 2"
        ]],
        [`DELETE FROM chain_seals WHERE seal = 1`, ["chain_seal_broken: seal 1", "chain_seal_broken: seal 2"]],
        // the last one, which the service remembers
        [`DELETE FROM chain_seals WHERE seal = 2`, ["chain_seal_broken: seal 2", "chain_seal_broken: seals"]],
        [`DELETE FROM chain_seal_heads WHERE seal = 1`, ["chain_seal_broken: seal 1"]],
        [`INSERT INTO chain_seals VALUES (3, sha256('x'), now())`, ["chain_seal_broken: seal 3"]],
        // a forged line with a link whose hash is right, in a chain with a number that no service takes
        ...[0, -7].map((chainId) =>
          [
            `INSERT INTO audit_log (id, at, actor, action, subject, salt) VALUES (99999999, to_timestamp(1), 'staff:1', 'x', 'x', '');
              INSERT INTO chain_links VALUES (${chainId}, 1, '\\x${
              forgedLink(chainId)
            }', sha256('x'), '\\x${forgedDigest}',
                '{}', '{}', '{99999999}')`,
            [`chain_link_broken: link 1 of chain ${chainId}`]
          ] as const
        ),
        // rows that cannot be decoded are named, and do not end the verification
        [
          `INSERT INTO chain_links VALUES (${journal}, ${
            length + 1
          }, sha256('x'), sha256('x'), '', '{NULL}', '{{1,2}}', '{NULL}')`,
          [
            `chain_link_broken: link ${length + 1} of chain ${journal}`,
            `chain_link_broken: link ${length + 1} of chain ${journal}`,
            `chain_link_broken: link ${length + 1} of chain ${journal}`,
            "chain_row_removed: entry 1 of player 0",
            "chain_row_removed: audit line 0"
          ]
        ],
        [`UPDATE audit_log SET at = 'infinity' WHERE id = ${lineId}`, [`chain_row_changed: audit line ${lineId}`]],
        [`UPDATE ledger_entries SET created_at = '-infinity' WHERE player_id = ${bob} AND seq = 3`, [
          `chain_row_changed: entry 3 of player ${bob}`
        ]],
        [`UPDATE chain_seals SET sealed_at = 'infinity' WHERE seal = 2`, ["chain_seal_broken: seal 2"]],
        // what takes the owner's role: rows that no key and no constraint refuses any more
        [
          `ALTER TABLE ledger_entries ALTER amount DROP NOT NULL; UPDATE ledger_entries SET amount = NULL WHERE player_id = ${ada} AND seq = 2`,
          [`chain_row_changed: entry 2 of player ${ada}`]
        ],
        [
          `ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey; INSERT INTO audit_log SELECT * FROM audit_log WHERE id = ${lineId}`,
          ["chain_row_added: ledger entries and audit lines"]
        ],
        [
          `ALTER TABLE audit_log DROP CONSTRAINT audit_log_pkey; INSERT INTO audit_log (id, at, actor, action, subject, salt)
            SELECT id, at, 'staff:8', action, subject, salt FROM audit_log WHERE id = ${lineId}`,
          [`chain_row_changed: audit line ${lineId}`]
        ],
        // without a lock on the table, which other sessions read
        [
          `UPDATE pg_index SET indisunique = false, indisprimary = false WHERE indexrelid = 'chain_links_pkey'::regclass; INSERT INTO chain_links SELECT * FROM chain_links WHERE chain_id = ${auditChain} AND link = 1`,
          [
            `chain_link_broken: chain ${auditChain}`,
            `chain_link_broken: link 1 of chain ${auditChain}`
          ]
        ]
      ]
      for (const [damage, expected] of damages) {
        const found = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`SET LOCAL session_replication_role = replica`
          for (const statement of damage.split(";")) yield* sql.unsafe(statement)
          return yield* Effect.flatMap(findings, Effect.fail)
        })).pipe(Effect.flip)
        assert.sameMembers([...Array.isArray(found) ? found : []], [...expected], damage)
      }
      // the tail of this process's chain, with all that belongs to it
      const cut = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SET LOCAL session_replication_role = replica`
        yield* sql`DELETE FROM ledger_entries WHERE (player_id, seq) IN (SELECT p, s FROM chain_links, unnest(player_ids, seqs) AS u(p, s)
          WHERE chain_id = ${journal} AND link = ${length})`
        yield* sql`DELETE FROM audit_log WHERE id IN (SELECT unnest(audit_ids) FROM chain_links
          WHERE chain_id = ${journal} AND link = ${length})`
        yield* sql`DELETE FROM chain_links WHERE chain_id = ${journal} AND link = ${length}`
        yield* sql`DELETE FROM chain_seal_heads WHERE seal = 2`
        yield* sql`DELETE FROM chain_seals WHERE seal = 2`
        return yield* Effect.flatMap(findings, Effect.fail)
      })).pipe(Effect.flip)
      assert.deepStrictEqual(cut, [`chain_link_broken: chain ${journal}`, "chain_seal_broken: seals"])

      // an operator's verification covers the operator's own rows
      const audit = yield* LedgerAudit
      yield* sql`UPDATE ledger_entries SET created_at = now() WHERE player_id = ${bob} AND seq = 1`
      yield* sql`DELETE FROM ledger_entries WHERE player_id = ${bob} AND seq = 2`
      const of = (operatorId: number) =>
        Effect.map(
          audit.verify(operatorId),
          ({ violations }) =>
            violations.flatMap(({ rule, subject }) => rule.startsWith("chain_") ? [`${rule}: ${subject}`] : [])
        )
      assert.deepStrictEqual(yield* of(operator.id), [])
      assert.sameMembers([...yield* of(other.id)], [
        `chain_row_changed: entry 1 of player ${bob}`,
        `chain_row_removed: entry 2 of player ${bob}`
      ])
    }))
})

// Goal: no commit leaves the chain broken, however it ends. Method: commits that are rejected together and divided, a next link that
// is taken already, and two journals on one database. An outcome that stays unknown: test/store/StoreFailures.test.ts.
layer(live)("the hash chain of a journal", (it) => {
  it.effect("stays valid when a batch is split, a link number is already taken, or two writers commit to one database", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const chain = yield* Chain
      const operator = yield* addOperator("one")
      const players = yield* Effect.forEach(Array.from({ length: 8 }), (_, index) => addPlayer(operator, `p${index}`))
      // all at once, and one of them fails alone: the first goes by itself, the others together
      yield* Effect.forEach(players, (playerId) => correct(playerId, 10), { discard: true })
      yield* sql`UPDATE accounts SET version = version + 1 WHERE player_id = ${players[4] ?? 0}`
      yield* Effect.forEach(players, (playerId) => correct(playerId, 10), { concurrency: "unbounded", discard: true })
      const before = chain.positions().at(-1)
      assert.deepStrictEqual(yield* findings, [])

      // the next link is taken: nothing is written, and the next commit begins a chain
      const taken = (before?.link ?? 0) + 1
      yield* sql`INSERT INTO chain_links VALUES (${before?.chainId ?? 0}, ${taken}, '', '', '', '{}', '{}', '{}')`
      const refused = yield* Effect.exit(correct(players[0] ?? 0, 10))
      assert.isTrue(Exit.isFailure(refused))
      yield* correct(players[0] ?? 0, 10)
      assert.notStrictEqual(chain.positions().at(-1)?.chainId, before?.chainId)
      yield* sql`SET session_replication_role = replica`.pipe(
        Effect.andThen(sql`DELETE FROM chain_links WHERE link = ${taken} AND chain_id = ${before?.chainId ?? 0}`),
        Effect.andThen(sql`SET session_replication_role = origin`),
        sql.withTransaction
      )
      assert.deepStrictEqual(yield* findings, [])

      // another journal on the same database has a chain of its own
      const other = yield* Layer.build(PlayerActors.layerOver(makePlayerStore))
      yield* Effect.forEach(
        players,
        (playerId, index) => index % 2 === 0 ? correct(playerId, 10) : Effect.provide(correct(playerId, 10), other),
        {
          concurrency: "unbounded",
          discard: true
        }
      )
      assert.deepStrictEqual(yield* findings, [])
      const chains = yield* sql`SELECT DISTINCT chain_id FROM chain_links WHERE player_ids <> '{}'`
      assert.lengthOf(chains, 3)
    }))
})

layer(live)("verifications", (it) => {
  it.effect("of the ledger run one at a time", () =>
    Effect.gen(function*() {
      yield* history
      const { verify } = yield* LedgerAudit
      const ends = yield* Effect.all(Array.from({ length: 10 }, () => Effect.exit(verify(undefined))), {
        concurrency: "unbounded"
      })
      assert.strictEqual(ends.filter(Exit.isSuccess).length, 1)
    }))
})

/** The lines of an export. */
const exported = (operatorId?: number) =>
  Effect.flatMap(LedgerAudit, (audit) =>
    Effect.map(
      Effect.flatMap(audit.exported(operatorId), Stream.runCollect),
      (texts) => [...texts].join("").trimEnd().split("\n")
    ))

const checkLines = (lines: ReadonlyArray<string>, hash: string) => {
  const check = new ExportCheck(hash)
  for (const line of lines) check.take(line)
  return check.report()
}

/** An independent verifier written from docs/ledger-export.md: true when the hash proves all lines before it. */
const isProvenBy = (lines: ReadonlyArray<string>, published: string): boolean => {
  const sha256 = (line: string) => createHash("sha256").update(line).digest("hex")
  const heads = new Map<number, { readonly link: number; readonly hash: string }>()
  let digests: ReadonlyArray<string> = []
  let values = ""
  let seal = { number: 0, hash: "0".repeat(64) }
  for (const line of lines.slice(1)) {
    const [kind, first, second, third, fourth] = JSON.parse(line)
    if (kind === "link") {
      const head = heads.get(first) ?? { link: 0, hash: "0".repeat(64) }
      if (digests.length > 0 || second !== head.link + 1 || third !== head.hash) return false
      heads.set(first, { link: second, hash: sha256(line) })
      digests = fourth
    } else if (kind === "entry" || kind === "audit") {
      if (digests[0] !== sha256(line)) return false
      digests = digests.slice(1)
      values = kind === "audit" ? JSON.parse(line)[8] : ""
    } else if (kind === "values") {
      if (values !== sha256(line)) return false
    } else if (kind === "seal") {
      if (digests.length > 0 || first !== seal.number + 1 || third !== seal.hash) return false
      for (const [chain, link, hash] of fourth) {
        const head = heads.get(chain)
        if (head === undefined || head.link !== link || head.hash !== hash) return false
      }
      seal = { number: first, hash: sha256(line) }
      if (seal.hash === published) return true
    }
  }
  return false
}

// Goal: an export and one published hash are enough to find the same without the service. Method: an export of the history above, changed line
// by line; an export of a manually changed database; and an insider who recomputes all hashes.
layer(live)("an export of the hash chain", (it) => {
  it.effect("can be verified from the file alone with one published hash", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { ada, bob, operator } = yield* history
      yield* correct(ada, 5)
      const lines = yield* exported()
      const sealLines = lines.filter((line) => line.startsWith("[\"seal\""))
      const [first = "", second = ""] = sealLines.map(hashOf)
      const sound = checkLines(lines, second)
      assert.deepStrictEqual(sound.violations, [])
      assert.deepInclude(sound, { operator_id: null, seal: 2, seals: 2 })
      assert.isAbove(sound.links, sound.proven_links)
      assert.isBelow(checkLines(lines, first).proven_links, sound.proven_links)
      assert.isTrue(isProvenBy(lines, first) && isProvenBy(lines, second))

      // an operator's own rows, and none of the others
      const own = yield* exported(operator.id)
      assert.deepStrictEqual(checkLines(own, second).violations, [])
      assert.notInclude(own.join("\n"), `["entry",${bob},`)
      assert.include(own.join("\n"), `["entry",${ada},`)

      // every line that is left out, doubled or changed
      for (const [index, line] of lines.entries()) {
        const name = `line ${index + 1}: ${line.slice(0, 60)}`
        assert.isAbove(checkLines(lines.toSpliced(index, 1), second).violations.length, 0, `without ${name}`)
        assert.isAbove(checkLines(lines.toSpliced(index, 0, line), second).violations.length, 0, `twice ${name}`)
        if (index === 0 || index === lines.length - 1) continue
        const changed = line.replace(/(\d)(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))
        if (changed === line) continue
        assert.isAbove(checkLines(lines.with(index, changed), second).violations.length, 0, `changed ${name}`)
      }

      // values that are gone although no line says that they were erased
      const emptied = lines.findIndex((line) => line.startsWith("[\"values\""))
      assert.deepStrictEqual(
        checkLines(lines.with(emptied, erasedLine), second).violations.map(({ rule }) => rule),
        ["chain_values_removed"]
      )

      // manual changes of the database are named in the export as well
      const found = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE ledger_entries SET created_at = created_at + interval '1 day' WHERE player_id = ${ada} AND seq = 1`
        yield* sql`DELETE FROM ledger_entries WHERE player_id = ${bob} AND seq = 2`
        yield* sql`INSERT INTO ledger_entries (player_id, seq, id, operator_id, wallet, type, amount, balance_after, created_at)
          SELECT player_id, 99, id + 1000000, operator_id, wallet, type, 5, 5, created_at
          FROM ledger_entries WHERE player_id = ${ada} AND seq = 3`
        const sink: Array<string> = []
        const audit = yield* LedgerAudit
        // over the same connection, which sees what is not committed
        yield* Stream.runForEach(yield* audit.exported(undefined), (text) => Effect.sync(() => sink.push(text)))
        return yield* Effect.fail(sink.join("").trimEnd().split("\n"))
      })).pipe(Effect.flip)
      assert.isTrue(Array.isArray(found))
      const { violations } = checkLines(Array.isArray(found) ? found : [], second)
      assert.sameMembers(violations.map(({ rule, subject }) => `${rule}: ${subject}`), [
        `chain_row_changed: entry 1 of player ${ada}`,
        `chain_row_removed: entry 2 of player ${bob}`,
        `chain_row_added: entry 99 of player ${ada}`
      ])

      // an insider changes an entry and recomputes every hash: consistent, but not the published one
      const hashes = new Map<string, string>()
      let lastSeal = noHash
      let pending: ReadonlyArray<string> = []
      const forged: Array<string> = []
      for (const line of lines) {
        const fields = JSON.parse(line)
        if (["entry", "audit", "values"].includes(fields[0])) {
          pending = [...pending, line.replace("\"correction_up\",100,", "\"correction_up\",900,")]
          continue
        }
        forged.push(...pending)
        pending = []
        if (fields[0] === "link") {
          const at = lines.indexOf(line) + 1
          const rows = lines.slice(at).filter((row) => !row.startsWith("[\"values\"")).slice(0, fields[4].length)
            .map((row) => row.replace("\"correction_up\",100,", "\"correction_up\",900,"))
          const made = linkLine(fields[1], fields[2], hashes.get(String(fields[1])) ?? noHash, rows.map(hashOf))
          hashes.set(String(fields[1]), hashOf(made))
          forged.push(made)
        } else if (fields[0] === "seal") {
          const heads = fields[4].map(([chainId, link]: [number, number]) => ({
            chainId: String(chainId),
            link: String(link),
            hash: hashes.get(String(chainId)) ?? ""
          }))
          const made = sealLine(fields[1], String(fields[2]), lastSeal, heads)
          lastSeal = hashOf(made)
          forged.push(made)
        } else {
          forged.push(line)
        }
      }
      assert.notDeepEqual(forged, lines)
      assert.deepStrictEqual(checkLines(forged, lastSeal).violations, [], "what is forged fits together")
      assert.deepStrictEqual(checkLines(forged, second).violations.map(({ subject }) => subject), ["published hash"])
      assert.isFalse(isProvenBy(forged, second))
    }))
})

const impatient = layerBackoffice.pipe(
  Layer.provide(Layer.succeed(ExportPatience, 200)),
  Layer.provideMerge(layerTestService())
)

layer(impatient, { excludeTestServices: true, timeout: "60 seconds" })("an unread export of the hash chain", (it) => {
  it.effect("does not block a verification, and makes the next export wait only until its own timeout", () =>
    Effect.gen(function*() {
      const audit = yield* LedgerAudit
      const log = yield* AuditLog
      const noted = log.change(
        { label: "staff:7" },
        ({ record }) => record({ action: "operator.update", subject: "operator:1", before: null, after: null })
      )
      // more pages of links than a stream holds by itself
      yield* Effect.repeat(noted, { times: 800 })
      const begun = yield* Deferred.make<void>()
      const unread = yield* Effect.forkChild(
        Stream.runForEach(
          yield* audit.exported(undefined),
          () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
        )
      )
      yield* Deferred.await(begun)
      assert.strictEqual((yield* audit.verify(undefined)).links, 801)
      const read = yield* Stream.runCollect(yield* audit.exported(undefined))
      assert.match(read.at(-1) ?? "", /^\["end"/)
      yield* Fiber.interrupt(unread)
    }))
})

/** Removes the end of the audit log: its last lines with their links, all seals that cover them, and the heads of these. */
const cutOff = Effect.fnUntraced(function*(from: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SET LOCAL session_replication_role = replica`.pipe(
    Effect.andThen(sql`DELETE FROM chain_seal_heads WHERE seal >= (SELECT min(seal) FROM chain_seal_heads
      WHERE chain_id = 1 AND link >= ${from})`),
    Effect.andThen(
      sql`DELETE FROM chain_seals WHERE NOT EXISTS (SELECT FROM chain_seal_heads h WHERE h.seal = chain_seals.seal)`
    ),
    Effect.andThen(sql`DELETE FROM audit_log WHERE id IN (SELECT unnest(audit_ids) FROM chain_links
      WHERE chain_id = 1 AND link >= ${from})`),
    Effect.andThen(sql`DELETE FROM chain_links WHERE chain_id = 1 AND link >= ${from}`),
    sql.withTransaction
  )
})

const founder = { id: null, name: "bootstrap", role: "admin", operators: null, label: "staff:bootstrap" } as const

const noteLine = Effect.flatMap(
  AuditLog,
  (log) =>
    log.change(
      { label: "staff:7" },
      ({ record }) => record({ action: "operator.update", subject: "operator:1", before: null, after: null })
    )
)

// Goal: the end of a log that was cut off, with everything in the tables that speaks of it, is found by a process that has seen it, and by the
// next one that reads its file. Method: the deletion by the owner of the database; two processes' memories on one database.
layer(live, { excludeTestServices: true })("a hash chain whose last links were deleted", (it) => {
  it.effect("is detected by a process that remembers its end, also after a restart and after new links were added", () =>
    Effect.gen(function*() {
      const ends = yield* RememberedEnds
      const seals = yield* Seals
      yield* Effect.repeat(noteLine, { times: 3 })
      yield* seals.run
      assert.deepStrictEqual(yield* ends.look, [])
      yield* Effect.repeat(noteLine, { times: 1 })
      yield* seals.run
      assert.deepStrictEqual(yield* ends.look, [])
      const kept = ends.current()
      assert.deepStrictEqual([kept.seal?.seal, kept.heads.find(({ chainId }) => chainId === "1")?.link], ["2", "6"])
      assert.deepStrictEqual(yield* findings, [])

      yield* cutOff(5)
      const expected = ["chain_link_broken: chain 1", "chain_seal_broken: seals"]
      assert.deepStrictEqual(yield* findings, expected)
      // it is not forgotten, and what a process writes from there on is no cover
      assert.strictEqual((yield* ends.look).length, 2)
      yield* Effect.repeat(noteLine, { times: 4 })
      yield* seals.run
      yield* ends.look
      assert.deepStrictEqual(yield* findings, expected)
      // a process that begins now, with the file of the one before and without
      const fresh = Layer.build(Layer.fresh(RememberedEnds.layer))
      const [next, unknowing] = [Context.get(yield* fresh, RememberedEnds), Context.get(yield* fresh, RememberedEnds)]
      next.restore(kept)
      assert.deepStrictEqual((yield* next.look).map(({ message }) => message), [
        "has another link 6 than the one that this service recorded",
        "has another seal 2 than the seal that this service recorded"
      ])
      assert.deepStrictEqual(yield* unknowing.look, [])
    }))

  it.effect("does not keep staff accounts without an audit line from being reported", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const unrecorded = Effect.map(
        Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined)),
        ({ violations }) => violations.filter(({ rule }) => rule === "staff_unrecorded").map(({ subject }) => subject)
      )
      const { id } = yield* (yield* StaffAccounts).create(founder, { name: "Made" })
      assert.deepStrictEqual(yield* unrecorded, [])
      yield* sql`INSERT INTO staff (id, name, role, token_hash, token_issued_at, created_at)
        VALUES (77, 'Nobody', 'admin', 'x', now(), now())`
      assert.deepStrictEqual(yield* unrecorded, ["staff:77"])
      // nor of one whose line was cut off with the end
      yield* sql`SET LOCAL session_replication_role = replica`.pipe(
        Effect.andThen(sql`DELETE FROM audit_log WHERE subject = ${`staff:${id}`}`),
        sql.withTransaction
      )
      assert.sameMembers(yield* unrecorded, ["staff:77", `staff:${id}`])
    }))

  it.effect("is detected for every journal of a process, including chains that the process no longer writes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const operator = yield* addOperator("ends")
      const [ada, bob] = [yield* addPlayer(operator, "eva"), yield* addPlayer(operator, "ole")]
      yield* correct(ada, 10)
      const other = yield* Layer.build(PlayerActors.layerOver(makePlayerStore))
      yield* Effect.provideContext(correct(bob, 10), other)
      const journals = (yield* Chain).positions().slice(-2)
      assert.strictEqual(new Set(journals.map(({ chainId }) => chainId)).size, 2)
      for (const { chainId } of journals) {
        const found = yield* Effect.flip(
          sql.withTransaction(Effect.gen(function*() {
            yield* sql`SET LOCAL session_replication_role = replica`
            yield* sql`DELETE FROM chain_links WHERE chain_id = ${chainId}`
            return yield* Effect.fail(yield* (yield* RememberedEnds).compare(sql, (yield* RememberedEnds).current()))
          }))
        )
        assert.isTrue(
          Array.isArray(found) && found.some(({ subject }) => subject === `chain ${chainId}`),
          String(chainId)
        )
      }
    }))

  it.effect("is accepted once two persons confirm the same end, and a later deletion is detected again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ends = yield* RememberedEnds
      const restores = yield* LedgerRestores
      const staff = yield* StaffAccounts
      const personCalled = (name: string) =>
        Effect.map(
          staff.create(founder, { name }),
          ({ id }) => ({ id, name, role: "admin", operators: null, label: `staff:${id}` }) as const
        )
      const ada = yield* personCalled("Ada")
      const bob = yield* personCalled("Bob")
      yield* noteLine
      yield* (yield* Seals).run
      yield* ends.look
      const kept = ends.current()
      const lastLink = Effect.map(
        sql<{ readonly link: number }>`SELECT max(link)::int AS link FROM chain_links WHERE chain_id = 1`,
        ([row]) => row?.link ?? assert.fail("no link")
      )
      const asked = (actor: typeof ada) =>
        Effect.map(restores.accept(actor, "backup"), ({ requested_by, status }) => [status, requested_by])
      const afterRestart = Effect.gen(function*() {
        const next = Context.get(yield* Layer.build(Layer.fresh(RememberedEnds.layer)), RememberedEnds)
        next.restore(kept)
        return yield* next.look
      })

      const last = yield* lastLink
      yield* cutOff(last)
      yield* noteLine
      const seen = yield* lastLink
      assert.deepStrictEqual(yield* asked(ada), ["pending", ada.label])
      yield* cutOff(seen)
      yield* noteLine
      // Bob sees less than Ada has seen: his is another request
      assert.deepStrictEqual(yield* asked(bob), ["pending", bob.label])
      assert.isNotEmpty(yield* afterRestart)
      const accepted = yield* lastLink
      assert.deepStrictEqual(yield* asked(ada), ["accepted", bob.label])
      assert.deepStrictEqual(yield* ends.look, [])
      assert.deepStrictEqual(yield* afterRestart, [])
      yield* cutOff(accepted)
      assert.isNotEmpty(yield* ends.look)
      assert.isNotEmpty(yield* afterRestart)
    }))

  it.effect("is not accepted by one person, nor with a request that was altered or belongs to an earlier deletion", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const staff = yield* StaffAccounts
      const personCalled = (name: string) =>
        Effect.map(
          staff.create(founder, { name }),
          ({ id }) => ({ id, name, role: "admin", operators: null, label: `staff:${id}` }) as const
        )
      const [cleo, dora] = [yield* personCalled("Cleo"), yield* personCalled("Dora")]
      const nodeOf = (ends: Layer.Layer<RememberedEnds, never, Chain | ChainKey | SqlClient.SqlClient>) =>
        Effect.map(Layer.build(Layer.fresh(LedgerRestores.layer).pipe(Layer.provideMerge(ends))), (context) => ({
          ends: Context.get(context, RememberedEnds),
          statusFor: (actor: typeof cleo) =>
            Effect.map(Context.get(context, LedgerRestores).accept(actor, "backup"), ({ status }) => status)
        }))
      const node = nodeOf(Layer.fresh(RememberedEnds.layer))
      const lastLink = Effect.map(
        sql<{ readonly link: number }>`SELECT max(link)::int AS link FROM chain_links WHERE chain_id = 1`,
        ([row]) => row?.link ?? assert.fail("no link")
      )
      const loseAfter = ({ ends }: Effect.Success<typeof node>) =>
        noteLine.pipe(
          Effect.andThen(ends.look),
          Effect.tap((lost) => Effect.sync(() => assert.deepStrictEqual(lost, []))),
          Effect.andThen(lastLink),
          Effect.flatMap(cutOff)
        )

      const first = yield* node
      yield* loseAfter(first)
      assert.strictEqual(yield* first.statusFor(cleo), "pending")
      yield* sql`UPDATE ledger_restores SET requested_by = ${dora.label} WHERE requested_by = ${cleo.label}`
      assert.strictEqual(yield* first.statusFor(cleo), "pending")

      // what this one has seen is whole, until more is lost
      const second = yield* node
      yield* loseAfter(second)
      const seen = yield* lastLink
      assert.strictEqual(yield* second.statusFor(dora), "pending")
      yield* sql`UPDATE ledger_restores SET requested_at = now() + interval '1 minute' WHERE requested_by = ${cleo.label}`
      assert.strictEqual(yield* second.statusFor(dora), "pending")

      // more is cut off while the second person's acceptance is under way
      yield* sql`DELETE FROM ledger_restores WHERE requested_by = ${cleo.label}`
      const { approve } = second.ends
      const third = yield* nodeOf(Layer.succeed(RememberedEnds, {
        ...second.ends,
        approve: (...about) =>
          Effect.andThen(
            Effect.orDie(Effect.provideService(cutOff(seen), SqlClient.SqlClient, sql)),
            approve(...about)
          )
      }))
      yield* third.statusFor(cleo)
      assert.isNotEmpty(yield* second.ends.look)
    }))
})
