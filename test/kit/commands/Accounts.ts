/** Cases of `staff`, `operator` and `key`. */
import { operatorWith } from "../HttpCalls.ts"
import { assertRefused, bootstrapToken, dataOf, fresh, made, openCasino, outcomeOf, staffCall } from "../Casino.ts"
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { type CommandCase, done, nobody, refusal } from "./Scene.ts"

/** Answer to a call with a token. */
const opens = (token: string, path: string) =>
  Effect.map(
    staffCall("GET", `/backoffice/v1${path}`, undefined, { authorization: `Bearer ${token}` }),
    outcomeOf
  )

/** Answer to a call with a key. */
const serves = (key: { readonly key: string; readonly secret: string }, path = "/me") =>
  Effect.map(operatorWith(key).get(path), outcomeOf)

/** Brings the bootstrap token back when the scope closes: everything else here is done with it. */
const backFromRetirement = Effect.addFinalizer(() =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(sql`DELETE FROM bootstrap_retirement`))
)

export const accountCases: ReadonlyArray<CommandCase> = [
  {
    line: "staff create --name Eve",
    misused: ["staff create --name Eve --role king"],
    refused: [["staff create --name \"\"", "VALIDATION_FAILED"], ["staff create --name $long", "VALIDATION_FAILED"]],
    *works() {
      const admin = yield* done("staff create --name Eve")
      assert.deepInclude(admin, { name: "Eve", role: "admin", active: true })
      assert.deepStrictEqual(Object.keys(admin).toSorted(), [
        "active",
        "created_at",
        "created_by",
        "daily_budget",
        "has_password",
        "has_second_factor",
        "id",
        "last_used_at",
        "name",
        "operators",
        "role",
        "token",
        "token_expires_at",
        "token_issued_at",
        "token_issued_by"
      ])
      assert.strictEqual(yield* opens(admin.token, "/staff"), 200)
      for (const role of ["support", "payments", "compliance"]) {
        const account = yield* done(`staff create --name Sam --role ${role}`)
        assert.deepStrictEqual(
          [account.role, yield* opens(account.token, "/players"), yield* opens(account.token, "/staff")],
          [role, 200, "INSUFFICIENT_SCOPE"]
        )
      }
    },
    changes: () => Effect.succeed({ line: "staff create --name Eve --role support", differs: [] })
  },
  {
    line: "staff update $account",
    misused: ["staff update $account --active maybe", "staff update $account --role king", "staff update Eve"],
    refused: [
      [`staff update ${nobody} --active false`, "NOT_FOUND"],
      ["staff update $account --name \"\"", "VALIDATION_FAILED"]
    ],
    *works(scene) {
      const account = yield* done("staff create --name Eve --role support")
      const bound = yield* done(`staff update ${account.id} --operators $house --password "a password of Eve"`, scene)
      assert.deepStrictEqual([bound.operators, bound.has_password], [[scene.house.id], true])
      assert.strictEqual((yield* done(`staff update ${account.id} --operators all`)).operators, null)
      const off = yield* done(`staff update ${account.id} --active false --name "Eve B."`)
      assert.deepInclude(off, { name: "Eve B.", role: "support", active: false })
      assert.notProperty(off, "token")
      assert.strictEqual(yield* opens(account.token, "/players"), "INVALID_API_KEY")
      yield* done(`staff update ${account.id} --active true --role compliance`)
      assert.strictEqual(yield* opens(account.token, "/audit"), 200)
    },
    changes: () =>
      Effect.map(made("/staff", { name: "Eve", role: "support" }), ({ id }) => ({
        line: `staff update ${id} --role payments --active false`,
        differs: ["role", "active"]
      }))
  },
  {
    line: "staff rotate $account",
    misused: ["staff rotate Eve", "staff rotate $account --name x"],
    refused: [[`staff rotate ${nobody}`, "NOT_FOUND"]],
    *works() {
      const account = yield* done("staff create --name Eve --role support")
      const rotated = yield* done(`staff rotate ${account.id}`)
      assert.deepStrictEqual(Object.keys(rotated), Object.keys(account))
      assert.strictEqual(yield* opens(account.token, "/players"), "INVALID_API_KEY")
      assert.strictEqual(yield* opens(rotated.token, "/players"), 200)
    },
    changes: () =>
      Effect.map(made("/staff", { name: "Eve" }), ({ id }) => ({
        line: `staff rotate ${id}`,
        differs: ["token_issued_at", "token_issued_by", "token_expires_at"]
      }))
  },
  {
    line: "staff ticket",
    misused: ["staff ticket now", "staff ticket --staff Eve"],
    refused: [[`staff ticket --staff ${nobody}`, "NOT_FOUND"]],
    *works() {
      const account = yield* done("staff create --name Eve --role support")
      const { url } = yield* done(`staff ticket --staff ${account.id}`)
      const body = { ticket: new URL(url).searchParams.get("ticket") }
      const opened = yield* staffCall("POST", "/backoffice/v1/session/ticket", body, {})
      assert.deepStrictEqual([opened.status, opened.data.staff.id], [201, account.id])
    },
    changes: () =>
      Effect.map(made("/staff", { name: "Eve" }), ({ id }) => ({ line: `staff ticket --staff ${id}`, differs: [] }))
  },
  {
    line: "staff retire-bootstrap",
    misused: ["staff retire-bootstrap now", "staff retire-bootstrap --token-of me"],
    refused: [],
    *works({ tokens }) {
      yield* backFromRetirement
      assert.strictEqual(yield* opens(bootstrapToken, "/staff"), 200)
      const retired = yield* done("staff retire-bootstrap", undefined, tokens["admin"])
      assert.match(retired.retired_by, /^staff:\d+$/)
      assert.strictEqual(yield* opens(bootstrapToken, "/staff"), "INVALID_API_KEY")
      assert.deepStrictEqual(yield* done("staff retire-bootstrap", undefined, tokens["admin"]), retired)
    },
    changes: () => Effect.as(backFromRetirement, { line: "staff retire-bootstrap", differs: [] })
  },
  {
    line: "staff list",
    misused: ["staff list everybody", "staff list --colour red"],
    refused: [],
    *works() {
      const { token: _, ...account } = yield* done("staff create --name Eve")
      assert.deepInclude(yield* done("staff list"), account)
    }
  },
  {
    line: "staff colleagues",
    misused: ["staff colleagues everybody"],
    refused: [],
    *works({ names }) {
      const bound = yield* done(`staff create --name Eve --role support --operators ${names["rival"]}`)
      const other = yield* done(`staff create --name Ada --role support --operators ${names["house"]}`)
      const seen = { id: bound.id, name: "Eve", role: "support", active: true }
      assert.deepInclude(yield* done("staff colleagues"), seen)
      const ids = (yield* done("staff colleagues", undefined, bound.token)).map(({ id }: { readonly id: number }) => id)
      assert.include(ids, bound.id)
      assert.notInclude(ids, other.id)
    }
  },
  {
    line: "operator create --slug $fresh --name Lucky --currency EUR",
    misused: [
      "operator create --slug $fresh --name Lucky --currency EUR --cooperation-model friend",
      "operator create --slug $fresh --name Lucky --currency EUR --active maybe",
      "operator create --slug $fresh --name Lucky --currency EUR --cooling-off-hours soon",
      "operator create --slug $fresh --name Lucky --currency EUR --kyc-withdrawal-threshold much",
      "operator create --slug $fresh --name Lucky --currency EUR --disable-features everything",
      "operator create --slug $fresh --name Lucky --currency EUR --default-limits max_single_bet"
    ],
    refused: [
      ["operator create --slug $house --name Taken --currency EUR", "VALIDATION_FAILED"],
      ["operator create --slug \"Bad Slug\" --name Lucky --currency EUR", "VALIDATION_FAILED"],
      ["operator create --slug $fresh --name Lucky --currency XXX", "VALIDATION_FAILED"],
      ["operator create --slug $fresh --name Lucky --currency EUR --cooling-off-hours 9000", "VALIDATION_FAILED"],
      ["operator create --slug $fresh --name Lucky --currency EUR --default-limits max_fun=1", "VALIDATION_FAILED"],
      [`operator create --slug $fresh --name Lucky --currency EUR --licensee ${nobody}`, "VALIDATION_FAILED"]
    ],
    *works() {
      const slug = fresh("lucky-")
      const made = yield* done(`operator create --slug ${slug} --name Lucky --currency EUR`)
      const { created_at: _, id, updated_at: __, ...settings } = made
      assert.deepStrictEqual(settings, {
        slug,
        name: "Lucky",
        currency: "EUR",
        cooperation_model: "api",
        active: true,
        cooling_off_hours: 24,
        withdrawal_second_approval_above: null,
        kyc_withdrawal_threshold: null,
        forfeit_bonus_on_withdrawal: true,
        disabled_features: [],
        original_max_stake: 100_000,
        original_max_payout: 10_000_000,
        report_offset_hours: 0,
        daily_deposit_cap: null,
        daily_withdrawal_cap: null,
        profiles: ["none"],
        default_profile: "none",
        terms_version: null,
        is_sandbox: false,
        licensee_id: null,
        default_limits: {}
      })
      const test = yield* done(`operator create --slug ${fresh("test-")} --name Test --currency EUR --sandbox`)
      assert.isTrue(test.is_sandbox)
      assert.match((yield* done(`key create --operator ${test.id}`)).key, /^pk_test_/)
      const key = yield* done(`key create --operator ${id}`)
      const me = yield* operatorWith(key).get("/me")
      assert.deepInclude(me.data.operator, { id, slug, currency: "EUR", cooperation_model: "api" })
      const other = yield* done(
        `operator create --slug ${fresh("lucky-")} --name Lucky --currency SEK --cooperation-model turnkey ` +
          "--active false --cooling-off-hours 48 --withdrawal-second-approval-above 5 --kyc-withdrawal-threshold 0 " +
          "--forfeit-bonus-on-withdrawal false --disable-features bonuses,reports --default-limits max_balance=7,max_single_bet=5"
      )
      assert.deepInclude(other, {
        currency: "SEK",
        cooperation_model: "turnkey",
        active: false,
        cooling_off_hours: 48,
        withdrawal_second_approval_above: 5,
        kyc_withdrawal_threshold: 0,
        forfeit_bonus_on_withdrawal: false,
        disabled_features: ["bonuses", "reports"],
        default_limits: { max_single_bet: 5, max_balance: 7 }
      })
    },
    changes: () => Effect.succeed({ line: "operator create --slug $fresh --name Lucky --currency EUR", differs: [] })
  },
  {
    line: "operator setup $house",
    misused: ["operator setup"],
    refused: [["operator setup nobody", "NOT_FOUND"], [`operator setup ${nobody}`, "NOT_FOUND"]],
    *works() {
      const slug = fresh("new-")
      const operator = yield* done(`operator create --slug ${slug} --name New --currency EUR`)
      const { games, ...bare } = yield* done(`operator setup ${slug}`)
      assert.isAbove(games, 0)
      assert.deepInclude(bare, { operator_id: operator.id, keys: 0, webhooks: 0, first_call_at: null })
      assert.includeMembers(bare.missing, ["key", "webhook", "first_call"])
      const key = yield* done(`key create --operator ${slug}`)
      yield* done(`webhook create --operator ${slug} --url https://hooks.example/pitboss`)
      const equipped = yield* done(`operator setup ${slug}`)
      assert.deepInclude(equipped, { keys: 1, webhooks: 1, first_call_at: null })
      assert.notIncludeMembers(equipped.missing, ["key", "webhook"])
      // refused calls are no sign of a working key
      yield* operatorWith({ ...key, secret: "another" }).get("/me")
      assert.isNull((yield* done(`operator setup ${slug}`)).first_call_at)
      yield* operatorWith(key).get("/me")
      const called = yield* Effect.repeat(done(`operator setup ${slug}`), {
        until: ({ first_call_at: at }) => at !== null,
        schedule: Schedule.spaced("100 millis")
      })
      assert.notInclude(called.missing, "first_call")
    }
  },
  {
    line: "operator update $rival",
    misused: [
      "operator update $rival --active maybe",
      "operator update $rival --withdrawal-second-approval-above much",
      "operator update $rival --disable-features everything",
      "operator update $rival --report-offset-hours half",
      "operator update $rival --licensee everybody",
      "operator update $rival $house"
    ],
    refused: [
      ["operator update nobody --name X", "NOT_FOUND"],
      [`operator update ${nobody} --name X`, "NOT_FOUND"],
      ["operator update $rival --slug $house", "VALIDATION_FAILED"],
      ["operator update $rival --currency XXX", "VALIDATION_FAILED"],
      [`operator update $rival --licensee ${nobody}`, "VALIDATION_FAILED"],
      ["operator update $rival --report-offset-hours 15", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino({ cooperation_model: "turnkey" })
      yield* done(`operator update ${casino.slug} --active false`)
      assert.strictEqual(yield* serves(casino.key), "API_KEY_INACTIVE")
      yield* done(`operator update ${casino.id} --active true --disable-features bonuses`)
      assert.deepStrictEqual(
        [yield* serves(casino.key), yield* serves(casino.key, "/bonuses")],
        [200, "FEATURE_NOT_AVAILABLE"]
      )
      const freed = yield* done(`operator update ${casino.id} --disable-features none --cooling-off-hours 5`)
      assert.deepInclude(freed, { disabled_features: [], cooling_off_hours: 5 })
      assert.strictEqual(yield* serves(casino.key, "/bonuses"), 200)
      const { id } = yield* casino.register()
      yield* done(`operator update ${casino.id} --daily-deposit-cap 1500 --daily-withdrawal-cap 150`)
      assert.strictEqual(outcomeOf(yield* casino.deposit(id, 1501)), "PAYMENT_REQUEST_INVALID")
      dataOf(yield* casino.deposit(id, 1500), 201)
      const over = yield* casino.deposit(id, 1)
      assertRefused(over, 422, "PAYMENT_REQUEST_INVALID", { daily_deposit_cap: 1500, used: 1500 })
      dataOf(yield* casino.withdraw(id, 100), 201)
      const more = yield* casino.withdraw(id, 51)
      assertRefused(more, 422, "PAYMENT_REQUEST_INVALID", { daily_withdrawal_cap: 150, used: 100 })
      dataOf(yield* casino.withdraw(id, 50), 201)
      yield* done(`operator update ${casino.id} --daily-deposit-cap none --daily-withdrawal-cap none`)
      const bounded = yield* done(`operator update ${casino.id} --original-max-stake 50 --original-max-payout 600`)
      assert.deepInclude(bounded, { original_max_stake: 50, original_max_payout: 600 })
      const west = yield* done(`operator update ${casino.id} --report-offset-hours -5`)
      assert.deepInclude(west, { report_offset_hours: -5 })
      // amounts of the players there are count in the operator's currency
      const moved = yield* refusal(`operator update ${casino.id} --currency USD`)
      assert.deepInclude(moved, { code: "VALIDATION_FAILED" })
      yield* casino.deposit(id, 1000)
      yield* done(`operator update ${casino.id} --kyc-withdrawal-threshold 100`)
      assert.strictEqual(outcomeOf(yield* casino.withdraw(id, 101)), "KYC_REQUIRED")
      yield* done(`operator update ${casino.id} --kyc-withdrawal-threshold none`)
      assert.strictEqual(outcomeOf(yield* casino.withdraw(id, 101)), 201)
    },
    changes: () =>
      Effect.map(openCasino(), ({ slug }) => ({ line: `operator update ${slug} --name Luckier`, differs: ["name"] }))
  },
  {
    line: "licensee create --name $fresh",
    misused: ["licensee create"],
    refused: [],
    *works() {
      const name = fresh("licensee-")
      const made = yield* done(`licensee create --name ${name}`)
      assert.deepInclude(made, { name })
      assert.deepInclude(yield* refusal(`licensee create --name ${name}`), { code: "VALIDATION_FAILED" })
      const slug = fresh("lucky-")
      const operator = yield* done(
        `operator create --slug ${slug} --name Lucky --currency EUR --licensee ${made.id}`
      )
      assert.deepInclude(operator, { licensee_id: made.id })
      assert.deepInclude(yield* done(`operator update ${slug} --licensee none`), { licensee_id: null })
      assert.deepInclude(yield* done(`operator update ${slug} --licensee ${made.id}`), { licensee_id: made.id })
    },
    changes: () => Effect.succeed({ line: "licensee create --name $fresh", differs: [] })
  },
  {
    line: "licensee list",
    misused: ["licensee list all"],
    refused: [],
    *works() {
      const made = yield* done(`licensee create --name ${fresh("licensee-")}`)
      assert.deepInclude(yield* done("licensee list"), made)
    }
  },
  {
    line: "operator list",
    misused: ["operator list all"],
    refused: [],
    *works({ house, names }) {
      const listed: ReadonlyArray<{ readonly slug: string }> = yield* done("operator list")
      assert.includeMembers(listed.map(({ slug }) => slug), [house.slug, names["rival"] ?? ""])
    }
  },
  {
    line: "key create --operator $house",
    misused: [
      "key create --operator $house --scopes players:read,all",
      "key create --operator $house --rate-limit fast"
    ],
    refused: [
      ["key create --operator nobody", "NOT_FOUND"],
      ["key create --operator $house --ip 300.0.0.1", "VALIDATION_FAILED"],
      ["key create --operator $house --rate-limit 0", "VALIDATION_FAILED"],
      ["key create --operator $house --expires-at 2020-01-01T00:00:00Z", "VALIDATION_FAILED"],
      ["key create --operator $house --expires-at tomorrow", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const key = yield* done(`key create --operator ${house.slug} --name Main`)
      assert.deepInclude(key, {
        operator_id: house.id,
        name: "Main",
        ip_allowlist: [],
        rate_limit_per_minute: 600,
        expires_at: null,
        revoked_at: null
      })
      assert.strictEqual(key.scopes.length, 12)
      assert.strictEqual(yield* serves(key), 200)
      const narrow = yield* done(
        `key create --operator ${house.id} --scopes games:read --rate-limit 2 --expires-at 2099-01-01T00:00:00Z`
      )
      assert.strictEqual(narrow.expires_at, "2099-01-01T00:00:00.000Z")
      assert.deepStrictEqual(
        [yield* serves(narrow, "/bonuses"), yield* serves(narrow, "/games"), yield* serves(narrow, "/games")],
        ["INSUFFICIENT_SCOPE", 200, "RATE_LIMITED"]
      )
      const elsewhere = yield* done(`key create --operator ${house.id} --ip 192.0.2.1,10.0.0.0/8`)
      assert.strictEqual(yield* serves(elsewhere), "IP_NOT_ALLOWED")
    },
    changes: ({ house }) => Effect.succeed({ line: `key create --operator ${house.slug}`, differs: [] })
  },
  {
    line: "key update $key",
    misused: ["key update $key --scopes all", "key update $key --expires-at never"],
    refused: [
      ["key update nobody --name Reports", "NOT_FOUND"],
      ["key update $key --operator $rival", "NOT_FOUND"],
      ["key update $key --rate-limit 0", "VALIDATION_FAILED"],
      ["key update $revoked --name Reports", "INVALID_REQUEST"]
    ],
    *works({ house }) {
      const key = yield* made("/keys", { operator: house.slug, scopes: ["players:read"] })
      const changed = yield* done(`key update ${key.key} --scopes players:read,events:read --rate-limit 1200`)
      assert.deepInclude(changed, {
        scopes: ["players:read", "events:read"],
        rate_limit_per_minute: 1200,
        name: key.name
      })
      assert.deepStrictEqual(yield* done(`key update ${key.id} --name ${key.name.replace(" ", "")}`), {
        ...changed,
        name: "APIkey",
        updated_at: (yield* done(`key list --operator ${house.slug}`))[0].updated_at
      })
    },
    changes: ({ house }) =>
      Effect.map(
        made("/keys", { operator: house.slug }),
        ({ key }) => ({ line: `key update ${key} --name Reports`, differs: ["name"] })
      )
  },
  {
    line: "key rotate $key",
    misused: ["key rotate $key --secret mine"],
    refused: [
      ["key rotate nobody", "NOT_FOUND"],
      [`key rotate ${nobody}`, "NOT_FOUND"],
      ["key rotate $key --operator $rival", "NOT_FOUND"],
      ["key rotate $key --operator nobody", "NOT_FOUND"],
      ["key rotate $revoked", "INVALID_REQUEST"]
    ],
    *works({ house }) {
      const key = yield* made("/keys", { operator: house.slug })
      const rotated = yield* done(`key rotate ${key.key} --operator ${house.slug}`)
      assert.deepStrictEqual([rotated.key, rotated.id], [key.key, key.id])
      assert.deepStrictEqual([yield* serves(key), yield* serves(rotated)], ["INVALID_SIGNATURE", 200])
      assert.strictEqual(yield* serves(yield* done(`key rotate ${key.id}`)), 200)
    },
    changes: ({ house }) =>
      Effect.map(
        made("/keys", { operator: house.slug }),
        ({ key }) => ({ line: `key rotate ${key}`, differs: ["updated_at"] })
      )
  },
  {
    line: "key revoke $key",
    misused: ["key revoke $key again"],
    refused: [
      ["key revoke nobody", "NOT_FOUND"],
      [`key revoke ${nobody}`, "NOT_FOUND"],
      ["key revoke $key --operator $rival", "NOT_FOUND"]
    ],
    *works({ house }) {
      const key = yield* made("/keys", { operator: house.slug })
      const revoked = yield* done(`key revoke ${key.key}`)
      assert.isString(revoked.revoked_at)
      assert.strictEqual(yield* serves(key), "API_KEY_INACTIVE")
      assert.deepStrictEqual(yield* done(`key revoke ${key.key}`), revoked)
      assert.strictEqual((yield* refusal(`key rotate ${key.key}`)).code, "INVALID_REQUEST")
    },
    changes: ({ house }) =>
      Effect.map(
        made("/keys", { operator: house.slug }),
        ({ key }) => ({ line: `key revoke ${key}`, differs: ["revoked_at"] })
      )
  },
  {
    line: "key list",
    misused: ["key list mine"],
    refused: [["key list --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { secret: _, ...key } = casino.key
      assert.deepStrictEqual(yield* done(`key list --operator ${casino.slug}`), [key])
      assert.deepInclude(yield* done("key list"), key)
    }
  }
]
