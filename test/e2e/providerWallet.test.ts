import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Games } from "../../src/features/games/Games.ts"
import { iso } from "../../src/platform/Time.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { type Caller, callerOf, exchangeSigned, makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import {
  addGame,
  addStudio,
  addTenant,
  dataOf,
  deposit,
  freshName,
  type Game,
  launch,
  type Seat,
  seat,
  settledOf,
  tell
} from "../kit/E2eWorld.ts"
import { Settlement } from "../kit/WalletMessages.ts"
import type { Reply } from "../kit/HttpCalls.ts"
import { addProvider } from "../kit/Keys.ts"

// Goal: game providers meet what the contract says, path by path and row by row (CONTRACT section 2). Method: the service over
// HTTP with a clock of the test; where an account has to be locked, its row is changed while the player rests on disk.

/** What all scenes share: an operator, two providers, and what they offer. */
class Stage extends Context.Service<Stage, {
  readonly operator: Caller
  readonly provider: Caller
  readonly other: Caller
  readonly game: Game
  readonly second: Game
  readonly foreign: Game
}>()("pitboss/test/Stage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const { call: operator } = yield* addTenant(agent, port, "acme")
      const { call: provider, id } = yield* addStudio(agent, port, "studio")
      const { call: other, id: otherId } = yield* addStudio(agent, port, "rival")
      return {
        operator,
        provider,
        other,
        game: yield* addGame(id, "dice"),
        second: yield* addGame(id, "plinko"),
        foreign: yield* addGame(otherId, "wheel")
      }
    })
  )
}

const Live = Stage.layer.pipe(Layer.provideMerge(layerE2eServer))

/** A player with money at the first game. */
const sit = Effect.fnUntraced(function*(balance = 1000, limits: { readonly [limit: string]: number } = {}) {
  const { game, operator, provider } = yield* Stage
  return yield* seat(operator, provider, game, { username: yield* freshName, balance, limits })
})

type Fields = { readonly [field: string]: unknown }

const bet = ({ game, token }: Seat, id: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  session_token: token,
  game_id: game.externalId,
  round_id: "round",
  amount: 100,
  currency: "EUR",
  ...more
})

const win = ({ game, ref }: Seat, id: string, betId: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  player_ref: ref,
  game_id: game.externalId,
  round_id: "round",
  bet_transaction_id: betId,
  amount: 250,
  currency: "EUR",
  ...more
})

const rollback = ({ ref }: Seat, id: string, targetId: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  player_ref: ref,
  target_transaction_id: targetId,
  ...more
})

const promo = ({ ref }: Seat, id: string, more: Fields = {}) => ({
  request_id: `r-${id}`,
  transaction_id: id,
  player_ref: ref,
  amount: 70,
  currency: "EUR",
  kind: "jackpot",
  campaign_id: "friday",
  ...more
})

/** Says something as the first provider. */
const say = Effect.fnUntraced(function*(path: string, body: Fields) {
  return yield* tell((yield* Stage).provider, path, body)
})

const settle = (path: string, body: Fields) => Effect.flatMap(say(path, body), settledOf)

/** Refused with this code, and told what to do. */
const assertRefused = (reply: Reply, status: number, code: string, retry = "never") => {
  assert.deepInclude({ status: reply.status, code: reply.code }, { status, code }, reply.text)
  assert.strictEqual(reply.details["retry"], retry, reply.text)
}

const refuse = Effect.fnUntraced(function*(path: string, body: Fields, status: number, code: string) {
  const reply = yield* say(path, body)
  assertRefused(reply, status, code)
  return reply.details
})

const Status = Schema.Struct({ transaction_id: Schema.String, status: Schema.String })

const statusOf = Effect.fnUntraced(function*(id: string, caller?: Caller) {
  const provider = caller ?? (yield* Stage).provider
  const reply = yield* provider.get(`/api/v1/provider/wallet/transactions/${encodeURIComponent(id)}`)
  const found = yield* dataOf(reply, 200, Status)
  assert.strictEqual(found.transaction_id, id)
  return found.status
})

const Entry = Schema.Struct({
  id: Schema.Int,
  wallet: Schema.String,
  type: Schema.String,
  amount: Schema.Int,
  balance_after: Schema.Int,
  game_id: Schema.NullOr(Schema.Int),
  game_round_id: Schema.NullOr(Schema.String)
})

/** The ledger of a player as the operator sees it, newest first. */
const ledgerOf = Effect.fnUntraced(function*({ playerId }: Seat) {
  const { operator } = yield* Stage
  const reply = yield* operator.get(`/api/v1/operator/players/${playerId}/transactions?per_page=100`)
  return yield* dataOf(reply, 200, Schema.Array(Entry))
})

/** Time passes until every player rests on disk: whoever is asked next is read again. */
const letPlayersRest = Effect.gen(function*() {
  const { resident } = yield* PlayerActors
  yield* Effect.repeat(
    Effect.andThen(
      TestClock.adjust("31 minutes"),
      Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    ),
    { while: () => resident() > 0, times: 1000 }
  )
  assert.strictEqual(resident(), 0)
})

layer(Live)("the provider wallet", (it) => {
  it.effect("authenticate says whose session it is, and until when", () =>
    Effect.gen(function*() {
      const { foreign, game, operator, other } = yield* Stage
      const at = yield* sit(1234)
      const openedAt = yield* Clock.currentTimeMillis
      const reply = yield* say("authenticate", { session_token: at.token })
      assert.deepStrictEqual(reply.json, {
        data: {
          player_ref: at.ref,
          currency: "EUR",
          country: "MT",
          language: "en",
          balance: 1234,
          bonus_balance: 0,
          session_expires_at: iso(openedAt + 12 * 60 * 60_000)
        }
      })
      assertRefused(yield* say("authenticate", { session_token: "gs_nobody" }), 401, "INVALID_SESSION")
      // a token is for the provider of its game
      assertRefused(yield* tell(other, "authenticate", { session_token: at.token }), 401, "INVALID_SESSION")
      const elsewhere = yield* launch(operator, at.playerId, foreign.id)
      assertRefused(yield* say("authenticate", { session_token: elsewhere }), 401, "INVALID_SESSION")
      // the name of a player is the provider's own, and stays
      const again = yield* launch(operator, at.playerId, game.id)
      const named = yield* dataOf(
        yield* say("authenticate", { session_token: again }),
        200,
        Schema.Struct({ player_ref: Schema.String })
      )
      assert.strictEqual(named.player_ref, at.ref)
      const rival = yield* dataOf(
        yield* tell(other, "authenticate", { session_token: elsewhere }),
        200,
        Schema.Struct({ player_ref: Schema.String })
      )
      assert.notStrictEqual(rival.player_ref, at.ref)
    }))

  it.effect("balance answers to a session and to a player's name", () =>
    Effect.gen(function*() {
      const { other } = yield* Stage
      const at = yield* sit(500)
      const expected = { data: { balance: 500, bonus_balance: 0, currency: "EUR" } }
      assert.deepStrictEqual((yield* say("balance", { session_token: at.token })).json, expected)
      assert.deepStrictEqual((yield* say("balance", { player_ref: at.ref })).json, expected)
      yield* refuse("balance", {}, 422, "VALIDATION_FAILED")
      yield* refuse("balance", { session_token: "gs_nobody" }, 401, "INVALID_SESSION")
      yield* refuse("balance", { player_ref: "pr_nobody" }, 404, "NOT_FOUND")
      assertRefused(yield* tell(other, "balance", { player_ref: at.ref }), 404, "NOT_FOUND")
    }))

  it.effect("a bet, its win and their rollbacks say what moved", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      const placed = yield* settle("bet", bet(at, `${id}b`))
      const [entry] = placed.wallet_transaction_ids
      assert.deepStrictEqual(placed, {
        request_id: `r-${id}b`,
        transaction_id: `${id}b`,
        status: "processed",
        wallet_transaction_ids: [entry ?? 0],
        real_amount: -100,
        bonus_amount: 0,
        balance: 900,
        bonus_balance: 0,
        currency: "EUR",
        wallet_seq: 2,
        round_state: "open"
      })
      const paid = yield* settle("win", win(at, `${id}w`, `${id}b`, { round_closed: true }))
      assert.deepInclude(paid, {
        status: "processed",
        real_amount: 250,
        bonus_amount: 0,
        balance: 1150,
        wallet_seq: 3,
        round_state: "closed"
      })
      const unpaid = yield* settle("rollback", rollback(at, `${id}rw`, `${id}w`))
      assert.deepInclude(unpaid, { status: "processed", real_amount: -250, balance: 900, wallet_seq: 4 })
      const undone = yield* settle("rollback", rollback(at, `${id}rb`, `${id}b`))
      assert.deepInclude(undone, { status: "processed", real_amount: 100, balance: 1000, wallet_seq: 5 })
      const about = { wallet: "real", game_id: at.game.id, game_round_id: "round" }
      assert.deepStrictEqual(yield* ledgerOf(at), [
        {
          id: undone.wallet_transaction_ids[0] ?? 0,
          ...about,
          type: "casino_rollback",
          amount: 100,
          balance_after: 1000
        },
        {
          id: unpaid.wallet_transaction_ids[0] ?? 0,
          ...about,
          type: "casino_rollback",
          amount: -250,
          balance_after: 900
        },
        { id: paid.wallet_transaction_ids[0] ?? 0, ...about, type: "casino_win", amount: 250, balance_after: 1150 },
        { id: entry ?? 0, ...about, type: "casino_bet", amount: -100, balance_after: 900 },
        ...(yield* ledgerOf(at)).slice(4)
      ])
      assert.strictEqual(yield* statusOf(`${id}b`), "rolled_back")
      assert.strictEqual(yield* statusOf(`${id}w`), "rolled_back")
      assert.strictEqual(yield* statusOf(`${id}rb`), "processed")
      assert.strictEqual(yield* statusOf(`${id}never`), "unknown")
    }))

  it.effect("a win of nothing writes no entry and repeats the sequence", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      yield* settle("bet", bet(at, `${id}b`))
      const nothing = yield* settle("win", win(at, `${id}w`, `${id}b`, { amount: 0, round_closed: true }))
      assert.deepInclude(nothing, {
        status: "processed",
        real_amount: 0,
        balance: 900,
        wallet_seq: 2,
        round_state: "closed"
      })
      assert.deepStrictEqual(nothing.wallet_transaction_ids, [])
      assert.strictEqual(yield* statusOf(`${id}w`), "processed")
      // nothing stands between the bet and its rollback
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}b`)), {
        status: "processed",
        balance: 1000
      })
    }))

  it.effect("a known message is answered as it was, for ever and before every check", () =>
    Effect.gen(function*() {
      const { game, operator } = yield* Stage
      const sql = yield* SqlClient.SqlClient
      const at = yield* sit(1000)
      const id = yield* freshName
      const first = {
        b: yield* settle("bet", bet(at, `${id}b`)),
        w: yield* settle("win", win(at, `${id}w`, `${id}b`)),
        p: yield* settle("promo-win", promo(at, `${id}p`)),
        r: yield* settle("rollback", rollback(at, `${id}r`, `${id}never`)),
        c: yield* settle("bet", bet(at, `${id}c`, { round_id: "other" })),
        t: yield* settle("rollback", rollback(at, `${id}t`, `${id}c`))
      }
      assert.strictEqual(first.r.status, "ignored")
      yield* deposit(operator, at.playerId, 5000, `${id}d`)
      yield* settle("round/close", { player_ref: at.ref, game_id: game.externalId, round_id: "round" })

      const replayAll = Effect.fnUntraced(function*(token: string) {
        const replays = {
          b: yield* settle("bet", bet({ ...at, token }, `${id}b`, { request_id: "another" })),
          w: yield* settle("win", win(at, `${id}w`, `${id}b`)),
          p: yield* settle("promo-win", promo(at, `${id}p`)),
          r: yield* settle("rollback", rollback(at, `${id}r`, `${id}never`)),
          c: yield* settle("bet", bet({ ...at, token }, `${id}c`, { round_id: "other" })),
          t: yield* settle("rollback", rollback(at, `${id}t`, `${id}c`))
        }
        for (const name of ["b", "w", "p", "r", "c", "t"] as const) {
          const { real_amount, transaction_id, wallet_transaction_ids } = first[name]
          assert.deepInclude(replays[name], {
            status: "replayed",
            transaction_id,
            real_amount,
            wallet_transaction_ids,
            // today's
            balance: 1000 - 100 + 250 + 70 + 5000,
            wallet_seq: 7
          })
        }
        assert.strictEqual(replays.b.request_id, "another")
        assert.strictEqual(replays.b.round_state, "closed")
        assert.strictEqual(replays.c.round_state, "open")
      })
      yield* replayAll(at.token)
      // memory has forgotten, the session is over, the account is closed, the game is gone
      yield* TestClock.adjust("12 hours")
      yield* letPlayersRest
      yield* sql`UPDATE players SET status = 'closed', limits = '{"max_single_bet": 1}' WHERE id = ${at.playerId}`
      yield* sql`UPDATE games SET active = false WHERE id = ${game.id}`
      yield* (yield* Games).refresh
      yield* replayAll(at.token)
      yield* replayAll("gs_nobody")
      yield* sql`UPDATE games SET active = true WHERE id = ${game.id}`
      yield* (yield* Games).refresh
    }))

  it.effect("a known id with other content is refused, whatever differs", () =>
    Effect.gen(function*() {
      const { foreign, other, operator, second } = yield* Stage
      const at = yield* sit(1000)
      const someone = yield* sit(1000)
      const id = yield* freshName
      const [b, w, r, p] = [`${id}b`, `${id}w`, `${id}r`, `${id}p`]
      yield* settle("bet", bet(at, b))
      yield* settle("bet", bet(at, `${id}b2`))
      yield* settle("win", win(at, w, b))
      yield* settle("rollback", rollback(at, r, w))
      yield* settle("promo-win", promo(at, p))
      const duplicates: ReadonlyArray<readonly [string, Fields]> = [
        ["bet", bet(at, b, { amount: 101 })],
        ["bet", bet(at, b, { currency: "USD" })],
        ["bet", bet(at, b, { game_id: second.externalId })],
        ["bet", bet(at, b, { game_id: "none" })],
        ["bet", bet(at, b, { round_id: "another" })],
        ["bet", bet(someone, b)],
        ["bet", bet(at, w)],
        ["bet", bet(at, r)],
        ["bet", bet(at, p)],
        ["win", win(at, b, b)],
        ["win", win(at, w, b, { amount: 251 })],
        ["win", win(at, w, b, { currency: "USD" })],
        ["win", win(at, w, b, { game_id: second.externalId })],
        ["win", win(at, w, b, { round_id: "another" })],
        ["win", win(at, w, `${id}b2`)],
        ["win", win(someone, w, b)],
        ["win", win(at, r, b)],
        ["win", win(at, p, b)],
        ["rollback", rollback(at, b, w)],
        ["rollback", rollback(at, w, b)],
        ["rollback", rollback(at, p, b)],
        ["rollback", rollback(at, r, b)],
        ["rollback", rollback(someone, r, w)],
        ["promo-win", promo(at, b)],
        ["promo-win", promo(at, p, { amount: 71 })],
        ["promo-win", promo(at, p, { currency: "USD" })],
        ["promo-win", promo(at, p, { kind: "cash_drop" })],
        ["promo-win", promo(at, p, { campaign_id: "monday" })],
        ["promo-win", promo(someone, p)],
        ["bet-win", { ...bet(at, b, { amount: 101 }), win: { transaction_id: `${id}n`, amount: 5 } }],
        ["batch", { actions: [{ action: "bet", ...bet(at, b, { amount: 101 }) }] }]
      ]
      const before = yield* ledgerOf(at)
      for (const [path, body] of duplicates) yield* refuse(path, body, 409, "DUPLICATE_TRANSACTION")
      assert.deepStrictEqual(yield* ledgerOf(at), before)
      assert.deepInclude(yield* settle("bet", bet(at, b)), { status: "replayed", wallet_seq: 6 })
      // another provider's ids are its own
      const token = yield* launch(operator, at.playerId, foreign.id)
      const theirs = yield* settledOf(yield* tell(other, "bet", bet({ ...at, token, game: foreign }, b)))
      assert.strictEqual(theirs.status, "processed")
      assert.strictEqual(yield* statusOf(w, other), "unknown")
    }))

  it.effect("a rollback that comes before its target leaves a tombstone", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      const early = yield* settle("rollback", rollback(at, `${id}r`, `${id}b`))
      assert.deepInclude(early, { status: "ignored", real_amount: 0, balance: 1000, wallet_seq: 1 })
      assert.deepStrictEqual(early.wallet_transaction_ids, [])
      assert.strictEqual(yield* statusOf(`${id}b`), "tombstone")
      assert.strictEqual(yield* statusOf(`${id}r`), "processed")
      yield* refuse("bet", bet(at, `${id}b`), 409, "BET_ROLLED_BACK")
      // a tombstone stands for any message of its id
      yield* settle("bet", bet(at, `${id}c`))
      yield* settle("rollback", rollback(at, `${id}s`, `${id}w`))
      yield* refuse("win", win(at, `${id}w`, `${id}c`), 409, "BET_ROLLED_BACK")
      yield* settle("rollback", rollback(at, `${id}q`, `${id}p`))
      yield* refuse("promo-win", promo(at, `${id}p`), 409, "BET_ROLLED_BACK")
      // a second rollback of it, and a win on it
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r2`, `${id}b`)), { status: "ignored" })
      yield* refuse("win", win(at, `${id}v`, `${id}b`), 409, "BET_ROLLED_BACK")
      yield* letPlayersRest
      yield* refuse("bet", bet(at, `${id}b`), 409, "BET_ROLLED_BACK")
    }))

  it.effect("rollbacks: once, wins before their bets, never of a rollback", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      yield* settle("bet", bet(at, `${id}b`))
      yield* settle("win", win(at, `${id}w`, `${id}b`))
      yield* refuse("rollback", rollback(at, `${id}r`, `${id}b`), 409, "BET_ALREADY_SETTLED")
      yield* settle("rollback", rollback(at, `${id}s`, `${id}w`))
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}b`)), {
        status: "processed",
        balance: 1000
      })
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r2`, `${id}b`)), {
        status: "ignored",
        real_amount: 0,
        balance: 1000
      })
      yield* refuse("rollback", rollback(at, `${id}x`, `${id}r`), 409, "ROLLBACK_NOT_ALLOWED")
      yield* refuse("rollback", rollback(at, `${id}x`, `${id}r2`), 409, "ROLLBACK_NOT_ALLOWED")
      yield* refuse("rollback", rollback(at, `${id}x`, `${id}x`), 409, "ROLLBACK_NOT_ALLOWED")
      yield* refuse("win", win(at, `${id}w2`, `${id}b`), 409, "BET_ROLLED_BACK")
      yield* refuse("win", win(at, `${id}w3`, `${id}never`), 404, "BET_NOT_FOUND")
      // a promo-win can be taken back as well
      yield* settle("promo-win", promo(at, `${id}p`))
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}y`, `${id}p`)), {
        real_amount: -70,
        balance: 1000
      })
    }))

  it.effect("a win whose money is spent is taken back all the same; below zero there are no bets", () =>
    Effect.gen(function*() {
      const { operator } = yield* Stage
      const at = yield* sit(100)
      const id = yield* freshName
      yield* settle("bet", bet(at, `${id}b`))
      yield* settle("win", win(at, `${id}w`, `${id}b`))
      yield* settle("bet", bet(at, `${id}c`, { amount: 200, round_id: "next" }))
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}w`)), {
        status: "processed",
        real_amount: -250,
        balance: -200
      })
      const details = yield* refuse("bet", bet(at, `${id}d`, { amount: 1 }), 402, "INSUFFICIENT_FUNDS")
      assert.strictEqual(details["balance"], -200)
      yield* deposit(operator, at.playerId, 300, `${id}d`)
      assert.deepInclude(yield* settle("bet", bet(at, `${id}d`)), { balance: 0 })
    }))

  it.effect("a closed round takes no new bet and no new win", () =>
    Effect.gen(function*() {
      const { game } = yield* Stage
      const at = yield* sit(1000)
      const id = yield* freshName
      const close = { player_ref: at.ref, game_id: game.externalId, round_id: "round" }
      yield* settle("bet", bet(at, `${id}b`))
      const closed = yield* settle("round/close", { request_id: "c", ...close })
      assert.deepStrictEqual(closed, {
        ...closed,
        request_id: "c",
        transaction_id: null,
        status: "processed",
        wallet_transaction_ids: [],
        real_amount: 0,
        balance: 900,
        wallet_seq: 2,
        round_state: "closed"
      })
      assert.deepInclude(yield* settle("round/close", close), { request_id: null, round_state: "closed" })
      yield* refuse("bet", bet(at, `${id}c`), 409, "ROUND_CLOSED")
      yield* refuse("win", win(at, `${id}w`, `${id}b`), 409, "ROUND_CLOSED")
      // the round of a bet that closes it, and one that nobody played
      assert.deepInclude(yield* settle("bet", bet(at, `${id}d`, { round_id: "short", round_closed: true })), {
        round_state: "closed"
      })
      yield* refuse("bet", bet(at, `${id}e`, { round_id: "short" }), 409, "ROUND_CLOSED")
      yield* settle("round/close", { ...close, round_id: "empty" })
      yield* refuse("bet", bet(at, `${id}f`, { round_id: "empty" }), 409, "ROUND_CLOSED")
      // what is closed can still be taken back
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}b`)), {
        status: "processed",
        round_state: "closed"
      })
      // the same round of another game is another round
      assert.deepInclude(
        yield* settle("bet", bet({ ...at, game: (yield* Stage).second }, `${id}g`)),
        { status: "processed" }
      )
    }))

  it.effect("a bet needs a real session that runs; what follows a bet needs none", () =>
    Effect.gen(function*() {
      const { foreign, game, operator } = yield* Stage
      const at = yield* sit(1000)
      const id = yield* freshName
      const demo = yield* launch(operator, at.playerId, game.id, "demo")
      const shown = yield* dataOf(
        yield* say("authenticate", { session_token: demo }),
        200,
        Schema.Struct({ player_ref: Schema.String })
      )
      assert.strictEqual(shown.player_ref, at.ref)
      const elsewhere = yield* launch(operator, at.playerId, foreign.id)
      const forged = `${at.token.slice(0, -1)}${at.token.endsWith("A") ? "B" : "A"}`
      for (const token of [demo, elsewhere, forged, "gs_nobody"]) {
        const body = bet({ ...at, token }, `${id}x`)
        yield* refuse("bet", body, 401, "INVALID_SESSION")
        yield* refuse("bet-win", { ...body, win: { transaction_id: `${id}y`, amount: 1 } }, 401, "INVALID_SESSION")
        yield* refuse("batch", { actions: [{ action: "bet", ...body }] }, 401, "INVALID_SESSION")
      }
      yield* settle("bet", bet(at, `${id}b`))
      yield* settle("bet", bet(at, `${id}c`))
      yield* TestClock.adjust("12 hours")
      yield* refuse("bet", bet(at, `${id}x`), 401, "INVALID_SESSION")
      yield* refuse("authenticate", { session_token: at.token }, 401, "INVALID_SESSION")
      yield* refuse("balance", { session_token: at.token }, 401, "INVALID_SESSION")
      assert.strictEqual((yield* settle("win", win(at, `${id}w`, `${id}b`))).status, "processed")
      assert.strictEqual((yield* settle("rollback", rollback(at, `${id}r`, `${id}w`))).status, "processed")
      assert.strictEqual((yield* settle("promo-win", promo(at, `${id}p`))).status, "processed")
      assert.strictEqual((yield* say("balance", { player_ref: at.ref })).status, 200)
      const again = yield* launch(operator, at.playerId, game.id)
      assert.strictEqual((yield* settle("bet", bet({ ...at, token: again }, `${id}x`))).status, "processed")
    }))

  const accounts: ReadonlyArray<readonly [name: string, change: string, reason: string]> = [
    ["locked", "status = 'locked'", "locked"],
    ["closed", "status = 'closed'", "closed"],
    ["kept from betting", "can_bet = false", "can_bet"],
    [
      "excluded",
      "exclusion_type = 'self_exclusion', exclusion_since = '1970-01-01', exclusion_until = '2999-01-01'",
      "self_exclusion"
    ]
  ]
  for (const [name, change, reason] of accounts) {
    it.effect(`who is ${name} cannot bet, and everything else is settled`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const at = yield* sit(1000)
        const id = yield* freshName
        yield* settle("bet", bet(at, `${id}b`))
        yield* settle("bet", bet(at, `${id}c`, { round_id: "other" }))
        yield* letPlayersRest
        yield* sql`UPDATE players SET ${sql.literal(change)} WHERE id = ${at.playerId}`
        const details = yield* refuse("bet", bet(at, `${id}x`), 422, "PLAYER_RESTRICTED")
        assert.strictEqual(details["reason"], reason)
        yield* refuse(
          "bet-win",
          { ...bet(at, `${id}x`), win: { transaction_id: `${id}y`, amount: 1 } },
          422,
          "PLAYER_RESTRICTED"
        )
        assert.deepInclude(yield* settle("win", win(at, `${id}w`, `${id}b`)), { status: "processed", balance: 1050 })
        assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}c`)), { balance: 1150 })
        assert.deepInclude(yield* settle("promo-win", promo(at, `${id}p`)), { balance: 1220 })
        assert.strictEqual((yield* settle("bet", bet(at, `${id}b`))).status, "replayed")
        assert.strictEqual(yield* statusOf(`${id}x`), "unknown")
      }))
  }

  const limits: ReadonlyArray<readonly [limit: string, value: number, used: number]> = [
    ["max_single_bet", 99, 0],
    ["casino_max_single_bet", 99, 0],
    ["max_daily_bet", 199, 100],
    ["casino_max_daily_bet", 199, 100],
    ["max_weekly_bet", 199, 100],
    ["max_monthly_bet", 199, 100],
    ["max_daily_loss", 199, 100],
    ["max_weekly_loss", 199, 100],
    ["max_monthly_loss", 199, 100]
  ]
  it.effect("limits refuse bets and nothing else", () =>
    Effect.gen(function*() {
      for (const [limit, value, used] of limits) {
        const at = yield* sit(1000, { [limit]: value })
        const id = yield* freshName
        if (used > 0) yield* settle("bet", bet(at, `${id}b`))
        const reply = yield* say("bet", bet(at, `${id}x`))
        assertRefused(reply, 422, "LIMIT_EXCEEDED")
        assert.deepInclude(reply.details, { limit, value, used })
        assert.strictEqual(typeof reply.details["resets_at"], used > 0 ? "string" : "object")
        assert.strictEqual((yield* settle("promo-win", promo(at, `${id}p`))).status, "processed")
        if (used > 0) assert.strictEqual((yield* settle("win", win(at, `${id}w`, `${id}b`))).status, "processed")
      }
    }))

  it.effect("a stake must be covered", () =>
    Effect.gen(function*() {
      const at = yield* sit(99)
      const id = yield* freshName
      const details = yield* refuse("bet", bet(at, `${id}b`), 402, "INSUFFICIENT_FUNDS")
      assert.strictEqual(details["balance"], 99)
      // a refusal is not remembered: the same message may come again when there is money
      assert.strictEqual(yield* statusOf(`${id}b`), "unknown")
      yield* deposit((yield* Stage).operator, at.playerId, 1, `${id}d`)
      assert.deepInclude(yield* settle("bet", bet(at, `${id}b`)), { status: "processed", balance: 0 })
    }))

  it.effect("bet-win is one step: both or neither", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      const body = { ...bet(at, `${id}b`), win: { transaction_id: `${id}w`, amount: 30 }, round_closed: true }
      const both = yield* settle("bet-win", body)
      assert.deepInclude(both, {
        transaction_id: `${id}b`,
        status: "processed",
        real_amount: -70,
        balance: 930,
        wallet_seq: 2,
        round_state: "closed"
      })
      assert.lengthOf(both.wallet_transaction_ids, 2)
      assert.deepStrictEqual((yield* ledgerOf(at)).slice(0, 2).map(({ amount, id, type }) => ({ amount, id, type })), [
        { amount: 30, id: both.wallet_transaction_ids[1] ?? 0, type: "casino_win" },
        { amount: -100, id: both.wallet_transaction_ids[0] ?? 0, type: "casino_bet" }
      ])
      const again = yield* settle("bet-win", body)
      assert.deepStrictEqual(again, { ...both, status: "replayed" })
      assert.strictEqual(yield* statusOf(`${id}b`), "processed")
      assert.strictEqual(yield* statusOf(`${id}w`), "processed")
      // what one half refuses, the other half does not do
      yield* refuse(
        "bet-win",
        { ...bet(at, `${id}c`, { amount: 931, round_id: "n" }), win: { transaction_id: `${id}x`, amount: 5000 } },
        402,
        "INSUFFICIENT_FUNDS"
      )
      yield* refuse(
        "bet-win",
        { ...bet(at, `${id}c`, { round_id: "n" }), win: { transaction_id: `${id}w`, amount: 30 } },
        409,
        "DUPLICATE_TRANSACTION"
      )
      assert.strictEqual(yield* statusOf(`${id}c`), "unknown")
      assert.strictEqual(yield* statusOf(`${id}x`), "unknown")
      // the bet of it cannot be taken back before the win
      yield* refuse("rollback", rollback(at, `${id}r`, `${id}b`), 409, "BET_ALREADY_SETTLED")
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}r`, `${id}w`)), {
        real_amount: -30,
        balance: 900
      })
      assert.deepInclude(yield* settle("rollback", rollback(at, `${id}s`, `${id}b`)), {
        real_amount: 100,
        balance: 1000
      })
    }))

  const Batch = Schema.Struct({ request_id: Schema.NullOr(Schema.String), results: Schema.Array(Settlement) })
  const settleBatch = Effect.fnUntraced(function*(actions: ReadonlyArray<Fields>) {
    return yield* dataOf(yield* say("batch", { request_id: "batch", actions }), 200, Batch)
  })

  it.effect("a batch is settled in order, all or nothing", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const id = yield* freshName
      const actions = [
        { action: "bet", ...bet(at, `${id}b`) },
        { action: "bet", ...bet(at, `${id}c`, { amount: 50 }) },
        { action: "win", ...win(at, `${id}w`, `${id}b`) },
        { action: "rollback", ...rollback(at, `${id}r`, `${id}w`) },
        { action: "win", ...win(at, `${id}v`, `${id}c`, { amount: 0 }) },
        { action: "rollback", ...rollback(at, `${id}s`, `${id}b`) },
        { action: "rollback", ...rollback(at, `${id}t`, `${id}never`) }
      ]
      const done = yield* settleBatch(actions)
      assert.strictEqual(done.request_id, "batch")
      assert.deepStrictEqual(
        done.results.map((
          { balance, real_amount, status, transaction_id, wallet_seq }
        ) => [transaction_id, status, real_amount, balance, wallet_seq]),
        [
          [`${id}b`, "processed", -100, 900, 2],
          [`${id}c`, "processed", -50, 850, 3],
          [`${id}w`, "processed", 250, 1100, 4],
          [`${id}r`, "processed", -250, 850, 5],
          [`${id}v`, "processed", 0, 850, 5],
          [`${id}s`, "processed", 100, 950, 6],
          [`${id}t`, "ignored", 0, 950, 6]
        ]
      )
      const again = yield* settleBatch(actions)
      assert.isTrue(again.results.every(({ balance, status }) => status === "replayed" && balance === 950))

      // what is known is replayed in its place, what is new is applied
      const mixed = yield* settleBatch([
        { action: "bet", ...bet(at, `${id}c`, { amount: 50 }) },
        { action: "bet", ...bet(at, `${id}n`, { amount: 5 }) }
      ])
      assert.deepStrictEqual(mixed.results.map(({ status }) => status), ["replayed", "processed"])

      // one that is refused undoes those before it
      const reply = yield* say("batch", {
        actions: [
          { action: "bet", ...bet(at, `${id}x`) },
          { action: "win", ...win(at, `${id}y`, `${id}x`) },
          { action: "bet", ...bet(at, `${id}z`, { amount: 5000 }) }
        ]
      })
      assertRefused(reply, 402, "INSUFFICIENT_FUNDS")
      assert.strictEqual(reply.details["action_index"], 2)
      assert.strictEqual(yield* statusOf(`${id}x`), "unknown")
      assert.deepStrictEqual((yield* say("balance", { player_ref: at.ref })).json, {
        data: { balance: 945, bonus_balance: 0, currency: "EUR" }
      })
    }))

  it.effect("a batch is one player's, and of 1 to 100 actions", () =>
    Effect.gen(function*() {
      const at = yield* sit(1000)
      const someone = yield* sit(1000)
      const id = yield* freshName
      const one = (index: number) => ({ action: "bet", ...bet(at, `${id}-${index}`, { amount: 1 }) })
      yield* refuse("batch", { actions: [] }, 422, "VALIDATION_FAILED")
      yield* refuse(
        "batch",
        { actions: Array.from({ length: 101 }, (_, index) => one(index)) },
        422,
        "VALIDATION_FAILED"
      )
      yield* refuse(
        "batch",
        { actions: [one(0), { action: "bet", ...bet(someone, `${id}x`) }] },
        422,
        "VALIDATION_FAILED"
      )
      yield* refuse("batch", { actions: [{ action: "rob" }] }, 422, "VALIDATION_FAILED")
      assert.strictEqual(yield* statusOf(`${id}-0`), "unknown")
      const full = yield* settleBatch(Array.from({ length: 100 }, (_, index) => one(index)))
      assert.deepStrictEqual(
        full.results.map(({ wallet_seq }) => wallet_seq),
        Array.from({ length: 100 }, (_, i) => i + 2)
      )
      assert.strictEqual(full.results[99]?.balance, 900)
    }))

  it.effect("promo-wins are real money of their kind, without session and round", () =>
    Effect.gen(function*() {
      const at = yield* sit(0)
      const id = yield* freshName
      const types = {
        jackpot: "casino_win",
        tournament: "tournament_prize",
        free_rounds: "casino_win",
        cash_drop: "casino_win"
      }
      for (const [kind, type] of Object.entries(types)) {
        const paid = yield* settle("promo-win", promo(at, `${id}${kind}`, { kind }))
        assert.deepInclude(paid, { status: "processed", real_amount: 70, round_state: "closed" })
        const [newest] = yield* ledgerOf(at)
        assert.deepInclude(newest, { type, wallet: "real", amount: 70, game_id: null, game_round_id: null })
      }
      yield* refuse("promo-win", promo(at, `${id}x`, { kind: "lottery" }), 422, "VALIDATION_FAILED")
      yield* refuse("promo-win", promo(at, `${id}x`, { amount: 0 }), 422, "VALIDATION_FAILED")
      yield* refuse("promo-win", promo(at, `${id}x`, { currency: "USD" }), 422, "VALIDATION_FAILED")
    }))

  it.effect("a free bet costs nothing and names its campaign", () =>
    Effect.gen(function*() {
      const at = yield* sit(0)
      const id = yield* freshName
      const details = yield* refuse("bet", bet(at, `${id}x`, { amount: 0 }), 422, "VALIDATION_FAILED")
      assert.property(details, "amount")
      const nameless = yield* refuse("bet", bet(at, `${id}x`, { amount: 0, is_free: true }), 422, "VALIDATION_FAILED")
      assert.property(nameless, "campaign_id")
      const free = yield* settle("bet", bet(at, `${id}b`, { amount: 0, is_free: true, campaign_id: "spins" }))
      assert.deepInclude(free, { status: "processed", real_amount: 0, balance: 0, wallet_seq: 0 })
      assert.deepStrictEqual(free.wallet_transaction_ids, [])
      assert.deepInclude(yield* settle("win", win(at, `${id}w`, `${id}b`)), {
        real_amount: 250,
        balance: 250,
        wallet_seq: 1
      })
      yield* refuse("rollback", rollback(at, `${id}r`, `${id}b`), 409, "BET_ALREADY_SETTLED")
    }))

  it.effect("a game, a player and a currency have to be the right ones", () =>
    Effect.gen(function*() {
      const { foreign, operator, other } = yield* Stage
      const at = yield* sit(1000)
      const id = yield* freshName
      yield* settle("bet", bet(at, `${id}b`))
      for (const game_id of [foreign.externalId, "none"]) {
        yield* refuse("bet", bet(at, `${id}x`, { game_id }), 404, "NOT_FOUND")
        yield* refuse("win", win(at, `${id}x`, `${id}b`, { game_id }), 404, "NOT_FOUND")
        yield* refuse("round/close", { player_ref: at.ref, game_id, round_id: "round" }, 404, "NOT_FOUND")
      }
      const currency = yield* refuse("bet", bet(at, `${id}x`, { currency: "USD" }), 422, "VALIDATION_FAILED")
      assert.property(currency, "currency")
      yield* refuse("win", win(at, `${id}x`, `${id}b`, { currency: "USD" }), 422, "VALIDATION_FAILED")

      // a name is the provider's own, and a player without a session with a provider is nobody to it
      const messages: ReadonlyArray<readonly [string, Fields]> = [
        ["win", win(at, `${id}x`, `${id}b`)],
        ["rollback", rollback(at, `${id}x`, `${id}b`)],
        ["promo-win", promo(at, `${id}x`)],
        ["round/close", { player_ref: at.ref, game_id: foreign.externalId, round_id: "round" }],
        ["balance", { player_ref: at.ref }],
        ["batch", { actions: [{ action: "rollback", ...rollback(at, `${id}x`, `${id}b`) }] }]
      ]
      for (const [path, body] of messages) assertRefused(yield* tell(other, path, body), 404, "NOT_FOUND")
      for (const [path, body] of messages) {
        const changed = JSON.parse(JSON.stringify(body).replaceAll(at.ref, "pr_nobody"))
        assertRefused(yield* say(path, changed), 404, "NOT_FOUND")
      }
      const token = yield* launch(operator, at.playerId, foreign.id, "demo")
      const { player_ref: ref } = yield* dataOf(
        yield* tell(other, "authenticate", { session_token: token }),
        200,
        Schema.Struct({ player_ref: Schema.String })
      )
      assertRefused(yield* tell(other, "promo-win", promo({ ...at, ref }, `${id}x`)), 404, "NOT_FOUND")
      // another player's bet is none of this player's
      const someone = yield* sit(1000)
      yield* refuse("win", win(someone, `${id}y`, `${id}b`), 404, "BET_NOT_FOUND")
      const theft = yield* say("rollback", rollback(someone, `${id}z`, `${id}b`))
      assertRefused(theft, 404, "NOT_FOUND")
      assert.deepInclude(yield* settle("bet", bet(at, `${id}b`)), { status: "replayed", balance: 900 })
    }))

  it.effect("who asks is checked, every time; the same bytes may come again", () =>
    Effect.gen(function*() {
      const { provider } = yield* Stage
      const agent = yield* makeAgent()
      const port = yield* portOf
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const at = yield* sit(1000)
      const id = yield* freshName
      const path = "/api/v1/provider/wallet/bet"
      const body = bet(at, id)
      const { signer } = provider
      const attempts: ReadonlyArray<
        readonly [status: number, code: string, headers: { readonly [name: string]: string }]
      > = [
        [401, "MISSING_CREDENTIALS", { "X-Provider-Key": "" }],
        [401, "MISSING_CREDENTIALS", { "X-Timestamp": "" }],
        [401, "MISSING_CREDENTIALS", { "X-Signature": "" }],
        [401, "INVALID_API_KEY", { "X-Provider-Key": "pbp_live_nobody" }],
        [401, "TIMESTAMP_OUT_OF_RANGE", { "X-Timestamp": String(now + 301) }],
        [401, "TIMESTAMP_OUT_OF_RANGE", { "X-Timestamp": "soon" }],
        [401, "INVALID_NONCE", { "X-Nonce": "n".repeat(129) }],
        [401, "INVALID_SIGNATURE", { "X-Signature": "0".repeat(64) }],
        [401, "INVALID_SIGNATURE", { "X-Nonce": "unsigned" }]
      ]
      for (const [status, code, headers] of attempts) {
        const reply = yield* exchangeSigned(agent, port, signer, path, { body, headers, timestamp: now })
        assertRefused(reply, status, code)
        assert.notProperty(reply.headers, "x-ratelimit-limit")
      }
      assert.strictEqual(yield* statusOf(id), "unknown")
      const same = { body, timestamp: now, nonce: "once" }
      assert.strictEqual((yield* settledOf(yield* exchangeSigned(agent, port, signer, path, same))).status, "processed")
      assert.strictEqual((yield* settledOf(yield* exchangeSigned(agent, port, signer, path, same))).status, "replayed")

      const fenced = callerOf(agent, port, yield* addProvider(`fenced-${id}`, ["203.0.113.0/24"]))
      assertRefused(yield* tell(fenced, "balance", { session_token: at.token }), 403, "IP_NOT_ALLOWED")
      const welcome = callerOf(agent, port, yield* addProvider(`welcome-${id}`, ["127.0.0.0/8"]))
      assertRefused(yield* tell(welcome, "balance", { session_token: at.token }), 401, "INVALID_SESSION")
    }))
})
