import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { addGame, addStudio, addTenant, callWallet, dataAs, type Seat, seat, settledOf } from "../kit/Casino.ts"
import { layerPublicApi } from "../kit/E2eServer.ts"
import { makeAgent, portOf, type Reply } from "../kit/HttpCalls.ts"
import { bet, close, makePlayer, noon, providerId, rollback, win } from "../kit/Messages.ts"
import { type ModelAnswer, SettlementModel } from "../kit/SettlementModel.ts"
import { answered, heard } from "../kit/WalletAnswers.ts"

// Goal: a round's messages in any order and number each get the contract's answer, and the final state
// is right. Method: every sequence of one to four of the five messages, through HTTP on a fresh round, every answer compared with
// the model that test/rules/SettlementTraffic.test.ts checks the rules against; the status of each message is requested at the
// end. Shorter sequences again for a win of 0 and for a win that closes the round.

const messages = ["bet", "win", "rollback-bet", "rollback-win", "close"] as const
type Message = (typeof messages)[number]

interface Stakes {
  readonly bet: number
  readonly win: number
  /** Whether the win closes the round. */
  readonly winCloses: boolean
}

/** Every sequence of up to `longest` messages. */
const sequences = (longest: number): ReadonlyArray<ReadonlyArray<Message>> => {
  const all: Array<ReadonlyArray<Message>> = []
  let last: ReadonlyArray<ReadonlyArray<Message>> = [[]]
  for (let length = 1; length <= longest; length++) {
    last = last.flatMap((sequence) => messages.map((message) => [...sequence, message]))
    all.push(...last)
  }
  return all
}

interface Play {
  readonly name: string
  readonly stakes: Stakes
  readonly sequence: ReadonlyArray<Message>
}

const plays = (label: string, longest: number, stakes: Stakes): ReadonlyArray<Play> =>
  sequences(longest).map((sequence, index) => ({ name: `${label}${index}`, stakes, sequence }))

const all: ReadonlyArray<Play> = [
  ...plays("a", 4, { bet: 100, win: 250, winCloses: false }),
  ...plays("b", 3, { bet: 100, win: 0, winCloses: false }),
  ...plays("c", 3, { bet: 100, win: 30, winCloses: true })
]

const players = 24

const paths: { readonly [message in Message]: string } = {
  bet: "bet",
  win: "win",
  "rollback-bet": "rollback",
  "rollback-win": "rollback",
  close: "round/close"
}

const bodyOf = ({ name, stakes }: Play, { game, ref, token }: Seat, message: Message) => {
  const id = `${name}-${message}`
  const round = { game_id: game.externalId, round_id: name }
  switch (message) {
    case "bet":
      return { request_id: id, transaction_id: id, session_token: token, ...round, amount: stakes.bet, currency: "EUR" }
    case "win":
      return {
        request_id: id,
        transaction_id: id,
        player_ref: ref,
        ...round,
        bet_transaction_id: `${name}-bet`,
        amount: stakes.win,
        currency: "EUR",
        round_closed: stakes.winCloses
      }
    case "rollback-bet":
      return { request_id: id, transaction_id: id, player_ref: ref, target_transaction_id: `${name}-bet` }
    case "rollback-win":
      return { request_id: id, transaction_id: id, player_ref: ref, target_transaction_id: `${name}-win` }
    case "close":
      return { request_id: id, player_ref: ref, ...round }
  }
}

/** Applies a message to the model. */
const tellModel = (model: SettlementModel, { name, stakes }: Play, message: Message): ModelAnswer => {
  const round = { roundId: name }
  const id = (of: Message) => `${name}-${of}`
  switch (message) {
    case "bet":
      return model.settle(1, bet(id("bet"), stakes.bet, round))
    case "win":
      return model.settle(1, win(id("win"), id("bet"), stakes.win, { ...round, closesRound: stakes.winCloses }))
    case "rollback-bet":
    case "rollback-win":
      return model.settle(1, rollback(id(message), id(message === "rollback-bet" ? "bet" : "win")))
    case "close":
      return model.close(1, close(name))
  }
}

/** The answer in the model's form, and the ids of its entries. */
const heardOf = Effect.fnUntraced(function*(reply: Reply) {
  if (reply.status !== 200) {
    assert.strictEqual(reply.status, reply.code === "BET_NOT_FOUND" ? 404 : 409, reply.text)
    assert.strictEqual(reply.details["retry"], "never", reply.text)
    return { answer: reply.code ?? "", ids: [] }
  }
  const data = yield* settledOf(reply)
  assert.strictEqual(data.currency, "EUR")
  assert.lengthOf(data.wallet_transaction_ids, data.real_amount === 0 ? 0 : 1)
  return { answer: heard(data), ids: data.wallet_transaction_ids }
})

const Status = Schema.Struct({ transaction_id: Schema.String, status: Schema.String })

layer(layerPublicApi)("a round's messages", (it) => {
  it.effect("get the answers of the contract in every order and with duplicates", () =>
    Effect.gen(function*() {
      const agent = yield* makeAgent()
      const port = yield* portOf
      const { call: operator } = yield* addTenant(agent, port, "acme")
      const studio = yield* addStudio(agent, port, "studio")
      const game = yield* addGame(studio.id, "dice")
      const waiting = all.values()
      let played = 0
      let sent = 0

      /** Plays one sequence to its end. */
      const play = Effect.fnUntraced(function*(play: Play, at: Seat, model: SettlementModel) {
        const entries = new Map<Message, ReadonlyArray<number>>()
        for (const [index, message] of play.sequence.entries()) {
          const expected = answered(tellModel(model, play, message))
          const reply = yield* callWallet(studio.call, paths[message], bodyOf(play, at, message))
          const { answer, ids } = yield* heardOf(reply)
          const where = `${play.name}: ${play.sequence.join(", ")}; message ${index + 1}: ${reply.text}`
          assert.deepStrictEqual(answer, expected, where)
          if (reply.status === 200) {
            assert.deepStrictEqual(ids, entries.get(message) ?? ids, where)
            entries.set(message, ids)
          }
          sent++
        }
        // status of each message, for a share of the rounds; for all of them below
        if (play.sequence.length <= 3) {
          for (const message of messages) {
            if (message === "close") continue
            const id = `${play.name}-${message}`
            const reply = yield* studio.call.get(`/api/v1/provider/wallet/transactions/${id}`)
            const found = yield* dataAs(reply, 200, Status)
            assert.deepStrictEqual(
              found,
              { transaction_id: id, status: model.fate(providerId, id) },
              play.sequence.join(", ")
            )
          }
        }
        played++
        const kinds = { "rollback-bet": "rollback", "rollback-win": "rollback", bet: "bet", win: "win" } as const
        return messages.flatMap((message): ReadonlyArray<string> => {
          if (message === "close") return []
          const fate = model.fate(providerId, `${play.name}-${message}`)
          return fate === "unknown" ? [] : [`${play.name}-${message} ${fate === "tombstone" ? fate : kinds[message]}`]
        })
      })

      const rows = yield* Effect.forEach(
        Array.from({ length: players }, (_, index) => `player${index}`),
        Effect.fnUntraced(function*(username) {
          const balance = 1_000_000
          const at = yield* seat(operator, studio.call, game, { username, balance })
          const model = new SettlementModel([makePlayer({ real: balance, walletSeq: 1 })], noon)
          const rows: Array<string> = []
          for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
            rows.push(...yield* play(next.value, at, model))
          }
          return rows
        }),
        { concurrency: "unbounded" }
      )

      assert.strictEqual(played, 5 + 25 + 125 + 625 + 2 * (5 + 25 + 125))
      assert.isAbove(sent, 3000)
      const sql = yield* SqlClient.SqlClient
      const stored = yield* sql<
        { readonly row: string }
      >`SELECT transaction_id || ' ' || kind AS row FROM provider_transactions`
      assert.deepStrictEqual(stored.map(({ row }) => row).sort(), rows.flat().sort())
      const broken = yield* sql`SELECT a.player_id FROM accounts a WHERE
        (a.real_balance, a.entry_seq) IS DISTINCT FROM
        (SELECT (sum(amount)::bigint, count(*)) FROM ledger_entries e WHERE e.player_id = a.player_id)`
      assert.deepStrictEqual(broken, [])
    }))
})
