import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "fast-check"
import { danishNumber, isDutchNumber, swedishNumber } from "../../src/domain/register/PersonalNumbers.ts"

// Goal: nobody is asked about under a number that cannot exist, since some registers answer "not excluded" to it, and nobody is refused for a number that
// can. Method: numbers with known answers, and each single wrong digit of one.

describe("Swedish personal numbers", () => {
  it("consist of birth date, serial number and check digit, with or without a hyphen", () => {
    for (const text of ["182701303378", "18270130-3378"]) {
      assert.deepStrictEqual(swedishNumber(text), { digits: "182701303378", birthDate: "1827-01-30" })
    }
    // the same digits, of another century
    assert.strictEqual(swedishNumber("192701303378")?.birthDate, "1927-01-30")
  })

  it("have the day increased by 60 if they are coordination numbers", () => {
    assert.deepStrictEqual(swedishNumber("198001619876"), { digits: "198001619876", birthDate: "1980-01-01" })
  })

  it("are invalid with a wrong digit, as the register would answer clear to such a number", () => {
    const digits = "198001019879"
    assert.isDefined(swedishNumber(digits))
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(9), FastCheck.integer({ min: 1, max: 9 }), (place, more) => {
        const index = place + 2
        const other = (Number(digits[index]) + more) % 10
        assert.isUndefined(swedishNumber(`${digits.slice(0, index)}${other}${digits.slice(index + 1)}`))
      })
    )
  })

  it("are invalid if they contain an impossible date (30 February) or have another format", () => {
    const none = [
      // right check digits
      "201002301230",
      "198013019875",
      "198001009870",
      "8001019879",
      "19800101 9879",
      "19800101+9879",
      " 198001019879",
      "198001019879\n",
      "１98001019879",
      ""
    ]
    for (const text of none) assert.isUndefined(swedishNumber(text), JSON.stringify(text))
  })
})

describe("Danish personal numbers", () => {
  it("have their century in the seventh digit", () => {
    const dates = [
      ["0101800123", "1980-01-01"],
      ["010180-3123", "1980-01-01"],
      ["0101364123", "2036-01-01"],
      ["0101374123", "1937-01-01"],
      ["0101575123", "2057-01-01"],
      ["0101588123", "1858-01-01"],
      ["0101369123", "2036-01-01"],
      ["0101379123", "1937-01-01"]
    ] as const
    for (const [text, birthDate] of dates) {
      assert.deepStrictEqual(danishNumber(text), { digits: text.replace("-", ""), birthDate }, text)
    }
  })

  it("need not pass the modulus 11 check, which numbers issued since 2007 may fail", () => {
    for (const end of ["1", "2", "3", "4"]) assert.isDefined(danishNumber(`010180-012${end}`))
  })

  it("are invalid if they contain an impossible date (30 February) or have another format", () => {
    for (const text of ["3002800123", "0113800123", "0001800123", "19800101-0123", "010180 0123", "01018001234", ""]) {
      assert.isUndefined(danishNumber(text), text)
    }
  })
})

describe("Dutch citizen service numbers", () => {
  it("pass the check-digit test modulo 11 (elfproef)", () => {
    for (const text of ["123456782", "111222333"]) assert.isTrue(isDutchNumber(text), text)
  })

  it("are invalid with a wrong digit, as zeros only, or in another format", () => {
    for (let index = 0; index < 9; index++) {
      const digits = "123456782"
      const other = (Number(digits[index]) + 1) % 10
      assert.isFalse(isDutchNumber(`${digits.slice(0, index)}${other}${digits.slice(index + 1)}`), String(index))
    }
    for (const text of ["000000000", "12345678", "1234567820", "1234.56.782", ""]) {
      assert.isFalse(isDutchNumber(text), text)
    }
  })
})
