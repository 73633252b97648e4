import { assert, describe, it } from "@effect/vitest"
import { type Identity, isSamePerson } from "../../src/store/Identity.ts"

const person: Identity = {
  firstName: "Zoë",
  lastName: "O'Connor-Müller",
  birthDate: "1990-12-31",
  personalId: "AB 12-34.56",
  documentNumber: "C01X00T47"
}

const stranger: Identity = {
  firstName: "Adam",
  lastName: "Smith",
  birthDate: "1970-01-01",
  personalId: null,
  documentNumber: null
}

describe("isSamePerson", () => {
  it("by personal id or document number, however they are written", () => {
    assert.isTrue(isSamePerson(person, { ...stranger, personalId: "ab123456" }))
    assert.isTrue(isSamePerson(person, { ...stranger, documentNumber: "c01x 00t47" }))
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
