import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { hasSecondFactorIn, operatorsIn, roleIn, wasShownNow } from "../../src/features/staffSessions/Oidc.ts"
import { layerBothServers } from "../kit/Backoffice.ts"
import { made } from "../kit/Casino.ts"
import { openBackoffice, openProvider, operatorsOf, people } from "../kit/IdentityProvider.ts"
import { browse, inSession } from "../kit/StaffBrowser.ts"

// Goal: staff sign in through an identity provider, with the role of its claims at each sign-in, and others cannot. Method: a real provider
// (oidc-provider) in this process, and a browser that keeps cookies and follows redirects between the two.

/** A browser: cookies by origin, redirects and forms followed by hand. */
const openBrowser = () => {
  const jars = new Map<string, Map<string, string>>()
  const visit = async (url: string, form?: { readonly [field: string]: string }) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get("location")
    return {
      status: response.status,
      text: await response.text(),
      next: location === null ? undefined : new URL(location, url).href
    }
  }
  const cookiesOf = (origin: string): ReadonlyArray<string> => [...jars.get(origin)?.keys() ?? []]
  return { visit, cookiesOf, cookieOf: (origin: string, name: string) => jars.get(origin)?.get(name) }
}

type Browser = ReturnType<typeof openBrowser>

const begin = (base: string, browser: Browser, next: string) =>
  browser.visit(`${base}/sign-in/oidc?next=${encodeURIComponent(next)}`)

/** Signs in at the provider as `person`, in a tab of `browser`; returns the last answer of the back office and the session's cookie. */
const signInAs = async (
  base: string,
  person: string,
  browser = openBrowser(),
  begun = begin(base, browser, "/players?search=ann")
) => {
  let answer = await begun
  let at = `${base}/sign-in/oidc`
  for (let step = 0; step < 12 && answer.next !== undefined; step++) {
    if (answer.next.startsWith(`${base}/sign-in?`)) break
    at = answer.next
    answer = await browser.visit(at)
    if (answer.status === 200 && at.includes("/interaction/")) {
      const prompt = answer.text.includes("name=\"login\"")
        ? { prompt: "login", login: person, password: "x" }
        : { prompt: "consent" }
      answer = await browser.visit(at, prompt)
    }
  }
  return { answer, at, browser, session: browser.cookieOf(base, "pitboss_session") }
}

layer(layerBothServers, { excludeTestServices: true })("sign-in through an identity provider", (it) => {
  it.effect("takes the role from the claim at each sign-in, and returns to the page that was requested", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const provider = yield* openProvider
      yield* Effect.addFinalizer(() => Effect.sync(() => provider.server.close()))
      const port = yield* openBackoffice(provider.issuer)
      const base = `http://127.0.0.1:${port}`
      const signIn = (person: string) => Effect.promise(() => signInAs(base, person))
      const problemOf = ({ answer }: Effect.Success<ReturnType<typeof signIn>>) =>
        new URL(answer.next ?? base).searchParams.get("problem")

      // the provider is not up yet
      assert.match(problemOf(yield* signIn("ann")) ?? "", /^provider$/)
      provider.start(`${base}/sign-in/oidc/callback`)
      const ways = yield* browse("GET", "/sign-in", { port })
      assert.deepStrictEqual(ways.data, { oidc: true })

      const ann = yield* signIn("ann")
      assert.strictEqual(ann.answer.status, 200)
      assert.include(ann.answer.text, "url=/players?search=ann")
      const session = inSession(`pitboss_session=${ann.session}`)
      const shown = yield* session("GET", "/session", undefined, port)
      assert.deepInclude(shown.data, { has_password: false, stepped_up_until: null })
      const { id } = shown.data.staff
      assert.deepStrictEqual(shown.data.staff, { id, name: "Name of ann", role: "support", operators: null })
      // the provider's answer works once, and only in the browser that started the sign-in
      const again = yield* Effect.promise(() => ann.browser.visit(ann.at))
      assert.match(again.next ?? "", /\/sign-in\?problem=/)
      const elsewhere = yield* Effect.promise(() => openBrowser().visit(ann.at))
      assert.match(elsewhere.next ?? "", /\/sign-in\?problem=provider$/)

      people.set("ann", ["staff", "payments"])
      const later = yield* signIn("ann")
      const promoted = yield* inSession(`pitboss_session=${later.session}`)("GET", "/session", undefined, port)
      assert.deepInclude(promoted.data.staff, { id, role: "payments" })
      yield* sql`UPDATE staff SET active = false WHERE id = ${id}`
      const off = yield* signIn("ann")
      assert.deepStrictEqual([off.session, problemOf(off)], [undefined, "role"])

      const eve = yield* signIn("eve")
      assert.deepStrictEqual([eve.session, problemOf(eve)], [undefined, "role"])
      const accounts = yield* sql`SELECT name FROM staff WHERE oidc_subject IS NOT NULL`
      assert.deepStrictEqual(accounts, [{ name: "Name of ann" }])
    }))

  it.effect("reads roles, operators and second factors from claims in the forms that providers send", () =>
    Effect.sync(() => {
      const nested = { realm_access: { roles: ["offline", "compliance", "support"] }, "a.b": "admin" }
      // a second factor of hours ago is not fresh, and one without a time is none
      const now = 1_800_000_000_000
      const isNow = [299, 301, undefined].map((ago) =>
        wasShownNow(ago === undefined ? {} : { auth_time: now / 1000 - ago }, now)
      )
      assert.deepStrictEqual(isNow, [true, false, false])
      assert.strictEqual(roleIn(nested, "realm_access.roles"), "support", "the first of the table of roles")
      assert.strictEqual(roleIn(nested, "a.b"), "admin")
      for (const path of ["role", "realm_access", "realm_access.roles.0.x", "__proto__"]) {
        assert.strictEqual(roleIn(nested, path), undefined, path)
      }
      const claims = { one: "lucky", two: { names: ["lucky", 7, "star"] }, odd: 7, none: [], nothing: null }
      const named = (path: string, absent: "none" | "all" = "none") => operatorsIn(claims, path, absent)
      assert.deepStrictEqual([named("one"), named("two.names"), named("odd"), named("none")], [
        ["lucky"],
        ["lucky", "star"],
        [],
        []
      ])
      assert.deepStrictEqual([named("missing"), named("nothing"), named("odd", "all"), named("none", "all")], [
        [],
        [],
        [],
        []
      ])
      assert.deepStrictEqual([named("missing", "all"), named("nothing", "all")], [null, []])
      const shown = [{ amr: ["pwd", "otp"] }, { acr: "urn:example:mfa" }, { amr: ["pwd"] }, { acr: "0" }, {}, null]
      assert.deepStrictEqual(shown.map(hasSecondFactorIn), [true, true, false, false, false, false])
    }))
})

// with services of their own: stopping a back office drains those of its test
layer(layerBothServers, { excludeTestServices: true })("sign-in through an identity provider in several tabs", (it) => {
  it.effect("works in each tab, whichever returns first, and drops the oldest one of more than eight", () =>
    Effect.gen(function*() {
      const provider = yield* openProvider
      yield* Effect.addFinalizer(() => Effect.sync(() => provider.server.close()))
      const base = `http://127.0.0.1:${yield* openBackoffice(provider.issuer)}`
      provider.start(`${base}/sign-in/oidc/callback`)
      const begunIn = (browser: Browser) => browser.cookiesOf(base).filter((name) => name.startsWith("pitboss_oidc_"))
      const signedIn = Effect.fnUntraced(function*(order: ReadonlyArray<number>) {
        const browser = openBrowser()
        const tabs = yield* Effect.forEach(order, (_, tab) => Effect.promise(() => begin(base, browser, `/tab/${tab}`)))
        const pages = yield* Effect.forEach(order, (tab) =>
          Effect.promise(async () => {
            const begun = tabs[tab]
            const { answer } = await signInAs(base, "tabs", browser, begun && Promise.resolve(begun))
            return [answer.status, /url=([^"]*)/.exec(answer.text)?.[1] ?? new URL(answer.next ?? base).search]
          }))
        return { pages, left: begunIn(browser) }
      })
      people.set("tabs", "support")
      assert.deepStrictEqual(yield* signedIn([0, 1]), { pages: [[200, "/tab/0"], [200, "/tab/1"]], left: [] })
      assert.deepStrictEqual(yield* signedIn([1, 0]), { pages: [[200, "/tab/1"], [200, "/tab/0"]], left: [] })
      const nine = [8, 0, 1, 2, 3, 4, 5, 6, 7]
      const { left, pages } = yield* signedIn(nine)
      assert.deepStrictEqual(pages.map(([, where]) => where), [
        "/tab/8",
        "?problem=provider",
        ...nine.slice(2).map((tab) => `/tab/${tab}`)
      ])
      assert.deepStrictEqual(left, [])
    }))
})

layer(layerBothServers, { excludeTestServices: true })("identity-provider sign-in with an operators claim", (it) => {
  it.effect("binds the account to the claim's operators at each sign-in, and to none when it names no known one", () =>
    Effect.gen(function*() {
      const provider = yield* openProvider
      yield* Effect.addFinalizer(() => Effect.sync(() => provider.server.close()))
      const port = yield* openBackoffice(provider.issuer, { claim: "operators" })
      const base = `http://127.0.0.1:${port}`
      provider.start(`${base}/sign-in/oidc/callback`)
      const operator = (slug: string) => made("/operators", { slug, name: slug, currency: "EUR" })
      const [north, south] = [yield* operator("oidc-north"), yield* operator("oidc-south")]
      people.set("bob", "support")
      const bound = Effect.gen(function*() {
        const { session } = yield* Effect.promise(() => signInAs(base, "bob"))
        const call = inSession(`pitboss_session=${session}`)
        const { data } = yield* call("GET", "/session", undefined, port)
        const listed = yield* call("GET", "/operators", undefined, port)
        const slugs: ReadonlyArray<{ readonly slug: string }> = listed.data
        return [data.staff.operators, slugs.map(({ slug }) => slug).filter((slug) => slug.startsWith("oidc-")).sort()]
      })
      // without the claim, or with no known operator in it: empty lists
      assert.deepStrictEqual(yield* bound, [[], []])
      operatorsOf.set("bob", ["elsewhere", "OIDC-NORTH", "\u0000"])
      assert.deepStrictEqual(yield* bound, [[], []])
      operatorsOf.set("bob", ["oidc-south", "elsewhere", "oidc-north"])
      assert.deepStrictEqual(yield* bound, [[north.id, south.id], ["oidc-north", "oidc-south"]])
      operatorsOf.set("bob", "oidc-south")
      assert.deepStrictEqual(yield* bound, [[south.id], ["oidc-south"]])
      operatorsOf.delete("bob")
      assert.deepStrictEqual(yield* bound, [[], []])

      // the last unbound admin stays one, and is told why the sign-in is refused
      const sql = yield* SqlClient.SqlClient
      people.set("bob", "admin")
      yield* bound
      yield* sql`UPDATE staff SET operator_ids = NULL WHERE oidc_subject IS NOT NULL`
      operatorsOf.set("bob", "oidc-south")
      const { answer, session } = yield* Effect.promise(() => signInAs(base, "bob"))
      assert.deepStrictEqual([session, new URL(answer.next ?? "", base).search], [undefined, "?problem=last_admin"])
      yield* made("/staff", { name: "Another admin" })
      assert.deepStrictEqual((yield* bound)[0], [south.id])
    }))
})
