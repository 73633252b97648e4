import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { staffCall } from "../kit/Backoffice.ts"
import { layerCasinos, openCasino, staff } from "../kit/Casino.ts"
import { dataOf } from "../kit/PublicApi.ts"
import { cell } from "../../src/http/CsvExport.ts"

// Goal: an export is exactly the whole list, and no spreadsheet executes player input. Method: more rows than a page has, by page and by
// cursor, over HTTP; cells one by one.

layer(layerCasinos, { excludeTestServices: true })("lists as CSV", (it) => {
  it.effect(
    "have every row of every page once, refuse as the list does, and leave a line in the log",
    Effect.fnUntraced(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register({ first_name: "=cmd()", last_name: "a,\"b\"" })
      for (let count = 0; count < 103; count++) dataOf(yield* casino.deposit(id, 100 + count), 201)
      const csv = (path: string) => staffCall("GET", `/backoffice/v1${path}`)
      const payments = yield* csv(`/payments?operator=${casino.slug}&format=csv&per_page=7`)
      assert.strictEqual(payments.status, 200)
      assert.match(payments.headers["content-type"] ?? "", /^text\/csv/)
      const [head = "", ...rows] = payments.text.trimEnd().split("\r\n")
      const columns = head.split(",")
      assert.includeMembers(columns, ["id", "amount", "currency", "created_at"])
      const amounts = rows.map((row) => Number(row.split(",")[columns.indexOf("amount")]))
      assert.deepStrictEqual(
        amounts.toSorted((a, b) => a - b),
        Array.from({ length: 103 }, (_, index) => 100 + index)
      )

      const entries = yield* csv(`/players/${id}/transactions?format=csv`)
      assert.strictEqual(entries.text.trimEnd().split("\r\n").length, 104)
      const players = yield* csv(`/players?operator=${casino.slug}&format=csv`)
      assert.notInclude(players.text, ",=cmd()")
      const refused = yield* csv("/players?operator=nobody&format=csv")
      assert.deepStrictEqual([refused.status, refused.code], [404, "NOT_FOUND"])

      const lines: ReadonlyArray<{ readonly subject: string; readonly after: unknown }> = yield* staff(
        "GET",
        "/audit?per_page=50"
      )
      const exported = lines.filter(({ subject }) => subject === "export:payment.list")
      assert.deepStrictEqual(exported.map(({ after }) => after), [{ filters: ["operator"], lines: 103 }])
    }),
    60_000
  )

  // Excel splits cells at semicolons where the decimal sign is a comma, and a paste splits them at tabs.
  it("disarm formulas behind the separators of other locales", () => {
    assert.deepStrictEqual(
      ["x;=1+1", "x; @a;+b", "a\t=1", "a\n-b", "x|=1", "＝1", "a-b = c; d", "y;\"=1"].map(cell),
      [
        "\"x;'=1+1\"",
        "\"x; '@a;'+b\"",
        "\"a\t'=1\"",
        "\"a\n'-b\"",
        "x|'=1",
        "'＝1",
        "\"a-b = c; d\"",
        "\"y;\"\"=1\""
      ]
    )
  })

  it("quote what has commas, and disarm formulas but no numbers", () => {
    assert.deepStrictEqual(
      ["=1+1", "+a", "-a", "@a", -5, null, true, "a,b", "say \"hi\"", { a: 1 }].map(cell),
      ["'=1+1", "'+a", "'-a", "'@a", "-5", "", "true", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"{\"\"a\"\":1}\""]
    )
  })
})
