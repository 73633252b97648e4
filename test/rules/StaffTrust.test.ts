import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  type AccountFactor,
  type Handover,
  handoverKinds,
  onePerson,
  pathBetween,
  type StaffTrust
} from "../../src/domain/staff/StaffTrust.ts"

// Goal: accounts that somebody can act as are one person with theirs, whatever was handed over and proved in between. Method: cases by
// hand; random graphs against a plain closure; random histories of people against the list of who holds which token and factor.

const none = { provedAt: null, renewedAt: null }

const handover = (from: string, to: string, at: number, more: Partial<Handover> = {}): Handover => ({
  from,
  to,
  at,
  kind: "issued",
  fromProofs: none,
  ...more
})

const trustOf = (
  handovers: ReadonlyArray<Handover>,
  factors: { readonly [account: string]: AccountFactor } = {}
): StaffTrust => ({ handovers, factors: new Map(Object.entries(factors)) })

describe("one person controlling two staff accounts", () => {
  it("is found through a chain of accounts, each created or given its credentials by the one before", () => {
    const trust = trustOf([
      handover("admin", "puppet", 1, { kind: "made" }),
      handover("puppet", "colleague", 2),
      handover("colleague", "clerk", 3, { kind: "entrusted" })
    ])
    assert.deepStrictEqual(pathBetween(trust, "admin", "clerk")?.map(({ to }) => to), ["puppet", "colleague", "clerk"])
    assert.isUndefined(pathBetween(trust, "clerk", "admin"))
    for (const [one, other] of [["admin", "clerk"], ["clerk", "admin"]] as const) {
      assert.strictEqual(onePerson(trust, one, other)?._tag, "Path")
    }
    assert.isUndefined(onePerson(trust, "admin", "stranger"))
  })

  it("is still found after a later token of the account, whoever issued it", () => {
    const rotated = handover("admin", "colleague", 2)
    assert.isDefined(onePerson(trustOf([rotated, handover("other", "colleague", 3)]), "admin", "colleague"))
    assert.isDefined(onePerson(trustOf([rotated, handover("colleague", "colleague", 3)]), "admin", "colleague"))
  })

  it("is ruled out when the owner has since used a second factor set up before the handover, or replaced a token that was handed over", () => {
    const linked = [handover("admin", "clerk", 10, { kind: "entrusted" })]
    const rotated = [handover("admin", "clerk", 10)]
    const is = (handovers: ReadonlyArray<Handover>, clerk: AccountFactor) =>
      onePerson(trustOf(handovers, { clerk }), "admin", "clerk") !== undefined
    assert.isFalse(is(linked, { since: 5, provedAt: 11, renewedAt: null }))
    assert.isTrue(is(linked, { since: 5, provedAt: 10, renewedAt: null }), "not shown since")
    assert.isTrue(is(linked, { since: 11, provedAt: 12, renewedAt: null }), "set up with the link, by either of them")
    assert.isTrue(is(rotated, { since: 5, provedAt: 11, renewedAt: null }), "the token needs no factor")
    assert.isFalse(is(rotated, { since: 5, provedAt: 11, renewedAt: 11 }))
  })

  it("is found through an account that handed over another one before its owner used the second factor", () => {
    const proved = { thief: { since: 1, provedAt: 30, renewedAt: 30 } }
    const as = (fromProofs: Handover["fromProofs"]) =>
      trustOf([handover("admin", "thief", 10), handover("thief", "clerk", 20, { fromProofs })], proved)
    assert.isDefined(onePerson(as(none), "admin", "clerk"))
    assert.isUndefined(onePerson(as({ provedAt: 15, renewedAt: 15 }), "admin", "clerk"))
    assert.isUndefined(onePerson(as(none), "admin", "thief"))
  })

  it("is suspected for two accounts that one person created, unless neither has a second factor or both have used theirs since", () => {
    const made = [handover("m", "a", 1, { kind: "made" }), handover("m", "b", 2, { kind: "made" })]
    const shown = (at: number): AccountFactor => ({ since: 3, provedAt: at, renewedAt: null })
    const tag = (handovers: ReadonlyArray<Handover>, factors: { readonly [account: string]: AccountFactor }) =>
      onePerson(trustOf(handovers, factors), "a", "b")?._tag
    assert.isUndefined(tag(made, {}))
    assert.strictEqual(tag(made, { a: shown(4) }), "CommonMaker")
    assert.isUndefined(tag(made, { a: shown(4), b: shown(5) }))
    assert.isUndefined(tag(made, { a: shown(1), b: shown(2) }), "at the moment of its making")
    assert.strictEqual(tag([...made, handover("m", "b", 6)], { a: shown(4), b: shown(5) }), "CommonMaker")
  })

  it("is found exactly where a plain transitive closure over the handovers that are not ruled out finds it", () => {
    const accounts = ["a", "b", "c", "d", "e"]
    const account = fc.constantFrom(...accounts)
    const time = fc.integer({ min: 0, max: 20 })
    const proofs = fc.record({ provedAt: fc.option(time), renewedAt: fc.option(time) })
    const graph = fc.record({
      handovers: fc.array(
        fc.record({
          from: account,
          to: account,
          at: time,
          kind: fc.constantFrom(...handoverKinds),
          fromProofs: proofs
        }),
        { maxLength: 12 }
      ),
      factors: fc.array(
        fc.tuple(account, fc.record({ since: fc.option(time), provedAt: fc.option(time), renewedAt: fc.option(time) }))
      )
        .map((entries) => new Map(entries))
    })
    fc.assert(
      fc.property(graph, account, account, (trust, from, to) => {
        fc.pre(from !== to)
        const { factors, handovers } = trust
        const isOpen = (one: Handover, then: Handover | undefined): boolean => {
          const factor = factors.get(one.to)
          if (factor === undefined || factor.since === null || factor.since >= one.at) return true
          const { provedAt, renewedAt } = then === undefined || then.at < one.at ? factor : then.fromProofs
          const shown = one.kind === "entrusted" ? provedAt : renewedAt
          return shown === null || shown <= one.at
        }
        // handovers that end at `to`, until no more are found
        const leading = new Set(
          handovers.filter((one) => one.from !== one.to && one.to === to && isOpen(one, undefined))
        )
        for (let size = -1; size !== leading.size;) {
          size = leading.size
          for (const then of leading) {
            for (const one of handovers) {
              if (one.from !== one.to && one.to === then.from && isOpen(one, then)) leading.add(one)
            }
          }
        }
        const path = pathBetween(trust, from, to)
        assert.strictEqual(path !== undefined, [...leading].some((one) => one.from === from))
        for (const [index, one] of (path ?? []).entries()) {
          assert.strictEqual(one.to, path?.[index + 1]?.from ?? to)
        }
      }),
      { numRuns: 3000 }
    )
  })

  // Who acts is a person; an account is acted as by whoever holds its token, or its factor in a session.
  it("is found, in any history, for everyone who holds a token or second factor of the other's account", () => {
    const event = fc.record({
      does: fc.constantFrom("make", "rotate", "link", "reset", "enrol", "prove", "renew", "rotate own"),
      person: fc.nat(5),
      as: fc.nat(5),
      to: fc.nat(5),
      keeps: fc.boolean()
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const handovers: Array<Handover> = []
        const factors = new Map<string, AccountFactor>()
        const names = ["p0", "p1"]
        const tokens = new Map(names.map((name) => [name, new Set([name])]))
        const codes = new Map<string, Set<string>>()
        /** Sessions without a factor: they set up the first one. */
        const sessions = new Map<string, Set<string>>()
        const factorOf = (account: string) => factors.get(account) ?? { since: null, ...none }
        let now = 0
        for (const { as, does, keeps, person: nth, to: target } of events) {
          now++
          const at = (index: number) => names[index % names.length] ?? ""
          const [person, account, to] = [at(nth), at(as), at(target)]
          const holdsToken = tokens.get(account)?.has(person) === true
          const holdsCode = codes.get(account)?.has(person) === true
          const hands = (receiver: string, kind: Handover["kind"]) => {
            const { provedAt, renewedAt } = factorOf(account)
            // a session shows the factor right before
            handovers.push({ from: account, to: receiver, at: now, kind, fromProofs: { provedAt, renewedAt } })
          }
          if (holdsToken || holdsCode) {
            if (does === "make" && names.length < 6) {
              const made = `p${names.length}`
              names.push(made)
              tokens.set(made, new Set([person, made]))
              hands(made, "made")
            } else if (does === "rotate" && to !== account) {
              tokens.set(to, new Set([person, to]))
              sessions.delete(to)
              hands(to, "issued")
            } else if ((does === "link" || does === "reset") && to !== account) {
              if (does === "reset") {
                codes.delete(to)
                factors.set(to, { ...factorOf(to), since: null })
              }
              sessions.set(to, new Set([...sessions.get(to) ?? [], keeps ? person : to]))
              hands(to, "entrusted")
            } else if (does === "rotate own") {
              tokens.set(account, new Set([person]))
              if (holdsCode && keeps) factors.set(account, { ...factorOf(account), renewedAt: now })
            }
          }
          if (does === "prove" && holdsCode) factors.set(account, { ...factorOf(account), provedAt: now })
          if (does === "renew" && holdsCode) {
            tokens.set(account, new Set([person]))
            factors.set(account, { ...factorOf(account), renewedAt: now })
          }
          if (does === "enrol" && !codes.has(account) && (sessions.get(account)?.has(person) === true || holdsToken)) {
            codes.set(account, new Set([person]))
            factors.set(account, { ...factorOf(account), since: now, provedAt: now })
          }
          const trust = { handovers, factors }
          for (const account of names) {
            for (const holder of new Set([...tokens.get(account) ?? [], ...codes.get(account) ?? []])) {
              const found = onePerson(trust, holder, account)
              assert.isTrue(found?._tag === "Same" || found?._tag === "Path", `${holder} acts as ${account}`)
            }
          }
        }
      }),
      { numRuns: 3000 }
    )
  })
})
