import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeAgent } from "../kit/E2eHttp.ts"
import { type Answer, type Message, messages, type Purse, startRound, type Stakes } from "../kit/E2eRoundModel.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addGame, addStudio, addTenant, dataOf, type Seat, seat, settledOf, tell } from "../kit/E2eWorld.ts"
import type { Reply } from "../kit/HttpCalls.ts"

// Goal: a round's messages may come in any order and any number of times; each gets the answer of the contract, and what remains
// is right. Method: every sequence of one to five of the five messages, through HTTP on a fresh round, every answer compared
// with a model written from the contract; what became of each message is asked for at the end. Shorter sequences again for a win
// of nothing and for a win that closes the round.

/** Every sequence of up to this many messages. */
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
  ...plays("a", 5, { bet: 100, win: 250, winCloses: false }),
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

/** The answer as the model speaks, and the ids of its entries. */
const heardOf = Effect.fnUntraced(function*(reply: Reply, expected: Answer) {
  if (reply.status !== 200) {
    assert.strictEqual(reply.details["retry"], "never", reply.text)
    return { answer: { _tag: "Refused", status: reply.status, code: reply.code ?? "" } as const, ids: [] }
  }
  const data = yield* settledOf(reply)
  assert.deepInclude(data, { bonus_amount: 0, bonus_balance: 0, currency: "EUR" })
  const answer = {
    _tag: "Settled",
    status: data.status,
    realAmount: data.real_amount,
    balance: data.balance,
    walletSeq: data.wallet_seq,
    roundState: expected._tag === "Settled" && expected.roundState === undefined ? undefined : data.round_state,
    entries: data.wallet_transaction_ids.length
  } as const
  return { answer, ids: data.wallet_transaction_ids }
})

const Status = Schema.Struct({ transaction_id: Schema.String, status: Schema.String })

layer(layerE2eServer)("a round's messages", (it) => {
  it.effect("get the contract's answers in every order, with duplicates", () =>
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
      const play = Effect.fnUntraced(function*(play: Play, at: Seat, purse: Purse) {
        const round = startRound(purse, play.stakes)
        const entries = new Map<Message, ReadonlyArray<number>>()
        for (const [index, message] of play.sequence.entries()) {
          const expected = round.send(message)
          const reply = yield* tell(studio.call, paths[message], bodyOf(play, at, message))
          const { answer, ids } = yield* heardOf(reply, expected)
          const where = `${play.name}: ${play.sequence.join(", ")}; message ${index + 1}: ${reply.text}`
          assert.deepStrictEqual(answer, expected, where)
          if (answer._tag === "Settled") {
            assert.deepStrictEqual(ids, entries.get(message) ?? ids, where)
            entries.set(message, ids)
          }
          sent++
        }
        // what became of each, asked of a share of the rounds; of all of them below
        if (play.sequence.length <= 3) {
          for (const message of messages) {
            if (message === "close") continue
            const id = `${play.name}-${message}`
            const reply = yield* studio.call.get(`/api/v1/provider/wallet/transactions/${id}`)
            const found = yield* dataOf(reply, 200, Status)
            assert.deepStrictEqual(found, { transaction_id: id, status: round.fate(message) }, play.sequence.join(", "))
          }
        }
        played++
        const kinds = { "rollback-bet": "rollback", "rollback-win": "rollback", bet: "bet", win: "win" } as const
        return messages.flatMap((message): ReadonlyArray<string> => {
          if (message === "close") return []
          const fate = round.fate(message)
          return fate === "unknown" ? [] : [`${play.name}-${message} ${fate === "tombstone" ? fate : kinds[message]}`]
        })
      })

      const rows = yield* Effect.forEach(
        Array.from({ length: players }, (_, index) => `player${index}`),
        Effect.fnUntraced(function*(username) {
          const balance = 1_000_000
          const at = yield* seat(operator, studio.call, game, { username, balance })
          const purse = { balance, walletSeq: 1 }
          const rows: Array<string> = []
          for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
            rows.push(...yield* play(next.value, at, purse))
          }
          return rows
        }),
        { concurrency: "unbounded" }
      )

      assert.strictEqual(played, 5 + 25 + 125 + 625 + 3125 + 2 * (5 + 25 + 125))
      assert.isAbove(sent, 18_000)
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
