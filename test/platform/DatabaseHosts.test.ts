import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { hostsOf, isOpenConnection } from "../../src/platform/DatabaseHosts.ts"
import { roleOf } from "../../src/platform/Privileges.ts"

describe("a database URL", () => {
  it("with several servers is split into one URL per server, with the same user, database and options", () => {
    assert.deepStrictEqual(hostsOf("postgres://u:p@one:5432,two,[::1]:6000/name?sslmode=require"), [
      "postgres://u:p@one:5432/name?sslmode=require",
      "postgres://u:p@two/name?sslmode=require",
      "postgres://u:p@[::1]:6000/name?sslmode=require"
    ])
  })

  it("with one server is left unchanged, even with commas in the password", () => {
    for (const url of ["postgres://u:p@one/name", "postgresql://one:1/", "postgres://u:a,b@one/name"]) {
      assert.deepStrictEqual(hostsOf(url), [url])
    }
  })

  it("names the role that connects, and is insecure if any of its servers is on another machine without TLS", () => {
    assert.strictEqual(roleOf(Redacted.make("postgres://service:p@one:1,two:2/name")), "service")
    assert.isTrue(isOpenConnection("postgres://u:p@127.0.0.1:1,db.example:2/name"))
    assert.isFalse(isOpenConnection("postgres://u:p@127.0.0.1:1,[::1]:2/name"))
    assert.isFalse(isOpenConnection("postgres://u:p@one.example,two.example/name?sslmode=require"))
  })
})
