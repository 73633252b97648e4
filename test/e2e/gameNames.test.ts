import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dataOf, fresh, made, openCasino, staffCall } from "../kit/Casino.ts"

// Goal: lists by name go by letters (SPEC 4.5), by page and by cursor, and an index serves the order. Method: names that bytes and letters order
// differently, two of them the same.

const namesOf = (rows: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => rows.map(({ name }) => name)

layer(layerCasinos, { excludeTestServices: true })("games by name", (it) => {
  it.effect(
    "are sorted alphabetically for operators and staff, with every game once",
    Effect.fnUntraced(function*() {
      const casino = yield* openCasino()
      const slug = fresh("letters-")
      yield* made("/providers", { slug, name: `élan ${slug}`, launch_url: "https://play.example/?t={token}" })
      const names = ["alpha", "Beta", "Beta", "Éclair", "öl", "Zed"]
      for (const [index, name] of names.toReversed().entries()) {
        yield* made("/games", { provider: slug, external_id: `g${index}`, name })
      }
      const pages = yield* Effect.forEach(
        [1, 2, 3],
        (page) => casino.get(`/games?provider=${slug}&per_page=2&page=${page}`)
      )
      assert.deepStrictEqual(pages.flatMap((page) => namesOf(dataOf(page))), names)
      const walked: Array<{ readonly id: number; readonly name: string }> = []
      for (let cursor: string | null = ""; cursor !== null;) {
        const part: { readonly data: typeof walked; readonly meta: { readonly next_cursor: string | null } } =
          yield* staffCall("GET", `/backoffice/v1/games?provider=${slug}&per_page=1&cursor=${cursor}`)
        walked.push(...part.data)
        cursor = part.meta.next_cursor
      }
      assert.deepStrictEqual(namesOf(walked), names)
      assert.strictEqual(new Set(walked.map(({ id }) => id)).size, names.length)
      assert.deepStrictEqual(
        namesOf(dataOf(yield* casino.get(`/games?provider=${slug}&search=${encodeURIComponent("éC")}`))),
        [
          "Éclair"
        ]
      )
      const providers = namesOf(dataOf(yield* casino.get("/games/providers")))
      assert.isBelow(
        providers.findIndex((name) => name.includes(slug)),
        providers.findIndex((name) => name.startsWith("Studio"))
      )
    })
  )

  it.effect("are read in the order of an index, without sorting", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql`EXPLAIN SELECT id FROM games g
        WHERE (g.name, g.id) > ('m'::text, 5::float8::bigint) ORDER BY g.name, g.id LIMIT 25`.pipe(
        Effect.map((rows) => JSON.stringify(rows))
      )
      assert.include(plan, "games_name")
      assert.notInclude(plan, "Sort")
    }))
})
