import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { pagedOrWalked } from "../../src/http/Page.ts"

// Goal: following the links of a list returns all of it, beyond the last numbered page. Method: a list of numbers, with two numbered pages.

const rows = Array.from({ length: 11 }, (_, index) => index + 1)
const furthest = 2

/** A list's answer at an address, as a handler would give it. */
const get = (url: string) => {
  const query = new URLSearchParams(url.split("?")[1])
  const [cursor, page] = [query.get("cursor"), Number(query.get("page") ?? "1")]
  return pagedOrWalked(
    { page, per_page: 3, ...(cursor === null ? {} : { cursor }) },
    {
      page: ({ page, perPage }) =>
        Effect.succeed({ items: rows.slice((page - 1) * perPage, page * perPage), total: rows.length }),
      part: ({ cursor = "", limit }) => {
        const items = rows.slice(Number(cursor), Number(cursor) + limit)
        const last = items.at(-1) ?? rows.length
        return Effect.succeed({ items, next: last < rows.length ? String(last) : null })
      },
      cursorAt: String,
      toItem: (row) => row
    },
    furthest
  ).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request(`http://localhost${url}`))
    )
  )
}

it.effect("following next links reaches the end of a list, by cursor after the last numbered page", () =>
  Effect.gen(function*() {
    const seen: Array<number> = []
    const followed: Array<string> = []
    for (let url: string | null = "/list?sort=id"; url !== null;) {
      followed.push(url)
      const { data, links }: {
        readonly data: ReadonlyArray<number>
        readonly links: { readonly next: string | null }
      } = yield* get(url)
      seen.push(...data)
      url = links.next
    }
    assert.deepStrictEqual(seen, rows)
    assert.deepStrictEqual(followed, [
      "/list?sort=id",
      "/list?sort=id&page=2",
      "/list?sort=id&page=2&cursor=6",
      "/list?sort=id&page=2&cursor=9"
    ])
  }))

it.effect("links keep the other parameters, also behind a question mark in a value", () =>
  Effect.gen(function*() {
    const { links } = yield* get("/list?search=L?x&status=active")
    assert.strictEqual(links.next, "/list?search=L%3Fx&status=active&page=2")
  }))

it.effect("a page after the maximum page number is never linked, and answered only with a cursor", () =>
  Effect.gen(function*() {
    assert.propertyVal((yield* get("/list")).links, "last", "/list?page=2")
    const refused = yield* Effect.flip(get("/list?page=3"))
    assert.deepStrictEqual([refused.code, refused.details], ["VALIDATION_FAILED", {
      page: ["must be between 1 and 2"]
    }])
    assert.deepStrictEqual((yield* get("/list?page=3&cursor=9")).data, [10, 11])
  }))
