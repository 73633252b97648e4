import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { originals } from "../../src/domain/original/Originals.ts"
import { Games } from "../../src/features/games/Games.ts"
import { Credentials } from "../../src/auth/Credentials.ts"
import { LedgerAudit } from "../../src/features/ledger/LedgerAudit.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import {
  assertRefused,
  call,
  dataOf,
  deposit,
  issueToken,
  layerPublicApi,
  openGame,
  openOperator,
  openOriginals,
  playerCall,
  register
} from "../kit/PublicApi.ts"
import { chanceOfRound, hashOf } from "../kit/VerifyRound.ts"

// Goal: what a player is promised of the platform's own games holds over HTTP: one step, once per key, decided by a seed that was
// promised before, refused like any bet, and provable afterwards by nobody's word but the seeds'. Method: the public API as a
// front end calls it; every round is made again by the recipe, in code that knows nothing of the rules.

const Fairness = Schema.Struct({
  server_seed_hash: Schema.String,
  next_server_seed_hash: Schema.String,
  client_seed: Schema.String,
  nonce: Schema.Int
})

const Played = Schema.Struct({
  round_id: Schema.String,
  game_id: Schema.Int,
  original: Schema.String,
  stake: Schema.Int,
  payout: Schema.Int,
  multiplier: Schema.Finite,
  outcome: Schema.Record(Schema.String, Schema.Unknown),
  currency: Schema.String,
  balance: Schema.Int,
  bonus_balance: Schema.Int,
  wallet_seq: Schema.Int,
  transactions: Schema.Array(Schema.Struct({
    type: Schema.String,
    wallet: Schema.String,
    amount: Schema.Int,
    balance_after: Schema.Int,
    game_id: Schema.NullOr(Schema.Int),
    game_round_id: Schema.NullOr(Schema.String)
  })),
  fairness: Schema.Struct({ server_seed_hash: Schema.String, client_seed: Schema.String, nonce: Schema.Int }),
  created_at: Schema.String
})

const Rotated = Schema.Struct({
  ...Fairness.fields,
  retired: Schema.Struct({ server_seed: Schema.String, server_seed_hash: Schema.String, rounds: Schema.Int })
})

const Proof = Schema.Struct({
  round_id: Schema.String,
  original: Schema.String,
  stake: Schema.Int,
  payout: Schema.Int,
  multiplier: Schema.Finite,
  params: Schema.Record(Schema.String, Schema.Unknown),
  outcome: Schema.Record(Schema.String, Schema.Unknown),
  fairness: Schema.Struct({
    server_seed_hash: Schema.String,
    client_seed: Schema.String,
    nonce: Schema.Int,
    server_seed: Schema.NullOr(Schema.String)
  })
})

const as = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => (reply: Reply): S["Type"] =>
  Schema.decodeUnknownSync(schema)(dataOf(reply))

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
  const { key, operator } = yield* openOperator(slug)
  const games = yield* openOriginals(slug)
  const player = yield* register(key, `ada-${slug}`)
  if (balance > 0) yield* deposit(key, player.id, balance)
  const token = yield* issueToken(key, player.id, { ttl_minutes: 720 })
  const play = (name: string, body: unknown, headers: { readonly [name: string]: string } = {}) =>
    playerCall(token, `/games/${games.idOf(name)}/play`, { body, headers })
  const flip = (stake = 100, headers: { readonly [name: string]: string } = {}) =>
    play("coin_flip", { stake, params: { side: "heads" } }, headers)
  const fairness = Effect.map(playerCall(token, "/fairness"), as(Fairness))
  const rotate = (body?: unknown, headers: { readonly [name: string]: string } = {}) =>
    playerCall(token, "/fairness/rotate", { method: "POST", headers, ...(body === undefined ? {} : { body }) })
  const wallet = Effect.map(playerCall(token, "/wallet"), dataOf)
  return { key, operator, games, playerId: player.id, token, play, flip, fairness, rotate, wallet }
})

layer(LedgerAudit.layer.pipe(Layer.provideMerge(layerPublicApi)))("originals over HTTP", (it) => {
  it.effect("every round was decided by what was promised, and pays what it says", () =>
    Effect.gen(function*() {
      const { fairness, key, play, playerId, rotate, token, wallet } = yield* seat("house")
      const promised = yield* fairness
      assert.strictEqual(promised.nonce, 0)
      assert.deepStrictEqual(yield* fairness, promised)

      let balance = 100_000
      const rounds: Array<{ readonly played: typeof Played.Type; readonly params: (typeof choices)[number][1] }> = []
      for (const [turn, [game, params]] of [...choices, ...choices, ...choices].entries()) {
        const clientSeed = turn === 5 ? { client_seed: "a:b:c!~" } : {}
        const played = as(Played)(yield* play(game, { stake: 1000, params, ...clientSeed }))
        balance += played.payout - 1000
        assert.deepInclude(played, { stake: 1000, currency: "EUR", balance, bonus_balance: 0, original: game })
        assert.strictEqual(played.wallet_seq, turn + 2)
        assert.strictEqual(played.payout, Math.floor(1000 * Math.round(played.multiplier * 10_000) / 10_000))
        assert.deepStrictEqual(
          played.transactions.map(({ amount, game_round_id, type }) => ({ amount, game_round_id, type })),
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
        rounds.push({ played, params })
      }
      assert.strictEqual((yield* wallet).balance, balance)
      assert.deepStrictEqual(yield* fairness, { ...promised, client_seed: "a:b:c!~", nonce: rounds.length })

      // before the rotation a proof keeps the secret
      const proofOf = (roundId: string) => Effect.map(playerCall(token, `/rounds/${roundId}`), as(Proof))
      const [first] = rounds
      assert(first !== undefined)
      assert.isNull((yield* proofOf(first.played.round_id)).fairness.server_seed)

      const rotated = as(Rotated)(yield* rotate({ client_seed: "mine" }))
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

      for (const { params, played } of rounds) {
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
        const seen = yield* call(key, `/players/${playerId}/rounds/${played.round_id}`)
        assert.deepStrictEqual(dataOf(seen), dataOf(yield* playerCall(token, `/rounds/${played.round_id}`)))
      }
      // the next round is decided by the seed that was promised
      const next = as(Played)(yield* play("dice", { stake: 1, params: choices[0]?.[1] }))
      assert.deepStrictEqual(next.fairness, {
        server_seed_hash: promised.next_server_seed_hash,
        client_seed: "mine",
        nonce: 0
      })
    }))

  it.effect("a round is played once per idempotency key, however often and at once it is asked for", () =>
    Effect.gen(function*() {
      const { fairness, flip, playerId, rotate } = yield* seat("once")
      const sql = yield* SqlClient.SqlClient
      const headers = { "idempotency-key": "k" }
      const answers = yield* Effect.all(Array.from({ length: 8 }, () => flip(100, headers)), { concurrency: 8 })
      for (const { code, status } of answers) {
        if (status !== 200) assert.deepStrictEqual([status, code], [409, "IDEMPOTENCY_IN_PROGRESS"])
      }
      const played = answers.filter(({ status }) => status === 200)
      assert.isAbove(played.length, 0)
      const again = yield* flip(100, headers)
      assert.strictEqual(again.headers["idempotent-replayed"], "true")
      for (const { text } of played) assert.strictEqual(text, again.text)
      assert.lengthOf(yield* sql`SELECT 1 FROM original_rounds WHERE player_id = ${playerId}`, 1)
      assert.lengthOf(yield* sql`SELECT 1 FROM ledger_entries WHERE player_id = ${playerId} AND type = 'casino_bet'`, 1)
      assertRefused(yield* flip(101, headers), 422, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual((yield* fairness).nonce, 1)

      // without a key each is a round of its own, none of them with another's nonce
      const many = yield* Effect.all(Array.from({ length: 20 }, () => flip(1)), { concurrency: 20 })
      const nonces = many.map((reply) => as(Played)(reply).fairness.nonce).sort((a, b) => a - b)
      assert.deepStrictEqual(nonces, Array.from({ length: 20 }, (_, index) => index + 1))

      // a rotation is done once per key, too
      const rotations = [
        yield* rotate(undefined, { "idempotency-key": "r" }),
        yield* rotate(undefined, { "idempotency-key": "r" })
      ]
      assert.strictEqual(rotations[0]?.text, rotations[1]?.text)
      assert.strictEqual(
        (yield* fairness).server_seed_hash,
        as(Rotated)(rotations[0] ?? assert.fail()).server_seed_hash
      )
    }))

  it.effect("refuses what is wrong, all of it at once, and nothing of it is played", () =>
    Effect.gen(function*() {
      const { fairness, flip, games, play, rotate, token } = yield* seat("wrong", 1000)
      const other = yield* openGame("wrong-studio")
      const promised = yield* fairness
      const wrongs: ReadonlyArray<readonly [game: string, body: unknown, fields: ReadonlyArray<string>]> = [
        ["dice", {}, ["stake", "params.direction", "params.target"]],
        ["dice", { stake: 100, params: { direction: "under", target: 99 } }, ["params.target"]],
        ["dice", { stake: 0, params: { direction: "up", target: 5.001 }, client_seed: "a b" }, [
          "stake",
          "params.direction",
          "params.target",
          "client_seed"
        ]],
        ["limbo", { stake: "100", params: { target: 2 } }, ["stake"]],
        ["limbo", { stake: 1.5, params: { target: 2, more: 1 } }, ["stake", "params.more"]],
        ["coin_flip", { stake: 100, params: "heads" }, ["params"]],
        ["coin_flip", { stake: 100, params: { side: "heads" }, client_seed: "" }, ["client_seed"]],
        ["coin_flip", { stake: 100, params: { side: "heads" }, client_seed: "x".repeat(65) }, ["client_seed"]],
        ["coin_flip", { stake: 100, params: { side: "heads" }, client_seed: 7 }, ["client_seed"]],
        ["coin_flip", { stake: 100, params: { side: "heads" }, client_seed: null }, ["client_seed"]],
        ["plinko", { stake: 100, params: { rows: 7, risk: "none" } }, ["params.rows", "params.risk"]],
        ["mines", { stake: 100, params: { mines: 24, cells: [1, 2] } }, ["params.cells"]],
        ["mines", { stake: 100, params: { mines: 3, cells: [1, 1] } }, ["params.cells"]]
      ]
      for (const [game, body, fields] of wrongs) {
        const reply = yield* play(game, body)
        assertRefused(reply, 422, "VALIDATION_FAILED")
        assert.sameMembers(Object.keys(Object(reply.details)), [...fields], JSON.stringify(body))
      }
      for (const body of ["", "[]", "null", "{"]) {
        const reply = yield* playerCall(token, `/games/${games.idOf("dice")}/play`, { method: "POST", raw: body })
        assertRefused(reply, 422, "INVALID_REQUEST")
      }
      assertRefused(yield* rotate({ client_seed: "ü" }), 422, "VALIDATION_FAILED")
      assertRefused(yield* flip(1001), 402, "INSUFFICIENT_FUNDS", { balance: 1000 })

      const elsewhere = (game: number | string) =>
        playerCall(token, `/games/${game}/play`, { body: { stake: 100, params: {} } })
      assertRefused(yield* elsewhere(other.id), 422, "NOT_AN_ORIGINAL")
      const misformed = yield* playerCall(token, `/games/${other.id}/play`, { body: { params: 7, client_seed: "" } })
      assertRefused(misformed, 422, "VALIDATION_FAILED")
      assert.sameMembers(Object.keys(misformed.details), ["stake", "params", "client_seed"])
      for (const game of [999_999_999, "0", "x", `${games.idOf("dice")}x`]) {
        assertRefused(yield* elsewhere(game), 404, "NOT_FOUND")
      }
      assertRefused(
        yield* playerCall("pt_nothing", `/games/${games.idOf("dice")}/play`, { body: {} }),
        401,
        "INVALID_PLAYER_TOKEN"
      )
      assert.deepStrictEqual(yield* fairness, promised)
    }))

  it.effect("is switched off with its game, its provider or its feature; proofs stay", () =>
    Effect.gen(function*() {
      const { flip, games, key, operator, playerId, rotate, token } = yield* seat("off")
      const sql = yield* SqlClient.SqlClient
      const catalogue = yield* Games
      const credentials = yield* Credentials
      const { round_id: roundId } = as(Played)(yield* flip())
      const switching = Effect.fnUntraced(function*(active: boolean, table: "games" | "providers", id: number) {
        yield* sql`UPDATE ${sql(table)} SET active = ${active} WHERE id = ${id}`
        yield* catalogue.refresh
      })
      for (const [table, id] of [["games", games.idOf("coin_flip")], ["providers", games.provider.id]] as const) {
        yield* switching(false, table, id)
        assertRefused(yield* flip(), 404, "NOT_FOUND")
        yield* switching(true, table, id)
        assert.strictEqual((yield* flip()).status, 200)
      }
      for (const feature of ["originals", "games"]) {
        yield* sql`UPDATE operators SET cooperation_model = 'turnkey', disabled_features = ARRAY[${feature}]
          WHERE id = ${operator.id}`
        credentials.invalidate()
        assertRefused(yield* flip(), 403, "FEATURE_NOT_AVAILABLE", { feature })
        dataOf(yield* playerCall(token, `/rounds/${roundId}`))
        dataOf(yield* rotate())
        dataOf(yield* call(key, `/players/${playerId}/rounds/${roundId}`))
      }
    }))

  it.effect("is refused like any bet, and a refused one shows nothing and takes no nonce", () =>
    Effect.gen(function*() {
      const { fairness, flip, key, playerId } = yield* seat("refusing", 1000)
      const sql = yield* SqlClient.SqlClient
      const limits = (values: object) =>
        call(key, `/players/${playerId}/limits`, { method: "PUT", body: { limits: values } })
      dataOf(yield* flip(10))
      const promised = yield* fairness
      const rounds = Effect.map(
        sql`SELECT 1 FROM original_rounds WHERE player_id = ${playerId}`,
        (rows) => rows.length
      )
      const large = yield* flip(100_001)
      assertRefused(large, 422, "VALIDATION_FAILED", { stake: ["must be at most 100000"] })
      dataOf(yield* limits({ max_single_bet: 50 }))
      const single = yield* flip(51)
      assertRefused(single, 422, "LIMIT_EXCEEDED")
      assert.deepInclude(single.details, { limit: "max_single_bet", value: 50 })
      dataOf(yield* limits({ max_daily_bet: 30 }))
      const daily = yield* flip(21)
      assertRefused(daily, 422, "LIMIT_EXCEEDED")
      assert.deepInclude(daily.details, { limit: "max_daily_bet", used: 10 })
      // a refusal is kept for its key like any answer, and is not another chance
      const keyed = { "idempotency-key": "refused" }
      assertRefused(yield* flip(21, keyed), 422, "LIMIT_EXCEEDED")
      assert.strictEqual((yield* flip(21, keyed)).headers["idempotent-replayed"], "true")
      assert.deepStrictEqual(yield* fairness, promised)
      assert.strictEqual(yield* rounds, 1)
      const next = as(Played)(yield* flip(20))
      assert.strictEqual(next.fairness.nonce, promised.nonce)
    }))

  it.effect("counts the time of play from the first round, although nothing was launched", () =>
    Effect.gen(function*() {
      const { flip, key, playerId } = yield* seat("tiring")
      dataOf(
        yield* call(key, `/players/${playerId}/limits`, { method: "PUT", body: { limits: { max_session_minutes: 5 } } })
      )
      dataOf(yield* flip())
      yield* TestClock.adjust("6 minutes")
      const tired = yield* flip()
      assertRefused(tired, 422, "LIMIT_EXCEEDED")
      assert.deepInclude(tired.details, { limit: "max_session_minutes" })
      yield* TestClock.adjust("15 minutes")
      dataOf(yield* flip())
    }))

  it.effect("belongs to its player and operator alone", () =>
    Effect.gen(function*() {
      const mine = yield* seat("mine")
      const theirs = yield* seat("theirs")
      const { round_id: roundId } = as(Played)(yield* mine.flip())
      dataOf(yield* call(mine.key, `/players/${mine.playerId}/rounds/${roundId}`))
      const nobodys = yield* playerCall(theirs.token, "/rounds/999999999")
      const foreign = [
        yield* playerCall(theirs.token, `/rounds/${roundId}`),
        yield* call(mine.key, `/players/${theirs.playerId}/rounds/${roundId}`),
        yield* call(theirs.key, `/players/${mine.playerId}/rounds/${roundId}`),
        yield* call(theirs.key, `/players/${theirs.playerId}/rounds/${roundId}`)
      ]
      for (const reply of foreign) {
        assertRefused(reply, 404, "NOT_FOUND")
        assert.deepStrictEqual(reply.json, nobodys.json)
      }
      for (const id of ["0", "x", "9007199254740993"]) {
        assertRefused(yield* playerCall(mine.token, `/rounds/${id}`), 404, "NOT_FOUND")
      }
      const narrow = yield* openOperator("narrow", { scopes: ["games:read"] })
      assertRefused(yield* call(narrow.key, `/players/1/rounds/${roundId}`), 403, "INSUFFICIENT_SCOPE")
      // a provider settles no bets on it, even the one that it is listed under
      const launched = dataOf(yield* playerCall(mine.token, `/games/${mine.games.idOf("dice")}/launch`, { body: {} }))
      assert.deepInclude(launched, { launch_url: null, is_original: true })
      const bet = {
        request_id: "1",
        transaction_id: "outside",
        session_token: launched.session_token,
        game_id: "dice",
        round_id: "1",
        amount: 1,
        currency: "EUR"
      }
      assertRefused(yield* call(mine.games.provider, "/api/v1/provider/wallet/bet", { body: bet }), 404, "NOT_FOUND")
    }))

  it.effect("takes bonus money last, and counts in full towards the bonus", () =>
    Effect.gen(function*() {
      const { flip, key, operator, playerId, wallet } = yield* seat("bonus", 100)
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, max_bet,
          created_at, updated_at)
        VALUES (66, ${operator.id}, 'Welcome', 'no_deposit', 400, 1000, 7, 300, now(), now())`
      dataOf(yield* call(key, `/players/${playerId}/bonuses`, { body: { bonus_id: 66 } }), 201)
      assertRefused(yield* flip(301), 422, "BONUS_INVALID", { max_bet: 300 })
      const played = as(Played)(yield* flip(300))
      const won = played.payout > 0
      assert.deepStrictEqual(
        played.transactions.map(({ amount, type, wallet }) => [wallet, type, amount]),
        [
          ["real", "casino_bet", -100],
          ["bonus", "casino_bet", -200],
          ...(won ? [["real", "casino_win", 198], ["bonus", "casino_win", 396]] : [])
        ]
      )
      assert.deepInclude(yield* wallet, { balance: won ? 198 : 0, bonus_balance: won ? 596 : 200 })
      const [bonus] = dataOf(yield* call(key, `/players/${playerId}/bonuses`))
      assert.deepInclude(bonus, { state: "activated", wagered_amount: 300 })
    }))

  it.effect("keeps secrets from the database until they are revealed", () =>
    Effect.gen(function*() {
      const { flip, playerId, rotate } = yield* seat("sealed")
      const sql = yield* SqlClient.SqlClient
      dataOf(yield* flip())
      const { retired } = as(Rotated)(yield* rotate())
      const rows = yield* sql<{ readonly seed: string | null; readonly sealed: Uint8Array; readonly hash: string }>`
        SELECT server_seed AS seed, server_seed_sealed AS sealed, server_seed_hash AS hash FROM server_seeds
        WHERE player_id = ${playerId} ORDER BY id`
      assert.deepStrictEqual(rows.map(({ seed }) => seed), [retired.server_seed, null, null])
      for (const { hash, sealed } of rows) {
        assert.match(hash, /^[0-9a-f]{64}$/)
        // a version, the name of the key, a nonce, a tag and the 64 hidden characters
        assert.strictEqual(sealed.length, 1 + 4 + 12 + 16 + 64)
        assert.notInclude(Buffer.from(sealed).toString("latin1"), retired.server_seed)
      }
    }))

  it.effect("leaves a ledger that proves itself, whose damages are found", () =>
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

  it.effect("is offered for every built-in game", () =>
    Effect.sync(() => assert.sameMembers([...new Set(choices.map(([game]) => game))], [...originals.keys()])))
})
