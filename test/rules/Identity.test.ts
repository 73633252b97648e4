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
  it("is the same for every spelling of a number (case, spaces, punctuation)", () => {
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
  it("requires equal names and an equal birth date", () => {
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
  it("match their spelling in ASCII letters", () => {
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

  it("match their spelling with look-alike or invisible characters", () => {
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

  it("without any letters match only when they are written identically", () => {
    assert.isTrue(isSameByName(named("🎰", "🎲"), named("🎰", "🎲")))
    assert.isFalse(isSameByName(named("🎰", "🎲"), named("🎲", "🎯")))
    assert.isFalse(isSameByName(named("---", "..."), named("'", "-")))
  })

  it("match in any order and in any name field", () => {
    assert.isTrue(isSameByName(named("Łukasz", "Wójcik"), named("Wojcik", "Lukasz")))
    assert.isTrue(isSameByName(named("Anna Maria", "López"), named("Anna", "Maria Lopez")))
    assert.isTrue(isSameByName(named("Jan", "Kowalski", "Piotr"), named("Jan Piotr", "Kowalski")))
    assert.isTrue(isSameByName(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr-Jan")))
    assert.isTrue(isSameByName(named("Maria", "De La Cruz"), named("Maria", "DelaCruz")))
  })

  it("do not match when one name is added or different", () => {
    assert.isFalse(isSameByName(named("Jan Piotr", "Kowalski"), named("Jan", "Kowalski")))
    assert.isFalse(isSameByName(named("Müller", "Jan"), named("Mueller", "Jan")))
    assert.isFalse(isSameByName(named("Łukasz", "Wójcik"), named("Łukasz", "Wójcicki")))
  })

  it("match after any change of case, diacritics and order", () => {
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
  it("yields a common form for two people if a given and a family name match, also with digraphs in place of letters (Müller, Mueller)", () => {
    assert.isTrue(isSimilar(named("Jan Piotr", "Kowalski"), named("Piotr", "Kowalski")))
    assert.isTrue(isSimilar(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr")))
    assert.isTrue(isSimilar(named("Carmen", "García López"), named("Carmen", "Lopez")))
    assert.isTrue(isSimilar(named("Jürgen", "Müller"), named("Juergen", "Mueller")))
    assert.isTrue(isSimilar(named("Åse", "Sørensen"), named("Aase", "Soerensen")))
    assert.isTrue(isSimilar(named("Đorđe", "Petrović"), named("Djordje", "Petrovic")))
  })

  it("yields no common form if only a particle (de la), the given name or the family name matches", () => {
    assert.isFalse(isSimilar(named("Maria", "de la Cruz"), named("Maria", "de la Vega")))
    assert.isFalse(isSimilar(named("Jan", "van der Berg"), named("Piet", "van der Berg")))
    assert.isFalse(isSimilar(named("Jan", "Kowalski"), named("Jan", "Nowak")))
  })

  it("yields a bounded number of forms for a name of many words", () => {
    const many = Array.from({ length: 120 }, (_, index) => `n${index}`).join(" ")
    assert.isAtMost(similarNamesOf(named(many, many)).length, 36)
  })
})
