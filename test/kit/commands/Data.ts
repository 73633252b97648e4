/** Cases of `data`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { casinoUnder, dataOf, openCasino, staff } from "../Casino.ts"
import { type CommandCase, done, nobody, refusal } from "./Scene.ts"

/** A player whose account is closed, of a casino of its own. */
const gone = Effect.fnUntraced(function*(retention?: object) {
  const casino = yield* retention === undefined ? openCasino() : casinoUnder({ retention })
  const { id: player } = yield* casino.register({ city: "Valletta" })
  yield* staff("POST", `/players/${player}/status`, { status: "closed", reason: "asked" })
  return { casino, player: Number(player) }
})

export const dataCases: ReadonlyArray<CommandCase> = [
  {
    line: "data retention",
    misused: ["data retention --player 1"],
    refused: [["data retention --operator nobody", "NOT_FOUND"]],
    *works() {
      const { casino } = yield* gone({ marketing: "P0D", payments: "P5Y" })
      const { classes, ...shown } = yield* done(`data retention --operator ${casino.slug}`)
      assert.deepStrictEqual(shown, { examined: 1, is_complete: true })
      const of = (name: string) => classes.find((one: { readonly class: string }) => one.class === name)
      assert.deepInclude(of("marketing"), { due: 1, kept: 0, next_at: null })
      assert.deepInclude(of("payments"), { due: 0, kept: 1 })
      assert.isNotNull(of("payments").next_at)
      assert.include(of("identity").columns, "players.email")
    }
  },
  {
    line: "data erase $closed_player",
    misused: ["data erase ada"],
    refused: [[`data erase ${nobody}`, "NOT_FOUND"], ["data erase $player", "INVALID_REQUEST"]],
    *works() {
      const { casino, player } = yield* gone({ payments: "P5Y" })
      const dry = yield* done(`data erase ${player} --dry-run`)
      assert.deepInclude(dry, { player_id: player, operator_id: casino.id, dry_run: true })
      assert.deepStrictEqual(dry.kept.map((one: { readonly class: string }) => one.class), ["payments"])
      assert.strictEqual(dataOf(yield* casino.get(`/players/${player}`)).city, "Valletta")
      assert.deepStrictEqual(yield* done(`data erase ${player}`), { ...dry, dry_run: false })
      assert.isNull(dataOf(yield* casino.get(`/players/${player}`)).city)
      yield* staff("POST", `/players/${player}/status`, { status: "active", reason: "back" })
      const { code, message } = yield* refusal(`data erase ${player}`)
      assert.deepStrictEqual([code, message], ["INVALID_REQUEST", "The data cannot be erased yet: account open."])
    },
    changes: () => Effect.map(gone(), ({ player }) => ({ line: `data erase ${player}`, differs: [] }))
  },
  {
    line: "data requests",
    misused: ["data requests --type gossip", "data requests --status shut", "data requests --player ada"],
    refused: [["data requests --operator nobody", "NOT_FOUND"], ["data requests --cursor !", "VALIDATION_FAILED"]],
    *works() {
      const { casino, player } = yield* gone()
      const ask = (type: string) =>
        Effect.map(casino.post(`/players/${player}/data-requests`, { type }), (reply) => dataOf(reply, 201))
      const [access, erasure] = [yield* ask("access"), yield* ask("erasure")]
      const rows = yield* done(`data requests --operator ${casino.slug}`)
      assert.sameMembers(rows.map(({ id }: typeof access) => id), [access.id, erasure.id])
      const [shown] = yield* done(`data requests --player ${player} --status open --type access`)
      assert.deepInclude(shown, { ...access, operator_id: casino.id })
      assert.match(shown.created_by, /^key:/)
    }
  }
]
