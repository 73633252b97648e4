import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { comparableNumber, type Identity, isSameByName, similarNamesOf } from "../../src/domain/player/Identity.ts"

// Goal: a person is recognised however the record spells the name, and nobody else is. Method: pairs of records as values.

const person: Identity = {
  firstName: "Zoë",
  middleName: null,
  lastName: "O'Connor-Müller",
  birthDate: "1990-12-31",
  personalId: "AB 12-34.56",
  documentNumber: "C01X00T47"
}

const stranger: Identity = {
  firstName: "Adam",
  middleName: null,
  lastName: "Smith",
  birthDate: "1970-01-01",
  personalId: null,
  documentNumber: null
}

describe("comparableNumber", () => {
  it("is the same however a number is written", () => {
    for (const written of ["ab123456", "AB123456\u3164", "ab 12-34.56"]) {
      assert.strictEqual(comparableNumber(written), comparableNumber(person.personalId))
    }
    assert.notStrictEqual(comparableNumber("AB123457"), comparableNumber(person.personalId))
  })

  it("is null for unknown values", () => {
    for (const nothing of [null, "", " - "]) assert.isNull(comparableNumber(nothing))
  })
})

describe("isSameByName", () => {
  it("needs both the names and the birth date", () => {
    const again = { firstName: "ZOE", lastName: "oconnor muller", birthDate: person.birthDate }
    assert.isTrue(isSameByName(person, { ...stranger, ...again }))
    assert.isFalse(isSameByName(person, { ...stranger, ...again, birthDate: "1990-12-30" }))
    assert.isFalse(isSameByName(person, { ...stranger, birthDate: person.birthDate }))
    assert.isFalse(isSameByName(person, { ...stranger, ...again, firstName: "Zora" }))
  })
})

/** Record of somebody born on one day, without numbers. */
const named = (firstName: string, lastName: string, middleName: string | null = null): Identity => ({
  ...stranger,
  firstName,
  middleName,
  lastName
})

const isSimilar = (one: Identity, other: Identity): boolean =>
  similarNamesOf(one).some((name) => similarNamesOf(other).includes(name))

describe("names of one person", () => {
  it("are the same in ASCII letters", () => {
    for (
      const [one, other] of [
        [named("Łukasz", "Wójcik"), named("Lukasz", "Wojcik")],
        [named("Søren", "Kjærgård"), named("Soren", "Kjaergard")],
        [named("Đorđe", "Đoković"), named("DORDE", "dokovic")],
        [named("Bæk", "Ħondoq"), named("Baek", "Hondoq")],
        [named("Þórdís", "Eiðsdóttir"), named("Thordis", "Eidsdottir")],
        [named("Gauß", "STRAẞER"), named("gauss", "Strasser")],
        [named("Şükrü", "Işık"), named("Sukru", "Isik")],
        [named("Đặng", "Nguyễn"), named("Dang", "Nguyen")],
        [named("Œuvrard", "Ŋgũgĩ"), named("Oeuvrard", "Ngugi")],
        [named("Kaʻiulani", "Cleghorn"), named("Kaiulani", "Cleghorn")]
      ] as const
    ) assert.isTrue(isSameByName(one, other), `${one.firstName} ${one.lastName}`)
  })

  it("are the same in look-alike letters, and with invisible letters", () => {
    for (
      const [one, other] of [
        [named("Łukasz", "Wójcik"), named("Luk\u0430sz", "W\u043Ejcik")],
        [named("Kate", "Cox"), named("\u041A\u0430t\u0435", "\u0421\u043E\u0445")],
        [named("Андрій", "Їжак"), named("Андр\u0069й", "Їжак")],
        [named("Νίκος", "Ρήγας"), named("N\u0399\u039A\u039F\u03A3", "P\u0397ΓΑΣ")],
        [named("Łukasz", "Wójcik"), named("Lukasz\u3164", "Woj\u115Fcik\uFFA0")],
        [named("Lukasz", "Wojcik"), named("ʟᴜᴋᴀꜱᴢ", "ᴡojcik")],
        [named("Aage", "Lund"), named("Ꜳge", "Ꝉund")]
      ] as const
    ) assert.isTrue(isSameByName(one, other), `${one.firstName} ${one.lastName}`)
  })

  it("without letters are the same only where they are written identically", () => {
    assert.isTrue(isSameByName(named("🎰", "🎲"), named("🎰", "🎲")))
    assert.isFalse(isSameByName(named("🎰", "🎲"), named("🎲", "🎯")))
    assert.isFalse(isSameByName(named("---", "..."), named("'", "-")))
  })

  it("are the same in any order and any field", () => {
    assert.isTrue(isSameByName(named("Łukasz", "Wójcik"), named("Wojcik", "Lukasz")))
    assert.isTrue(isSameByName(named("Anna Maria", "López"), named("Anna", "Maria Lopez")))
    assert.isTrue(isSameByName(named("Jan", "Kowalski", "Piotr"), named("Jan Piotr", "Kowalski")))
    assert.isTrue(isSameByName(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr-Jan")))
    assert.isTrue(isSameByName(named("Maria", "De La Cruz"), named("Maria", "DelaCruz")))
  })

  it("differ by any additional or different name", () => {
    assert.isFalse(isSameByName(named("Jan Piotr", "Kowalski"), named("Jan", "Kowalski")))
    assert.isFalse(isSameByName(named("Müller", "Jan"), named("Mueller", "Jan")))
    assert.isFalse(isSameByName(named("Łukasz", "Wójcik"), named("Łukasz", "Wójcicki")))
  })

  it("are the same after any change of case, marks and order", () => {
    const letters = fc.stringMatching(/^[a-zäöøłđæßþħ]{1,12}$/u)
    fc.assert(fc.property(letters, letters, fc.boolean(), (first, last, isSwapped) => {
      const again = isSwapped
        ? named(last.toUpperCase().normalize("NFD"), first)
        : named(` ${first.normalize("NFD")}`, `-${last.toUpperCase()}`)
      assert.isTrue(isSameByName(named(first, last), again))
      assert.isFalse(isSameByName(named(first, last), named(`${first}q`, last)))
    }))
  })
})

describe("similarNamesOf", () => {
  it("shares a name form when some given or family names match, or digraphs replace letters", () => {
    assert.isTrue(isSimilar(named("Jan Piotr", "Kowalski"), named("Piotr", "Kowalski")))
    assert.isTrue(isSimilar(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr")))
    assert.isTrue(isSimilar(named("Carmen", "García López"), named("Carmen", "Lopez")))
    assert.isTrue(isSimilar(named("Jürgen", "Müller"), named("Juergen", "Mueller")))
    assert.isTrue(isSimilar(named("Åse", "Sørensen"), named("Aase", "Soerensen")))
    assert.isTrue(isSimilar(named("Đorđe", "Petrović"), named("Djordje", "Petrovic")))
  })

  it("shares no name form by a particle, or by the given or the family name alone", () => {
    assert.isFalse(isSimilar(named("Maria", "de la Cruz"), named("Maria", "de la Vega")))
    assert.isFalse(isSimilar(named("Jan", "van der Berg"), named("Piet", "van der Berg")))
    assert.isFalse(isSimilar(named("Jan", "Kowalski"), named("Jan", "Nowak")))
  })

  it("is bounded for a name of many words", () => {
    const many = Array.from({ length: 120 }, (_, index) => `n${index}`).join(" ")
    assert.isAtMost(similarNamesOf(named(many, many)).length, 36)
  })
})
