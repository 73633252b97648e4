import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { type Fields, fresh, openCasino, staff } from "../kit/Casino.ts"

// Goal: support finds a player by whatever the caller says. Method: one player with accents, an apostrophe and two names among others who share
// single words; texts as one types them, through the list and the search.

layer(layerCasinos, { excludeTestServices: true })("players searched by several words", (it) => {
  it.effect("are found by the beginning of every word in any field, without accents, in the list and the search alike", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const name = fresh("zoe")
      const { id } = yield* casino.register({
        first_name: "Zoé Łucja",
        last_name: "O'Brien-Sørensen",
        username: name,
        email: `${name}.mail@example.com`,
        phone: "+46701234567",
        external_id: `CRM-${name}`
      })
      const others = [
        yield* casino.register({ first_name: "Zoé", last_name: "Berg" }),
        yield* casino.register({ first_name: "Anna", last_name: "Sørensen" })
      ]
      const found = (text: string) =>
        Effect.map(
          staff("GET", `/players?operator=${casino.slug}&starting_with=${encodeURIComponent(text)}`),
          (players) => players.map((player: Fields) => player["id"])
        )
      for (
        const text of [
          "zoe obrien",
          "ZOÉ O'B",
          "brien zo",
          "sorensen lucja",
          "Łuc sør",
          "o'brien-sorensen",
          name,
          `${name}.mail@ex`,
          `crm-${name}`,
          "+46 70 123 45 67",
          "0046 70-1234567",
          "46701234",
          String(id)
        ]
      ) {
        assert.deepStrictEqual(yield* found(text), [id], text)
      }
      assert.sameMembers(yield* found("zoé"), [id, others[0]?.id])
      assert.sameMembers(yield* found("sorensen"), [id, others[1]?.id])
      for (const text of ["zoe anna", "rien", "'", "  ", "\\", "a & b", "zoe:*"]) {
        assert.deepStrictEqual(yield* found(text), [], text)
      }
      const [first] = yield* staff("GET", `/search?q=${encodeURIComponent("zoe obrien")}`)
      assert.deepInclude(first, { kind: "player", id: String(id) })
    }))

  it.effect("are no longer found by a name that was changed", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register({ last_name: "Before" })
      yield* casino.patch(`/players/${id}`, { last_name: "After" })
      const found = (text: string) => staff("GET", `/players?operator=${casino.slug}&starting_with=${text}`)
      assert.deepStrictEqual([(yield* found("before")).length, (yield* found("after")).length], [0, 1])
    }))
})
