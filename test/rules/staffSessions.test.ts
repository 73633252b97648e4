import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import {
  acceptedStep,
  enrolment,
  isTimeBased,
  recoveryCode,
  recoveryHash
} from "../../src/features/staffSessions/SecondFactor.ts"
import { cookieIn, isForeign, isOver, isOwnRequest, steppedUpUntil } from "../../src/features/staffSessions/Rules.ts"
import { pathAfterSignIn } from "../../src/domain/PathAfterSignIn.ts"

// Goal: rules of staff sign-in by browser, without a database or a clock.

/** RFC 6238, appendix B: the secret of SHA-1, and the last six digits of its codes. */
const secret = new TextEncoder().encode("12345678901234567890")
const vectors = [[59, "287082"], [1_111_111_109, "081804"], [1_234_567_890, "005924"], [
  20_000_000_000,
  "353130"
]] as const

describe("a second-factor code", () => {
  it("follows RFC 6238, and works once", () => {
    for (const [seconds, code] of vectors) {
      const step = acceptedStep(secret, code, seconds * 1000, null)
      assert.strictEqual(step, Math.floor(seconds / 30))
      assert.isUndefined(acceptedStep(secret, code, seconds * 1000, step ?? 0))
    }
  })

  it("is accepted from a clock that is half a minute off, and not from one that is a minute off", () => {
    const [[seconds, code]] = vectors
    const taken = [-2, -1, 0, 1, 2].map((steps) =>
      acceptedStep(secret, code, (seconds + steps * 30) * 1000, null) !== undefined
    )
    assert.deepStrictEqual(taken, [false, true, true, true, false])
  })

  it("of a time step not later than the last accepted one is refused", () => {
    const [[seconds, code]] = vectors
    assert.isUndefined(acceptedStep(secret, code, seconds * 1000, Math.floor(seconds / 30) + 1))
  })

  it("may be typed with spaces, and is told by its form from a recovery code, which is valid for one account only", () => {
    assert.isTrue(isTimeBased("287 082"))
    const code = recoveryCode("abcdefghijklm")
    assert.strictEqual(code, "abcd-efgh-ijkl")
    assert.isFalse(isTimeBased(code))
    assert.deepStrictEqual(recoveryHash(1, code), recoveryHash(1, "abcdefghijkl"))
    assert.notDeepEqual(recoveryHash(1, code), recoveryHash(2, code))
  })

  it("is set up by a URI that names the issuer and the account", () => {
    const { qr_svg: svg, uri } = enrolment(secret, "Ann Lee")
    assert.match(uri, /^otpauth:\/\/totp\/Pitboss:Ann%20Lee\?issuer=Pitboss&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ/)
    assert.match(svg, /^<svg/)
  })
})

describe("a staff session", () => {
  const idleMs = 30 * 60_000
  const times = { lastSeenAt: 0, expiresAt: 12 * 3_600_000 }

  it("ends after idle time, and at its expiry even when it is in use", () => {
    assert.isFalse(isOver(times, idleMs, idleMs - 1))
    assert.isTrue(isOver(times, idleMs, idleMs))
    assert.isTrue(isOver({ ...times, lastSeenAt: times.expiresAt - 1 }, idleMs, times.expiresAt))
  })

  it("may move money for five minutes after the second factor was entered", () => {
    assert.isUndefined(steppedUpUntil(null, 0))
    assert.strictEqual(steppedUpUntil(0, 299_999), 300_000)
    assert.isUndefined(steppedUpUntil(0, 300_000))
  })

  it("is read from the session cookie, and ignored when a request has two of them", () => {
    assert.strictEqual(cookieIn("a=1; pitboss_session=abc; b=2", "pitboss_session"), "abc")
    assert.isUndefined(cookieIn("pitboss_session=abc; pitboss_session=def", "pitboss_session"))
    assert.isUndefined(cookieIn("xpitboss_session=abc", "pitboss_session"))
  })

  it("is accepted only for requests of the back office's own pages", () => {
    const asking = { host: "office.example", origin: undefined, requestedWith: undefined }
    assert.isFalse(isOwnRequest(asking, "https://office.example"))
    assert.isTrue(isOwnRequest({ ...asking, requestedWith: "pitboss" }, "https://office.example"))
    assert.isTrue(isOwnRequest({ ...asking, origin: "https://office.example" }, "https://office.example"))
    assert.isTrue(isForeign({ ...asking, origin: "https://evil.example" }, "https://office.example"))
    assert.isFalse(isForeign(asking, "https://office.example"))
  })

  it("redirects after sign-in to a path of its own pages, never to another host", () => {
    assert.strictEqual(pathAfterSignIn("/players?status=active"), "/players?status=active")
    fc.assert(fc.property(fc.oneof(fc.webUrl(), fc.string()), (next) => {
      const path = pathAfterSignIn(next)
      const at = new URL(path, "https://office.example")
      assert.strictEqual(at.host, "office.example")
      assert.notMatch(path, /^\/sign-in/)
    }))
    for (const next of ["//evil.example", "/\\evil.example", "https://evil.example", "/\tx", "/sign-in?next=/"]) {
      assert.strictEqual(pathAfterSignIn(next), "/")
    }
  })
})
