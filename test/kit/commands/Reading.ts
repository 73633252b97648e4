/** Cases of commands that read across players: `round search`, `round message`, `round calls`, `round show`, `ledger entries`, `search find`, `player timeline`, `player sessions`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { dataOf, openCasino } from "../Casino.ts"
import { type CommandCase, done, nobody } from "./Scene.ts"

/** A player of a separate casino, with 100 of 1000 staked. */
const played = Effect.gen(function*() {
  const casino = yield* openCasino()
  const seat = yield* casino.sit(1000)
  const { transaction_id: bet } = dataOf(yield* seat.bet(100))
  return { casino, seat, player: seat.id, username: String(seat.player.username), bet: String(bet) }
})

export const readingCases: ReadonlyArray<CommandCase> = [
  {
    line: "round search",
    misused: ["round search --player ada", "round search --state asleep", "round search --limit many"],
    refused: [
      ["round search --operator nobody", "NOT_FOUND"],
      ["round search --provider nobody", "NOT_FOUND"],
      ["round search --game nothing", "NOT_FOUND"],
      ["round search --cursor here", "VALIDATION_FAILED"]
    ],
    *works() {
      const { bet, casino, player } = yield* played
      const by = [
        `--player ${player}`,
        `--provider ${casino.studio.slug} --transaction ${bet} --operator ${casino.slug}`,
        `--transaction ${bet}`,
        `--game ${casino.slots.id} --player ${player}`
      ]
      for (const flags of by) {
        const [line, ...others] = yield* done(`round search ${flags}`)
        assert.deepInclude(line, { player_id: player, round_id: bet, state: "open", real_stake: 100 })
        assert.deepStrictEqual(others, [])
      }
    }
  },
  {
    line: "round message $studio $round",
    misused: ["round message $studio $round --player ada", "round message $studio $round --by name"],
    refused: [
      [`round message $studio ${nobody}`, "NOT_FOUND"],
      ["round message nobody $round", "NOT_FOUND"],
      [`round message $studio $round --player ${nobody}`, "NOT_FOUND"],
      [`round message $studio ${nobody} --by entry`, "NOT_FOUND"]
    ],
    *works() {
      const { bet, casino, player } = yield* played
      const shown = yield* done(`round message ${casino.studio.slug} ${bet}`)
      assert.deepInclude(shown.message, { player_id: player, transaction_id: bet, kind: "bet", amount: 100 })
      assert.include(shown.story, "staked 1.00 EUR")
      const [entry] = shown.entries
      assert.deepInclude(entry, { player_id: player, type: "casino_bet", amount: -100 })
      assert.deepStrictEqual(
        yield* done(`round message ${casino.studio.slug} ${entry.id} --by entry --player ${player}`),
        shown
      )
    }
  },
  {
    line: "round calls",
    misused: ["round calls --player ada", "round calls --result odd", "round calls --kind odd"],
    refused: [
      ["round calls --operator nobody", "NOT_FOUND"],
      ["round calls --provider nobody", "NOT_FOUND"],
      ["round calls --cursor here", "VALIDATION_FAILED"]
    ],
    *works() {
      const { casino, player, seat } = yield* played
      yield* seat.bet(5000)
      const filters = [
        `--player ${player}`,
        `--player ${player} --provider ${casino.studio.slug} --operator ${casino.slug}`,
        `--player ${player} --kind bet --result refused`
      ]
      for (const flags of filters) {
        const [line, ...others] = yield* done(`round calls ${flags}`)
        assert.deepInclude(line, { player_id: player, result: "refused", code: "INSUFFICIENT_FUNDS", amount: "-50.00" })
        assert.deepStrictEqual(others, [])
      }
    }
  },
  {
    line: "round show $studio $slots $round",
    misused: ["round show $studio $slots $round --player ada"],
    refused: [
      [`round show $studio $slots ${nobody}`, "NOT_FOUND"],
      ["round show nobody $slots $round", "NOT_FOUND"],
      [`round show $studio $slots $round --player ${nobody}`, "NOT_FOUND"]
    ],
    *works() {
      const { bet, casino, player } = yield* played
      const shown = yield* done(`round show ${casino.studio.slug} slots ${bet}`)
      assert.deepInclude(shown.messages[0], { player_id: player, transaction_id: bet, kind: "bet", amount: 100 })
      assert.deepInclude(shown.entries[0], { player_id: player, type: "casino_bet", amount: -100 })
    }
  },
  {
    line: "round close $studio $slots $round --reason $fresh",
    misused: ["round close $studio $slots $round"],
    refused: [
      [`round close $studio $slots ${nobody} --reason lost`, "NOT_FOUND"],
      ["round close nobody $slots $round --reason lost", "NOT_FOUND"],
      [`round close $studio $slots $round --player ${nobody} --reason lost`, "NOT_FOUND"],
      ["round close $studio $slots $round --reason $long$long", "VALIDATION_FAILED"]
    ],
    *works() {
      const { bet, casino } = yield* played
      const close = `round close ${casino.studio.slug} slots ${bet} --reason "no result came"`
      assert.strictEqual((yield* done(close)).players[0].state, "closed")
      assert.strictEqual((yield* done(close)).players[0].state, "closed")
      const [line, ...others] = yield* done(
        `audit list --player ${(yield* done(close)).players[0].player_id} --action round.close`
      )
      assert.deepInclude(line, { action: "round.close", reason: "no result came" })
      assert.deepStrictEqual(others, [])
    },
    changes: () =>
      Effect.map(played, ({ bet, casino }) => ({
        line: `round close ${casino.studio.slug} slots ${bet} --reason gone`,
        differs: ["state"]
      }))
  },
  {
    line: "ledger entries",
    misused: ["ledger entries --player ada", "ledger entries --wallet purse", "ledger entries --min-amount much"],
    refused: [
      ["ledger entries --operator nobody", "NOT_FOUND"],
      ["ledger entries --provider nobody", "NOT_FOUND"],
      ["ledger entries --limit 101", "VALIDATION_FAILED"]
    ],
    *works() {
      const { casino, player } = yield* played
      const types = (flags: string) =>
        Effect.map(
          done(`ledger entries ${flags}`),
          (entries: ReadonlyArray<{ readonly type: string }>) => entries.map(({ type }) => type)
        )
      assert.deepStrictEqual(yield* types(`--operator ${casino.slug}`), ["casino_bet", "deposit"])
      assert.deepStrictEqual(yield* types(`--player ${player} --min-amount 101`), ["deposit"])
    }
  },
  {
    line: "search find $player",
    misused: ["search find $player $player"],
    refused: [["search find $long$long", "VALIDATION_FAILED"]],
    *works() {
      const { player, username } = yield* played
      const [found] = yield* done(`search find ${username}`)
      assert.deepInclude(found, { kind: "player", label: username, href: `/players/${player}` })
    }
  },
  {
    line: "player timeline $player",
    misused: ["player timeline ada", "player timeline $player --kind dreams"],
    refused: [[`player timeline ${nobody}`, "NOT_FOUND"], ["player timeline $player --limit 0", "VALIDATION_FAILED"]],
    *works() {
      const { casino, player } = yield* played
      const entries = yield* done(`player timeline ${player} --kind entry`)
      assert.deepStrictEqual(entries.map(({ amount }: { readonly amount: number }) => amount), [-100, 1000])
      const [line] = yield* done(`player timeline ${player} --kind play`)
      assert.deepInclude(line, { kind: "play", title: casino.slots.name, detail: "1 round", amount: -100 })
      assert.deepInclude(line.play, { game_id: casino.slots.id, rounds: 1, staked: 100, won: 0 })
    }
  },
  {
    line: "player sessions $player",
    misused: ["player sessions ada"],
    refused: [[`player sessions ${nobody}`, "NOT_FOUND"], [
      "player sessions $player --cursor here",
      "VALIDATION_FAILED"
    ]],
    *works() {
      const { casino, player } = yield* played
      const sessions = yield* done(`player sessions ${player}`)
      assert.deepStrictEqual(sessions.map(({ game_id }: { readonly game_id: number }) => game_id), [casino.slots.id])
    }
  }
]
