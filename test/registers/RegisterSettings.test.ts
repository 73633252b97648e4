import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { makeAuthority } from "../../scripts/registers/Certificates.ts"
import { registerKinds } from "../../src/domain/register/Register.ts"
import { registers } from "../../src/registers/Registers.ts"
import { ada, numbers } from "./support.ts"

// Goal: settings that cannot work are refused before anything is asked, a secret is never among what may be shown, and a person about whom a register
// cannot be asked is found out first. Method: proper settings and persons of each kind, with one thing wrong.

const url = "https://register.example"

const proper = {
  gamstop: { url, batch_url: url, api_key: "secret" },
  spelpaus: { url, actor_id: "20", api_key: "secret" },
  rofus: { url, username: "u", password: "secret" },
  cruks: { url, token: "secret", sender_id: "S1" },
  oasis: { url: "http://register.example", kennung: "k", passwort: "secret" },
  generic: { url, api_key: "secret" }
} as const

const authority = makeAuthority("Register")
const one = authority.issue("127.0.0.1")
const other = authority.issue("127.0.0.1")
const tls = { client_certificate: one.certificate, client_key: one.key, ca: authority.certificate }

describe("register settings", () => {
  it("are all required, and name the secrets to encrypt, for each kind of register", () => {
    for (const kind of registerKinds) {
      const { bind, secrets } = registers[kind]
      assert.isTrue(Result.isSuccess(bind(proper[kind])), kind)
      const bound = bind({ ...proper[kind], ...tls })
      assert.deepStrictEqual(Result.isSuccess(bound) && bound.success.tls, tls, kind)
      const hidden = Object.entries({ ...proper[kind], ...tls }).filter(([name]) => secrets.includes(name))
      assert.deepStrictEqual(hidden.map(([, value]) => value).toSorted(), ["secret", one.key].toSorted(), kind)
      for (const name of Object.keys(proper[kind])) {
        for (const value of [undefined, "", 7, "line\nbreak"]) {
          assert.isTrue(Result.isFailure(bind({ ...proper[kind], [name]: value })), `${kind} ${name} ${value}`)
        }
      }
      assert.isTrue(Result.isFailure(bind({ ...proper[kind], extra: "x" })), kind)
    }
  })

  it("accept a client certificate only with its matching key, and only valid authorities", () => {
    const wrong = [
      { client_certificate: one.certificate },
      { client_key: one.key },
      { client_certificate: one.certificate, client_key: other.key },
      { client_certificate: one.key, client_key: one.key },
      { client_certificate: one.certificate, client_key: one.certificate },
      { ca: "" },
      { ca: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
      { ca: one.key }
    ]
    for (const part of wrong) assert.isTrue(Result.isFailure(registers.generic.bind({ ...proper.generic, ...part })))
    const both = { ca: authority.certificate + one.certificate }
    assert.isTrue(Result.isSuccess(registers.generic.bind({ ...proper.generic, ...both })))
  })

  it("of OASIS require a certificate for an https URL, and no status word with two meanings", () => {
    const { bind } = registers.oasis
    assert.isTrue(Result.isFailure(bind({ ...proper.oasis, url })))
    assert.isTrue(Result.isSuccess(bind({ ...proper.oasis, url, ...tls })))
    assert.isTrue(Result.isFailure(bind({ ...proper.oasis, clear: ["GESPERRT"] })))
    assert.isTrue(Result.isFailure(bind({ ...proper.oasis, excluded: [] })))
  })

  it("are refused if a path cannot be appended to the URL", () => {
    for (
      const wrong of [
        "register.example",
        "ftp://register.example",
        `${url}?a=b`,
        `${url}#a`,
        `${url}/${"x".repeat(2000)}`
      ]
    ) {
      assert.isTrue(Result.isFailure(registers.spelpaus.bind({ ...proper.spelpaus, url: wrong })), wrong)
    }
    assert.isTrue(Result.isFailure(registers.rofus.bind({ ...proper.rofus, username: "a:b" })))
  })
})

describe("a person in a register query", () => {
  const problemsOf = (kind: (typeof registerKinds)[number], person: object) =>
    Object.keys(registers[kind].problems({ ...ada, personalId: numbers[kind], ...person }))

  it("needs the data that the register requires", () => {
    const needs = {
      gamstop: {
        firstName: "first_name",
        lastName: "last_name",
        birthDate: "birth_date",
        email: "email",
        postcode: "zip_code"
      },
      spelpaus: { birthDate: "birth_date", personalId: "personal_id" },
      rofus: { birthDate: "birth_date", personalId: "personal_id" },
      cruks: { lastName: "last_name", birthDate: "birth_date", personalId: "personal_id" },
      oasis: { firstName: "first_name", lastName: "last_name", birthDate: "birth_date" },
      generic: { firstName: "first_name", lastName: "last_name", birthDate: "birth_date" }
    } as const
    for (const kind of registerKinds) {
      assert.deepStrictEqual(problemsOf(kind, {}), [], kind)
      for (const [name, field] of Object.entries(needs[kind])) {
        for (const value of [null, ""]) {
          if (name !== "birthDate" || value === null) {
            assert.deepStrictEqual(problemsOf(kind, { [name]: value }), [field], `${kind} ${name}`)
          }
        }
      }
    }
  })

  it("needs a valid personal number that agrees with the birth date", () => {
    for (const personalId of ["198001019878", "8001019879", "19800101-9879-"]) {
      assert.deepStrictEqual(problemsOf("spelpaus", { personalId }), ["personal_id"], personalId)
    }
    assert.deepStrictEqual(problemsOf("spelpaus", { personalId: "198001619876" }), [])
    for (const kind of ["spelpaus", "rofus"] as const) {
      assert.deepStrictEqual(problemsOf(kind, { birthDate: "1980-01-02" }), ["personal_id"], kind)
      assert.deepStrictEqual(problemsOf(kind, { birthDate: "1880-01-01" }), ["personal_id"], kind)
    }
    for (const personalId of ["123456789", "12345678", "1234-56-782"]) {
      assert.deepStrictEqual(problemsOf("cruks", { personalId }), ["personal_id"], personalId)
    }
    assert.deepStrictEqual(problemsOf("cruks", { personalId: null, registerCode: "C-1" }), [])
  })
})
