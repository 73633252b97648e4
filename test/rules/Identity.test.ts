import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Identity, isSamePerson, similarNamesOf } from "../../src/domain/player/Identity.ts"

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

describe("isSamePerson", () => {
  it("by personal id or document number, however they are written", () => {
    assert.isTrue(isSamePerson(person, { ...stranger, personalId: "ab123456" }))
    assert.isTrue(isSamePerson(person, { ...stranger, documentNumber: "c01x 00t47" }))
    assert.isTrue(isSamePerson(person, { ...stranger, personalId: "AB123456\u3164" }))
  })

  it("by names with birth date, and not by either alone", () => {
    const again = { firstName: "ZOE", lastName: "oconnor muller", birthDate: person.birthDate }
    assert.isTrue(isSamePerson(person, { ...stranger, ...again }))
    assert.isFalse(isSamePerson(person, { ...stranger, ...again, birthDate: "1990-12-30" }))
    assert.isFalse(isSamePerson(person, { ...stranger, birthDate: person.birthDate }))
    assert.isFalse(isSamePerson(person, { ...stranger, ...again, firstName: "Zora" }))
  })

  it("unknown values never match", () => {
    for (const nothing of [null, "", " - "]) {
      const one = { ...stranger, personalId: nothing, documentNumber: nothing }
      assert.isFalse(isSamePerson(one, { ...one, firstName: "Eve" }))
    }
    // a personal id is not a document number
    assert.isFalse(
      isSamePerson({ ...stranger, personalId: "X1" }, { ...stranger, firstName: "E", documentNumber: "X1" })
    )
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
    ) assert.isTrue(isSamePerson(one, other), `${one.firstName} ${one.lastName}`)
  })

  it("are the same in letters that look alike, and with those that nobody sees", () => {
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
    ) assert.isTrue(isSamePerson(one, other), `${one.firstName} ${one.lastName}`)
  })

  it("of no letters are the same only where they are written the same", () => {
    assert.isTrue(isSamePerson(named("🎰", "🎲"), named("🎰", "🎲")))
    assert.isFalse(isSamePerson(named("🎰", "🎲"), named("🎲", "🎯")))
    assert.isFalse(isSamePerson(named("---", "..."), named("'", "-")))
  })

  it("are the same in any order and any field", () => {
    assert.isTrue(isSamePerson(named("Łukasz", "Wójcik"), named("Wojcik", "Lukasz")))
    assert.isTrue(isSamePerson(named("Anna Maria", "López"), named("Anna", "Maria Lopez")))
    assert.isTrue(isSamePerson(named("Jan", "Kowalski", "Piotr"), named("Jan Piotr", "Kowalski")))
    assert.isTrue(isSamePerson(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr-Jan")))
    assert.isTrue(isSamePerson(named("Maria", "De La Cruz"), named("Maria", "DelaCruz")))
  })

  it("differ by any other name", () => {
    assert.isFalse(isSamePerson(named("Jan Piotr", "Kowalski"), named("Jan", "Kowalski")))
    assert.isFalse(isSamePerson(named("Müller", "Jan"), named("Mueller", "Jan")))
    assert.isFalse(isSamePerson(named("Łukasz", "Wójcik"), named("Łukasz", "Wójcicki")))
  })

  it("are the same after any change of case, marks and order", () => {
    const letters = fc.stringMatching(/^[a-zäöøłđæßþħ]{1,12}$/u)
    fc.assert(fc.property(letters, letters, fc.boolean(), (first, last, isSwapped) => {
      const again = isSwapped
        ? named(last.toUpperCase().normalize("NFD"), first)
        : named(` ${first.normalize("NFD")}`, `-${last.toUpperCase()}`)
      assert.isTrue(isSamePerson(named(first, last), again))
      assert.isFalse(isSamePerson(named(first, last), named(`${first}q`, last)))
    }))
  })
})

describe("similarNamesOf", () => {
  it("has one in common with some of the given or family names, and with digraphs for letters", () => {
    assert.isTrue(isSimilar(named("Jan Piotr", "Kowalski"), named("Piotr", "Kowalski")))
    assert.isTrue(isSimilar(named("Jan", "Kowalski", "Piotr"), named("Kowalski", "Piotr")))
    assert.isTrue(isSimilar(named("Carmen", "García López"), named("Carmen", "Lopez")))
    assert.isTrue(isSimilar(named("Jürgen", "Müller"), named("Juergen", "Mueller")))
    assert.isTrue(isSimilar(named("Åse", "Sørensen"), named("Aase", "Soerensen")))
    assert.isTrue(isSimilar(named("Đorđe", "Petrović"), named("Djordje", "Petrovic")))
  })

  it("has none in common by a particle, or by the given or the family name alone", () => {
    assert.isFalse(isSimilar(named("Maria", "de la Cruz"), named("Maria", "de la Vega")))
    assert.isFalse(isSimilar(named("Jan", "van der Berg"), named("Piet", "van der Berg")))
    assert.isFalse(isSimilar(named("Jan", "Kowalski"), named("Jan", "Nowak")))
  })

  it("is bounded for a name of many words", () => {
    const many = Array.from({ length: 120 }, (_, index) => `n${index}`).join(" ")
    assert.isAtMost(similarNamesOf(named(many, many)).length, 36)
  })
})
