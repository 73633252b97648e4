import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerCasinos } from "../kit/Backoffice.ts"
import { bootstrapToken, dataOf, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { cell, languageOf, machineForm, spreadsheetForm } from "../../src/http/CsvForms.ts"

// Goal: an export is exactly the whole list, and no spreadsheet executes player input. Method: more rows than a page has, by page and by
// cursor, over HTTP; cells one by one.

layer(layerCasinos, { excludeTestServices: true })("lists as CSV", (it) => {
  it.effect(
    "contain every row of every page once, refuse the parameters that the list refuses, and leave a line in the audit log",
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

  it.effect(
    "have a spreadsheet form with a byte order mark, the language's separators, amounts in major units and phone numbers as text",
    Effect.fnUntraced(function*() {
      const casino = yield* openCasino()
      const { id } = yield* casino.register({ last_name: "Müller", phone: "+491511234567" })
      dataOf(yield* casino.deposit(id, 123_450), 201)
      const exportOf = (path: string, language: string) =>
        Effect.map(
          staffCall("GET", `/backoffice/v1${path}`, undefined, {
            "accept-language": language,
            authorization: `Bearer ${bootstrapToken}`
          }),
          ({ text }) => text
        )
      const players = yield* exportOf(`/players?operator=${casino.slug}&format=spreadsheet`, "de-DE,de;q=0.9")
      assert.match(players, /^\ufeffoperator_id;id;/)
      assert.include(players, ";Müller;")
      assert.include(players, ";\"=\"\"+491511234567\"\"\";")
      const machines = yield* exportOf(`/players?operator=${casino.slug}&format=csv`, "de-DE")
      assert.match(machines, /^operator_id,id,/)
      assert.include(machines, ",+491511234567,")
      const path = `/payments?operator=${casino.slug}&format=spreadsheet`
      assert.match(yield* exportOf(path, "de"), /;1234,50;.*;\d{4}-\d\d-\d\d \d\d:\d\d:\d\d;/)
      assert.match(yield* exportOf(path, "en-GB"), /,1234\.50,.*,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,/)
    })
  )

  it("in the spreadsheet form, keep texts that look like numbers or dates, and neutralise formulas", () => {
    const form = spreadsheetForm("en")
    const other = (value: unknown) => form.line([{ name: "value", kind: "text" }], { value }).trimEnd()
    assert.deepStrictEqual(
      ["00123", "1e5", "12-11", "3.4", "1/2", "E1", "abc", "=1+1", "+a", "a,b", 12, null].map(other),
      ["00123", "1e5", "12-11", "3.4", "1/2"].map((text) => `"=""${text}"""`)
        .concat(["E1", "abc", "'=1+1", "'+a", "\"a,b\"", "12", ""])
    )
    const amount = (value: number, currency: string) =>
      spreadsheetForm("de").line([{ name: "amount", kind: "amount" }], { amount: value, currency }).trimEnd()
    assert.deepStrictEqual([amount(-5, "EUR"), amount(500, "JPY"), amount(1, "KWD")], ["-0,05", "500", "0,001"])
    assert.strictEqual(
      machineForm.line([{ name: "amount", kind: "amount" }], { amount: -5, currency: "EUR" }),
      "-5\r\n"
    )
  })

  it("are in the browser's first supported language, or in English when it asks for none of them", () => {
    assert.deepStrictEqual(
      ["de-DE,en;q=0.8", "pt-BR", "zh-Hans-CN", "es-419;q=1", "*", "", undefined, "x-y", "en-u", "../.."].map(
        languageOf
      ),
      ["de-DE", "pt-BR", "zh-Hans-CN", "es-419", "en", "en", "en", "en", "en", "en"]
    )
  })

  it.effect("have the filters of their list, also of a value with a question mark", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      yield* casino.register({ last_name: "Byron" })
      const asked = `search=Byron?&username=nobody&operator=${casino.slug}`
      const { text } = yield* staffCall("GET", `/backoffice/v1/players?${asked}&format=csv`)
      assert.lengthOf(text.trimEnd().split("\r\n"), 1, text)
    }))

  // of a million characters: what takes the square of the length does not end
  it("of long texts take a time in proportion to their length", () => {
    const long = 1_000_000
    assert.lengthOf(cell(`x${" ".repeat(long)}y`), long + 2)
    assert.lengthOf(cell("\t".repeat(long)), long + 3)
    const columns = [{ name: "value", kind: "text" }] as const
    assert.include(spreadsheetForm("en").line(columns, { value: `${"1".repeat(long)}x` }), "1x")
  })

  // Excel splits cells at semicolons where the decimal sign is a comma, and a paste splits them at tabs.
  it("neutralise formulas after the separators of other locales", () => {
    assert.deepStrictEqual(
      ["x;=1+1", "x; @a;+b", "a\t=1", "a\n-b", "x|=1", "＝1", "a-b = c; d", "y;\"=1;z"].map(cell),
      [
        "\"x;'=1+1\"",
        "\"x; '@a;'+b\"",
        "\"a\t'=1\"",
        "\"a\n'-b\"",
        "x|'=1",
        "'＝1",
        "\"a-b = c; d\"",
        // a cell that opens with a quote and closes it at once goes on with what follows
        "\"y;\"\"'=1;z\""
      ]
    )
  })

  it("neutralise formulas behind leading blanks and quotes, which some spreadsheets leave out", () => {
    assert.deepStrictEqual(
      [" =1+1", "\u00a0@a", "\"=1", "\" +b", "\n-1", "\r=1", " a=1", " 5", "'=1"].map(cell),
      [
        "' =1+1",
        "'\u00a0@a",
        "\"'\"\"=1\"",
        "\"'\"\" +b\"",
        "\"\n'-1\"",
        "\"'\r'=1\"",
        " a=1",
        " 5",
        "'=1"
      ]
    )
  })

  it("quote values with commas, and neutralise formulas but not numbers", () => {
    assert.deepStrictEqual(
      ["=1+1", "+a", "-a", "@a", -5, null, true, "a,b", "say \"hi\"", { a: 1 }].map(cell),
      ["'=1+1", "'+a", "'-a", "'@a", "-5", "", "true", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"{\"\"a\"\":1}\""]
    )
  })
})
