import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "../../src/auth/Credentials.ts"
import { originals } from "../../src/domain/original/Originals.ts"
import { Games } from "../../src/features/games/Games.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import {
  addGame,
  assertRefused,
  callWallet,
  dataOf,
  deposit,
  issueToken,
  openCasinoInRows,
  registered
} from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { browserCall, signedCall } from "../kit/HttpCalls.ts"
import { chanceOfRound, hashOf } from "../kit/VerifyRound.ts"

// Goal: a round of the platform's own games is played once per key, decided by a seed committed before, and verifiable afterwards
// from the seeds alone. Method: the public API as a front end calls it; every round is recomputed by the recipe, in code independent of the
// rules. Refusals of plays, and the split of money with a bonus, are tested in spec/4-9-play.test.ts and rules/OriginalRounds.test.ts.

const choices: ReadonlyArray<readonly [game: string, params: { readonly [name: string]: unknown }]> = [
  ["dice", { direction: "under", target: 50.5 }],
  ["dice", { direction: "over", target: 12.34 }],
  ["limbo", { target: 1.5 }],
  ["coin_flip", { side: "heads" }],
  ["plinko", { rows: 8, risk: "low" }],
  ["plinko", { rows: 16, risk: "high" }],
  ["mines", { mines: 3, cells: [0, 12, 24] }],
  ["mines", { mines: 24, cells: [3] }]
]

/** A player with money and a token, and the originals. */
const seat = Effect.fnUntraced(function*(slug: string, balance = 100_000) {
  const { caller, key, operator, studio } = yield* openCasinoInRows(slug)
  const ids = new Map<string, number>()
  for (const name of originals.keys()) {
    const about = { name: `${name} of ${slug}`, category: "instant", original: name }
    ids.set(name, (yield* addGame(studio.id, name, about)).id)
  }
  yield* (yield* Games).refresh
  const games = { provider: studio, idOf: (name: string) => ids.get(name) ?? assert.fail(`there is no ${name}`) }
  const player = yield* registered(caller, `ada-${slug}`)
  if (balance > 0) yield* deposit(caller, player.id, balance)
  const token = yield* issueToken(caller, player.id, { ttl_minutes: 720 })
  const play = (name: string, body: unknown, headers: { readonly [name: string]: string } = {}) =>
    browserCall(token, `/games/${games.idOf(name)}/play`, { body, headers })
  const flip = (stake = 100, headers: { readonly [name: string]: string } = {}) =>
    play("coin_flip", { stake, params: { side: "heads" } }, headers)
  const fairness = Effect.map(browserCall(token, "/fairness"), (reply) => dataOf(reply))
  const rotate = (body?: unknown, headers: { readonly [name: string]: string } = {}) =>
    browserCall(token, "/fairness/rotate", { method: "POST", headers, ...(body === undefined ? {} : { body }) })
  const wallet = Effect.map(browserCall(token, "/wallet"), (reply) => dataOf(reply))
  return { key, operator, games, playerId: player.id, token, play, flip, fairness, rotate, wallet }
})

layer(LedgerAudit.layer.pipe(Layer.provideMerge(layerPublicApi)))("originals (in-house games) over HTTP", (it) => {
  it.effect("every round was decided by the promised seed, and pays its displayed multiplier", () =>
    Effect.gen(function*() {
      const { fairness, key, play, playerId, rotate, token, wallet } = yield* seat("house")
      assert.sameMembers([...new Set(choices.map(([game]) => game))], [...originals.keys()])
      const promised = yield* fairness
      assert.strictEqual(promised.nonce, 0)
      assert.deepStrictEqual(yield* fairness, promised)

      let balance = 100_000
      const rounds: Array<readonly [played: ReturnType<typeof dataOf>, params: (typeof choices)[number][1]]> = []
      for (const [turn, [game, params]] of [...choices, ...choices, ...choices].entries()) {
        const clientSeed = turn === 5 ? { client_seed: "a:b:c!~" } : {}
        const played = dataOf(yield* play(game, { stake: 1000, params, ...clientSeed }))
        balance += played.payout - 1000
        assert.deepInclude(played, { stake: 1000, currency: "EUR", balance, bonus_balance: 0, original: game })
        assert.strictEqual(played.wallet_seq, turn + 2)
        assert.strictEqual(played.payout, Math.floor(1000 * Math.round(played.multiplier * 10_000) / 10_000))
        assert.deepStrictEqual(
          played.transactions.map(({ amount, game_round_id, type }: { readonly [field: string]: unknown }) => ({
            amount,
            game_round_id,
            type
          })),
          [
            { amount: -1000, game_round_id: played.round_id, type: "casino_bet" },
            ...(played.payout === 0
              ? []
              : [{ amount: played.payout, game_round_id: played.round_id, type: "casino_win" }])
          ]
        )
        assert.deepStrictEqual(played.fairness, {
          server_seed_hash: promised.server_seed_hash,
          client_seed: turn < 5 ? promised.client_seed : "a:b:c!~",
          nonce: turn
        })
        rounds.push([played, params])
      }
      assert.strictEqual((yield* wallet).balance, balance)
      assert.deepStrictEqual(yield* fairness, { ...promised, client_seed: "a:b:c!~", nonce: rounds.length })

      // before the rotation a proof omits the server seed
      const proofOf = (roundId: string) =>
        Effect.map(browserCall(token, `/rounds/${roundId}`), (reply) => dataOf(reply))
      assert.isNull((yield* proofOf(rounds[0]?.[0].round_id)).fairness.server_seed)

      const rotated = dataOf(yield* rotate({ client_seed: "mine" }))
      const { retired } = rotated
      assert.strictEqual(hashOf(retired.server_seed), promised.server_seed_hash)
      assert.deepInclude(retired, { server_seed_hash: promised.server_seed_hash, rounds: rounds.length })
      assert.deepInclude(rotated, {
        server_seed_hash: promised.next_server_seed_hash,
        client_seed: "mine",
        nonce: 0
      })
      assert.notInclude(
        [promised.server_seed_hash, promised.next_server_seed_hash],
        rotated.next_server_seed_hash
      )

      for (const [played, params] of rounds) {
        const proof = yield* proofOf(played.round_id)
        assert.deepStrictEqual(proof.fairness, { ...played.fairness, server_seed: retired.server_seed })
        assert.deepInclude(proof, {
          params,
          outcome: played.outcome,
          stake: played.stake,
          payout: played.payout,
          multiplier: played.multiplier
        })
        const [name, value] = chanceOfRound(proof.original, params, {
          serverSeed: retired.server_seed,
          clientSeed: proof.fairness.client_seed,
          nonce: proof.fairness.nonce
        })
        assert.deepStrictEqual(proof.outcome[name], value)
        assert.deepStrictEqual(dataOf(yield* signedCall(key, `/players/${playerId}/rounds/${played.round_id}`)), proof)
      }
      // the next round is decided by the committed seed
      const next = dataOf(yield* play("dice", { stake: 1, params: choices[0]?.[1] }))
      assert.deepStrictEqual(next.fairness, {
        server_seed_hash: promised.next_server_seed_hash,
        client_seed: "mine",
        nonce: 0
      })
    }))

  it.effect("a play and a seed rotation happen once per idempotency key, also when they are repeated at the same time", () =>
    Effect.gen(function*() {
      const { fairness, flip, playerId, rotate } = yield* seat("once")
      const sql = yield* SqlClient.SqlClient
      const headers = { "idempotency-key": "k" }
      const answers = yield* Effect.all(Array.from({ length: 8 }, () => flip(100, headers)), { concurrency: 8 })
      const again = yield* flip(100, headers)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      assert.include(answers.map(({ status }) => status), 200)
      for (const { code, text } of answers) assert.include([again.text, "IDEMPOTENCY_IN_PROGRESS"], code ?? text)
      assert.lengthOf(yield* sql`SELECT 1 FROM original_rounds WHERE player_id = ${playerId}`, 1)
      assert.lengthOf(yield* sql`SELECT 1 FROM ledger_entries WHERE player_id = ${playerId} AND type = 'casino_bet'`, 1)
      assertRefused(yield* flip(101, headers), 422, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual((yield* fairness).nonce, 1)

      // without a key each is a round of its own, with a nonce of its own
      const many = yield* Effect.all(Array.from({ length: 20 }, () => flip(1)), { concurrency: 20 })
      assert.sameMembers(
        many.map((reply) => dataOf(reply).fairness.nonce),
        Array.from({ length: 20 }, (_, index) => index + 1)
      )
      // a refusal is stored for its key, and uses no nonce
      const refused = { "idempotency-key": "refused" }
      const large = { stake: ["must be at most 100000"] }
      for (const isReplay of [undefined, "true"]) {
        const reply = yield* flip(100_001, refused)
        assertRefused(reply, 422, "VALIDATION_FAILED", large)
        assert.strictEqual(reply.headers["idempotent-replayed"], isReplay)
      }
      assert.strictEqual((yield* fairness).nonce, 21)
      assertRefused(yield* rotate({ client_seed: "\u00fc" }), 422, "VALIDATION_FAILED")
      const rotations = [
        yield* rotate(undefined, { "idempotency-key": "r" }),
        yield* rotate(undefined, { "idempotency-key": "r" })
      ]
      assert.strictEqual(rotations[0]?.text, rotations[1]?.text)
      assert.strictEqual((yield* fairness).server_seed_hash, Object(rotations[0]?.json).data.server_seed_hash)
    }))

  it.effect("a play is refused when its game, provider or feature is off; proofs stay readable, and no provider settles an original", () =>
    Effect.gen(function*() {
      const { flip, games, key, operator, playerId, rotate, token } = yield* seat("off")
      const sql = yield* SqlClient.SqlClient
      const catalogue = yield* Games
      const credentials = yield* Credentials
      const { round_id: roundId } = dataOf(yield* flip())
      const launched = dataOf(yield* browserCall(token, `/games/${games.idOf("dice")}/launch`, { body: {} }))
      const bet = {
        request_id: "1",
        transaction_id: "outside",
        session_token: launched.session_token,
        game_id: "dice",
        round_id: "1",
        amount: 1,
        currency: "EUR"
      }
      assertRefused(yield* callWallet(games.provider.call, "bet", bet), 404, "NOT_FOUND")
      for (const [table, id] of [["games", games.idOf("coin_flip")], ["providers", games.provider.id]] as const) {
        for (const [active, expected] of [[false, "NOT_FOUND"], [true, undefined]] as const) {
          yield* sql`UPDATE ${sql(table)} SET active = ${active} WHERE id = ${id}`
          yield* catalogue.refresh
          assert.strictEqual((yield* flip()).code, expected)
        }
      }
      for (const feature of ["originals", "games"]) {
        yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = ARRAY[${feature}]
          WHERE id = ${operator.id}`
        yield* credentials.invalidate()
        assertRefused(yield* flip(), 403, "FEATURE_NOT_AVAILABLE", { feature })
        dataOf(yield* browserCall(token, `/rounds/${roundId}`))
        dataOf(yield* rotate())
        dataOf(yield* signedCall(key, `/players/${playerId}/rounds/${roundId}`))
      }
    }))

  it.effect("server seeds are encrypted in the database until they are revealed", () =>
    Effect.gen(function*() {
      const { flip, playerId, rotate } = yield* seat("sealed")
      const sql = yield* SqlClient.SqlClient
      dataOf(yield* flip())
      const { retired } = dataOf(yield* rotate())
      const rows = yield* sql<{ readonly seed: string | null; readonly sealed: Uint8Array; readonly hash: string }>`
        SELECT server_seed AS seed, server_seed_sealed AS sealed, server_seed_hash AS hash FROM server_seeds
        WHERE player_id = ${playerId} ORDER BY id`
      assert.deepStrictEqual(rows.map(({ seed }) => seed), [retired.server_seed, null, null])
      for (const { hash, sealed } of rows) {
        assert.match(hash, /^[0-9a-f]{64}$/)
        // a version, the name of the key, a nonce, a tag and the 64 encrypted characters
        assert.strictEqual(sealed.length, 1 + 4 + 12 + 16 + 64)
        assert.notInclude(Buffer.from(sealed).toString("latin1"), retired.server_seed)
      }
    }))

  it.effect("a damaged round, seed or nonce is found by the verification of the ledger", () =>
    Effect.gen(function*() {
      const { flip, play, playerId, rotate } = yield* seat("proved")
      const sql = yield* SqlClient.SqlClient
      const audit = yield* LedgerAudit
      for (const [game, params] of choices) dataOf(yield* play(game, { stake: 100, params }))
      dataOf(yield* rotate())
      dataOf(yield* flip())
      assert.deepStrictEqual((yield* audit.verify(undefined)).violations, [])
      const lost = sql.literal(`(SELECT min(id) FROM original_rounds WHERE player_id = ${playerId})`)
      const damages = [
        [sql`UPDATE original_rounds SET payout = payout + 1 WHERE id = ${lost}`, [
          "original_round_is_its_entries",
          "original_round_pays_its_multiplier",
          "outcome_is_its_seeds"
        ]],
        [sql`UPDATE original_rounds SET outcome = '{"roll": 1}' WHERE id = ${lost}`, ["outcome_is_its_seeds"]],
        [sql`UPDATE original_rounds SET client_seed = 'another' WHERE id = ${lost}`, ["outcome_is_its_seeds"]],
        [sql`DELETE FROM original_rounds WHERE id = ${lost}`, ["game_entry_has_its_transaction", "nonces_without_gap"]],
        [sql`UPDATE original_rounds SET seed_id = 1 WHERE id = ${lost}`, [
          "original_round_has_its_seed",
          "nonces_without_gap"
        ]],
        [
          sql`UPDATE server_seeds SET server_seed_hash = 'x' WHERE server_seed IS NOT NULL AND player_id = ${playerId}`,
          [
            "seed_is_its_hash"
          ]
        ],
        [sql`DELETE FROM server_seeds WHERE started_at IS NULL AND player_id = ${playerId}`, ["one_seed_in_use"]]
      ] as const
      for (const [damage, rules] of damages) {
        const found = yield* sql.withTransaction(
          Effect.andThen(damage, Effect.flatMap(audit.verify(undefined), Effect.fail))
        ).pipe(Effect.flip)
        assert("violations" in found)
        const broken = new Set(found.violations.map(({ rule }) => rule))
        for (const rule of rules) assert.isTrue(broken.has(rule), `${rule} of ${[...broken].join()}`)
      }
    }))
})
