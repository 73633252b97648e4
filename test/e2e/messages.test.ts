import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { assertRefused, dataOf, type Fields, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { pass, whileTimePasses } from "../kit/Calendar.ts"
import { messagesOf, openTable } from "../kit/VendorTables.ts"
import { play, vendorCases } from "../kit/Vendors.ts"

// Goal: support finds what became of any message by its id, at its player and in its round, also of one that was refused or sent again, in every protocol, with
// the answer that was given; and sees nothing of another operator. Method: played over HTTP, read through the staff API.

const messagePath = (provider: string, id: string) => `/messages/${provider}/${encodeURIComponent(id)}`

interface Call {
  readonly [field: string]: unknown
}

const resultsOf = (calls: ReadonlyArray<Call>) =>
  calls.map(({ code, kind, result }) => [kind, result, code].map(String).join(" "))

const callsOf = (filter: string) =>
  Effect.map(staff("GET", `/messages?${filter}`), (calls: ReadonlyArray<Call>) => calls)

/** The case of a vendor's protocol. */
const caseOf = (protocol: string) =>
  vendorCases.find(({ name }) => name === protocol) ?? assert.fail(`no case of ${protocol}`)

layer(layerCasinos, { excludeTestServices: true, timeout: "2 minutes" })("provider messages", (it) => {
  it.effect("a bet, its win and its rollback link to each other, with their entries", () =>
    whileTimePasses(Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const show = (id: string) => staff("GET", messagePath(casino.studio.slug, id))
      const name = String(seat.player.username)
      const bet: string = dataOf(yield* seat.bet(100)).transaction_id
      yield* pass(1000)
      assert.include((yield* show(bet)).story, "No win came.")
      const win: string = dataOf(yield* seat.win(bet, 250)).transaction_id
      const shown = yield* show(bet)
      assert.deepInclude(shown.round, { state: "closed", real_stake: 100, wins: 250 })
      assert.deepStrictEqual(shown.entries.map(({ amount, type }: Fields) => [type, amount]), [["casino_bet", -100]])
      assert.include(shown.story, `Player ${name} staked 1.00 EUR in round ${bet}`)
      assert.include(shown.story, "The round paid 2.50 EUR on a stake of 1.00 EUR.")
      const ofWin = yield* show(win)
      assert.deepStrictEqual(ofWin.related.map(({ transaction_id: id }: Fields) => id), [bet])
      assert.include(ofWin.story, `paid ${name} 2.50 EUR`)
      const second: string = dataOf(yield* seat.bet(50)).transaction_id
      yield* pass(1000)
      const rollback: string = dataOf(yield* seat.rollback(second)).transaction_id
      assert.include((yield* show(second)).story, `Rollback ${rollback} took it back at 2026-11-20T12:00:02.000Z.`)
      assert.include((yield* show(rollback)).story, `took bet ${second} of ${name} back`)
      assert.deepStrictEqual((yield* show(rollback)).entries.map(({ amount }: Fields) => amount), [50])
    })))

  it.effect("refused and repeated calls of Pitboss's own protocol are stored with their answers", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      yield* casino.limit(seat.id, { max_daily_bet: 200 })
      const show = (id: string) => staff("GET", messagePath(casino.studio.slug, id))
      const round = fresh("round/")
      const about = { round_id: round }

      const replayed = fresh("replayed-")
      for (let time = 0; time < 3; time++) dataOf(yield* seat.bet(100, { ...about, transaction_id: replayed }))
      const sent = yield* show(replayed)
      assert.deepStrictEqual(resultsOf(sent.calls), ["bet replayed null", "bet replayed null"])
      assert.deepInclude(JSON.parse(sent.calls[0].answer).data, { transaction_id: replayed, status: "replayed" })
      assert.include(sent.story, "It was sent again 2 times")

      const limited = fresh("limited-")
      assertRefused(yield* seat.bet(300, { ...about, transaction_id: limited }), 422, "LIMIT_EXCEEDED")
      const ofLimit = yield* show(limited)
      assert.isNull(ofLimit.message)
      assert.deepInclude(ofLimit.calls[0], {
        status: 422,
        amount: "-3.00",
        currency: "EUR",
        reason: "max_daily_bet",
        round_id: round
      })
      assert.include(ofLimit.story, "A limit of the player's stopped it (max daily bet).")

      const lost = fresh("lost-")
      assertRefused(yield* seat.win("nothing", 500, { ...about, transaction_id: lost }), 404, "BET_NOT_FOUND")
      const ofWin = yield* show(lost)
      assert.deepInclude(ofWin, { message: null, entries: [], round_id: round })
      assert.deepInclude(ofWin.player, { id: seat.id })
      assert.include(ofWin.story, "was refused with BET_NOT_FOUND")
      assert.include(ofWin.story, "has not ended the round: a win that it sends is still paid.")

      const early = fresh("early-")
      const rollback: string = dataOf(yield* seat.rollback(early)).transaction_id
      assert.include((yield* show(early)).story, `back by ${rollback}`)
      assertRefused(yield* seat.bet(100, { transaction_id: early }), 409, "BET_ROLLED_BACK")
      const tombstone = yield* show(early)
      assert.deepInclude(tombstone.message, { kind: "tombstone", real_amount: 0 })
      assert.deepStrictEqual(resultsOf(tombstone.calls), ["bet refused BET_ROLLED_BACK"])
      assert.match(tombstone.story, /before it came: .* It came at .* and was refused with BET_ROLLED_BACK\.$/)
      assert.include((yield* show(rollback)).story, `before ${early}, which is not accepted any more`)

      // in the round, also those that no accepted message names
      const path = `/rounds/${casino.studio.slug}/slots/${encodeURIComponent(round)}`
      assert.sameMembers(
        (yield* staff("GET", path)).calls.map(({ transaction_id: id }: Fields) => id),
        [replayed, replayed, limited, lost]
      )
      // at the player, and by filters
      assert.strictEqual((yield* callsOf(`player=${seat.id}`)).length, 5)
      assert.deepStrictEqual(resultsOf(yield* callsOf(`player=${seat.id}&kind=win`)), ["win refused BET_NOT_FOUND"])
      assert.strictEqual((yield* callsOf(`operator=${casino.slug}&result=replayed`)).length, 2)
      // by its id alone, though it was never accepted
      const [found, ...others] = yield* staff("GET", `/search?q=${lost}`)
      assert.deepInclude(found, { kind: "transaction", href: `/messages/${casino.studio.slug}/${lost}` })
      assert.deepStrictEqual(others, [])
    }))

  for (const protocol of ["hub88", "slotegrator", "spribe"]) {
    it.effect(`calls of the protocol ${protocol} are stored like those of Pitboss's own, without secrets`, () =>
      Effect.gen(function*() {
        const { playerId, session, vendor } = yield* openTable(caseOf(protocol), { opening: 2000 })
        const messages = messagesOf(vendor.dialect, vendor.game.externalId)
        let count = 0
        const send = (message: Parameters<typeof play>[2]) => play(vendor, session, message, `c-${count++}`)
        const bet = messages.bet("b1", "5.00")
        yield* send(bet)
        const second = yield* send(bet)
        const refused = yield* send(messages.bet("b2", "500.00"))
        yield* send(messages.rollback("x3", messages.bet("b3", "1.00")))
        yield* send(messages.bet("b3", "1.00"))

        const calls = yield* callsOf(`player=${playerId}`)
        assert.deepStrictEqual(resultsOf(calls.toReversed()).slice(0, 2), [
          "bet replayed null",
          "bet refused INSUFFICIENT_FUNDS"
        ])
        const [late, ofFunds, again] = calls
        assert.deepInclude(ofFunds, {
          amount: "-500.00",
          currency: "EUR",
          answer: refused.text.slice(0, 500),
          provider: vendor.slug
        })
        assert.strictEqual(again?.["answer"], second.text.slice(0, 500))
        const show = (call: Call | undefined) =>
          staff("GET", messagePath(vendor.slug, String(call?.["transaction_id"])))
        assert.include((yield* show(ofFunds)).story, "The balance did not cover the stake.")
        assert.include((yield* show(again)).story, "It was sent again")
        const tombstone = yield* show(late)
        assert.strictEqual(tombstone.message.kind, "tombstone")
        assert.include(tombstone.story, "before it came: it is not accepted any more")
        const text = JSON.stringify(calls)
        const settings = Object.values(caseOf(protocol).settings).filter((value) => typeof value === "string")
        for (const secret of [session.token, "@example.com", ...settings]) {
          assert.notInclude(text, secret)
        }
      }))
  }

  it.effect("the end of a round that an A8R call tells with its transactions is no message of its own", () =>
    Effect.gen(function*() {
      const { playerId, session, vendor } = yield* openTable(caseOf("a8r"), { opening: 2000 })
      const messages = messagesOf(vendor.dialect, vendor.game.externalId)
      const bet = messages.bet("b1", "5.00")
      yield* play(vendor, session, bet, "c1")
      yield* play(vendor, session, messages.win("w1", bet), "c2")
      assert.deepStrictEqual(yield* callsOf(`player=${playerId}`), [])
      yield* play(vendor, session, messages.win("w1", bet), "c3")
      yield* play(vendor, session, messages.win("b1", bet), "c4")
      assert.sameMembers(resultsOf(yield* callsOf(`player=${playerId}`)), [
        "win replayed null",
        "win refused DUPLICATE_TRANSACTION"
      ])
    }))

  it.effect("a message that was never received is answered 404 with advice on what to do next", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const path = `/backoffice/v1${messagePath(casino.studio.slug, "never")}`
      const answer = yield* staffCall("GET", path)
      assertRefused(answer, 404, "NOT_FOUND")
      assert.match(answer.text, /There is no message never of .* ask Studio of .* to send it again/)
      assert.include(answer.text, `provider reconcile ${casino.studio.slug}`)
    }))

  it.effect("messages of another operator or an unknown player are hidden from staff bound to operators", () =>
    Effect.gen(function*() {
      const [mine, other] = [yield* openCasino(), yield* openCasino()]
      const { token } = yield* made("/staff", { name: fresh("Bound"), role: "support", operators: [mine.slug] })
      const ask = (path: string) =>
        staffCall("GET", `/backoffice/v1${path}`, undefined, { authorization: `Bearer ${token}` })
      const seat = yield* other.sit(100)
      const round = fresh("secret-")
      const bet: string = dataOf(yield* seat.bet(50, { round_id: round })).transaction_id
      const refused = fresh("refused-")
      assertRefused(yield* seat.bet(5000, { transaction_id: refused, round_id: round }), 402, "INSUFFICIENT_FUNDS")
      const unknown = fresh("unknown-")
      assertRefused(
        yield* other.playOf("no-token", "pr_none").bet(10, { transaction_id: unknown }),
        401,
        "INVALID_SESSION"
      )
      for (const id of [bet, refused, unknown]) {
        assert.strictEqual(
          (yield* staffCall("GET", `/backoffice/v1${messagePath(other.studio.slug, id)}`)).status,
          200,
          id
        )
        assertRefused(yield* ask(messagePath(other.studio.slug, id)), 404, "NOT_FOUND")
        assert.deepStrictEqual((yield* ask(`/search?q=${id}`)).data, [])
      }
      const path = `/rounds/${other.studio.slug}/slots/${round}`
      assert.strictEqual((yield* ask(path)).status, 404)
      for (const filter of [`provider=${other.studio.slug}`, `transaction=${refused}`, `round=${round}`]) {
        assert.deepStrictEqual((yield* ask(`/messages?${filter}`)).data, [], filter)
        assert.isNotEmpty(yield* callsOf(filter))
      }
      assert.deepInclude((yield* callsOf(`transaction=${unknown}`))[0], { operator_id: null, player_id: null })
    }))
})
