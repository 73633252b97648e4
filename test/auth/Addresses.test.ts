import { assert, describe, it } from "@effect/vitest"
import { clientAddress, isWithin, networks } from "../../src/auth/Addresses.ts"

// Goal: an allowlist lets in exactly the addresses it names, however they are written, and a caller cannot choose its own
// address. Method: tables of addresses.

describe("networks of an address list", () => {
  const list = networks([
    "198.51.100.7",
    "10.0.0.0/8",
    "2001:db8::/32",
    "::1",
    "::ffff:192.0.2.0/120",
    "nonsense",
    "300.1.1.1"
  ])

  it("contain their own addresses, IPv4 and IPv6", () => {
    for (
      const address of [
        "198.51.100.7",
        "::ffff:198.51.100.7",
        "10.255.0.1",
        "2001:db8:ffff::1",
        "2001:0db8:0000:0000:0000:0000:0000:0001",
        "::1",
        "192.0.2.200"
      ]
    ) assert.isTrue(isWithin(list, address), address)
  })

  it("contain no other address, and no text that is not an address", () => {
    for (
      const address of [
        "198.51.100.8",
        "11.0.0.1",
        "2001:db9::1",
        "::2",
        "192.0.3.1",
        "",
        "nonsense",
        "10",
        "0x0a.0.0.1",
        "10.0.0.1 ",
        undefined
      ]
    ) assert.isFalse(isWithin(list, address), String(address))
  })
})

describe("the client's address", () => {
  const proxies = networks(["10.0.0.0/8", "fd00::/8"])
  const from = (peer: string | undefined, forwarded?: string) => clientAddress(peer, forwarded, proxies)

  it("is the connection's own without a trusted proxy", () => {
    assert.strictEqual(from("203.0.113.1"), "203.0.113.1")
    assert.strictEqual(from("203.0.113.1", "6.6.6.6"), "203.0.113.1")
    assert.strictEqual(clientAddress("10.0.0.1", "6.6.6.6", []), "10.0.0.1")
    assert.strictEqual(from("10.0.0.1"), "10.0.0.1")
    assert.isUndefined(from(undefined, "6.6.6.6"))
  })

  it("is the last forwarded address that is not a trusted proxy", () => {
    assert.strictEqual(from("10.0.0.1", "203.0.113.1"), "203.0.113.1")
    assert.strictEqual(from("::ffff:10.0.0.1", "6.6.6.6, 203.0.113.1, 10.0.0.2"), "203.0.113.1")
    assert.strictEqual(from("fd00::1", "6.6.6.6,[2001:db8::1]:443,fd00::2"), "2001:db8::1")
    assert.strictEqual(from("10.0.0.1", "203.0.113.1:5000"), "203.0.113.1")
  })

  it("is the first forwarded address when all are trusted proxies, and unknown when one is malformed", () => {
    assert.strictEqual(from("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3")
    assert.isUndefined(from("10.0.0.1", "203.0.113.1, unknown"))
    assert.isUndefined(from("10.0.0.1", ""))
  })

  it("is looked for only among the last 32 forwarded addresses", () => {
    const behind = (count: number) => `203.0.113.1${",10.0.0.2".repeat(count)}`
    assert.strictEqual(from("10.0.0.1", behind(31)), "203.0.113.1")
    assert.isUndefined(from("10.0.0.1", behind(32)))
    assert.strictEqual(from("10.0.0.1", `${"no address,".repeat(1000)}203.0.113.1`), "203.0.113.1")
  })
})
