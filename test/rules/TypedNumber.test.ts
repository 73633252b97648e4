import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { numberTexts, readNumber } from "../../src/domain/TypedNumber.ts"

// Goal: an amount that is typed is what a person of that language means, or is refused, and never another amount. Method: the ways to write one
// number in one language, read in the others; every number, written by the language itself and read back.

const read = (text: string, locale: string, decimals = 2): number | string => {
  const result = readNumber(text, locale, decimals)
  return "units" in result ? result.units : result.problem
}

describe("readNumber", () => {
  it("accepts the language's separators, and refuses misplaced ones", () => {
    const rows: ReadonlyArray<readonly [text: string, locale: string, expected: number | string]> = [
      ["1,000", "en-GB", 100_000],
      ["1,234.50", "en-GB", 123_450],
      ["1,234.5", "en-GB", 123_450],
      ["1234.50", "en-GB", 123_450],
      ["1.234,50", "en-GB", "malformed"],
      ["1,23", "en-GB", "malformed"],
      ["12,34,567", "en-GB", "malformed"],
      ["12,34,567", "en-IN", 123_456_700],
      ["1.234,50", "de-DE", 123_450],
      ["1.234", "de-DE", 123_400],
      ["1234,5", "de-DE", 123_450],
      ["1,234.50", "de-DE", "malformed"],
      ["1234.50", "de-DE", "malformed"],
      ["1 234,50", "fr-FR", 123_450],
      ["1\u202f234,50", "fr-FR", 123_450],
      ["1'234.50", "de-CH", 123_450],
      ["1’234.50", "de-CH", 123_450],
      ["1.234,50", "es-ES", 123_450],
      ["-0,01", "de-DE", -1],
      ["−5", "en-GB", -500],
      ["+5", "en-GB", 500],
      ["-0", "en-GB", 0]
    ]
    for (const [text, locale, expected] of rows) {
      assert.strictEqual(read(text, locale), expected, `${text} in ${locale}`)
    }
  })

  it("refuses more decimals than allowed, and numbers that cannot be represented exactly", () => {
    assert.strictEqual(read("10.5", "en-GB", 0), "too_many_decimals")
    assert.strictEqual(read("10.0", "ja-JP", 0), "too_many_decimals")
    assert.strictEqual(read("1.234", "en-GB"), "too_many_decimals")
    assert.strictEqual(read("1.234", "en-GB", 3), 1234)
    assert.strictEqual(read("10.50", "ja-JP", 0), "too_many_decimals")
    assert.strictEqual(read("90071992547409.91", "en-GB"), Number.MAX_SAFE_INTEGER)
    assert.strictEqual(read("90071992547409.92", "en-GB"), "too_large")
  })

  it("refuses text that is not a number", () => {
    for (
      const text of [
        "",
        " ",
        "-",
        ".",
        "1.",
        ".5",
        "1e3",
        "0x10",
        "--1",
        "1-",
        "ten",
        "1,",
        ",1",
        "1..2",
        "NaN",
        "∞",
        "١٢"
      ]
    ) {
      assert.strictEqual(read(text, "en-GB"), "malformed", text)
    }
  })

  it.prop(
    "reads numbers as the language formats them, with and without digit grouping",
    {
      units: Schema.Int.check(Schema.isBetween({ minimum: -1e13, maximum: 1e13 })),
      locale: Schema.Literals([
        "en-GB",
        "en-IN",
        "de-DE",
        "de-CH",
        "fr-FR",
        "es-ES",
        "pt-PT",
        "pl-PL",
        "sv-SE",
        "ja-JP",
        "ar-EG"
      ]),
      decimals: Schema.Literals([0, 2, 3])
    },
    ({ decimals, locale, units }) => {
      const grouped = new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, numberingSystem: "latn" })
        .format(units / 10 ** decimals)
      assert.strictEqual(read(numberTexts(locale, decimals)(units), locale, decimals), units)
      assert.strictEqual(read(grouped, locale, decimals), units)
    }
  )
})
