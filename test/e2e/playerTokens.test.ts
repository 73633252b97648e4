import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Credentials } from "../../src/auth/Credentials.ts"
import { PlayerAccounts } from "../../src/features/players/PlayerAccounts.ts"
import type { Reply, Signer } from "../kit/HttpCalls.ts"
import { addApiKey } from "../kit/Keys.ts"
import {
  call,
  dataOf,
  issueToken,
  layerPublicApi,
  noon,
  openGame,
  openOperator,
  playerCall,
  register
} from "../kit/PublicApi.ts"

// Goal: every row of SPEC section 5.4: what becomes of a token when something happens to its key, its operator, its player or its time.
// Method: a table. For each row a player with a token of one hour, what happens, and then what reading, launching and asking for
// another token answer.

interface Subject {
  readonly key: Signer & { readonly id: number }
  readonly operatorId: number
  readonly playerId: number
}

const changed = Effect.flatMap(Credentials, (credentials) => Effect.sync(() => credentials.invalidate()))

const setKey = (column: string, value: Date | number) =>
  Effect.fnUntraced(function*({ key }: Subject) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE api_keys SET ${sql(column)} = ${value} WHERE id = ${key.id}`
    yield* changed
  })

const setStatus = (status: string) =>
  Effect.fnUntraced(function*({ key, playerId }: Subject) {
    dataOf(yield* call(key, `/players/${playerId}/status`, { method: "PUT", body: { status } }))
  })

const exclude = (body: object) =>
  Effect.fnUntraced(function*({ key, playerId }: Subject) {
    dataOf(yield* call(key, `/players/${playerId}/self-exclusion`, { body }))
  })

const restrict = (restrictions: { readonly canLogin?: boolean; readonly canBet?: boolean }) =>
  Effect.fnUntraced(function*({ playerId }: Subject) {
    yield* (yield* PlayerAccounts).restrict(playerId, { restrictions, actor: "staff:1" })
  })

const signOut = Effect.fnUntraced(function*({ key, playerId }: Subject) {
  const data = dataOf(yield* call(key, `/players/${playerId}/session-tokens`, { method: "DELETE" }))
  assert.deepStrictEqual(data, { player_id: playerId, sessions_ended_at: noon })
})

const signOutByPlayer = Effect.fnUntraced(function*({ key, playerId }: Subject) {
  const token = yield* issueToken(key, playerId)
  dataOf(yield* playerCall(token, "/session-tokens", { method: "DELETE" }))
})

const inTurn = <E, R, E2, R2>(
  first: (subject: Subject) => Effect.Effect<void, E, R>,
  second: (subject: Subject) => Effect.Effect<void, E2, R2>
) =>
(subject: Subject) => Effect.andThen(first(subject), second(subject))

const dead = "401 INVALID_PLAYER_TOKEN"
const restricted = (reason: string) => `422 PLAYER_RESTRICTED ${reason}`

const said = ({ code, details: { reason }, status }: Reply): string =>
  [String(status), code, typeof reason === "string" ? reason : undefined].filter((part) => part !== undefined).join(" ")

layer(layerPublicApi)("SPEC 5.4, row by row", (it) => {
  const rows = [
    ["nothing", () => Effect.void, "200", "200", "201"],
    ["almost its whole time", () => TestClock.adjust("3599999 millis"), "200", "200", "201"],
    ["its time", () => TestClock.adjust("1 hour"), dead, dead, "201"],
    ["its key is revoked", setKey("revoked_at", new Date(noon)), dead, dead, "401 API_KEY_INACTIVE"],
    ["its key expires", setKey("expires_at", new Date(noon)), dead, dead, "401 API_KEY_INACTIVE"],
    ["its key will expire", setKey("expires_at", new Date("2026-11-20T12:00:01Z")), "200", "200", "201"],
    [
      "its operator is switched off",
      ({ operatorId }: Subject) =>
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => Effect.andThen(sql`UPDATE operators SET active = false WHERE id = ${operatorId}`, changed)
        ),
      dead,
      dead,
      "401 API_KEY_INACTIVE"
    ],
    ["its key was rotated", setKey("rotated_at", new Date(noon)), dead, dead, "201"],
    ["its account is locked", setStatus("locked"), dead, dead, restricted("locked")],
    ["its account is closed", setStatus("closed"), dead, dead, restricted("closed")],
    ["its account was locked, and is open again", inTurn(setStatus("locked"), setStatus("active")), dead, dead, "201"],
    ["its account was closed, and is open again", inTurn(setStatus("closed"), setStatus("active")), dead, dead, "201"],
    ["its operator signs the player out", signOut, dead, dead, "201"],
    ["its player signs out everywhere", signOutByPlayer, dead, dead, "201"],
    ["its player takes a time-out", exclude({ period: "24_hours" }), dead, dead, restricted("time_out")],
    ["its player is excluded", exclude({ period: "6_months" }), dead, dead, restricted("self_exclusion")],
    [
      "its player closes the account",
      exclude({ until: "2027-11-20T12:00:00Z", type: "self_closure" }),
      dead,
      dead,
      restricted("self_closure")
    ],
    ["its player may not log in", restrict({ canLogin: false }), dead, dead, restricted("can_login")],
    [
      "its player might not log in, and may again",
      inTurn(restrict({ canLogin: false }), restrict({ canLogin: true })),
      dead,
      dead,
      "201"
    ],
    ["its player may not bet", restrict({ canBet: false }), "200", restricted("can_bet"), "201"],
    [
      "its key has no requests left",
      setKey("rate_limit_per_minute", 1),
      "429 RATE_LIMITED",
      "429 RATE_LIMITED",
      "429 RATE_LIMITED"
    ]
  ] as const

  for (const [index, [what, happens, reading, launching, another]] of rows.entries()) {
    it.effect(`${what}: ${reading}, ${launching}, ${another}`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse(noon))
        const { key, operator } = yield* openOperator(`row-${index}`)
        const game = yield* openGame(`row-${index}`)
        const { id } = yield* register(key, "ada")
        const token = yield* issueToken(key, id, { ttl_minutes: 60 })
        yield* happens({ key, operatorId: operator.id, playerId: id })
        const answers = [
          yield* playerCall(token, "/me"),
          yield* playerCall(token, "/wallet"),
          yield* playerCall(token, "/transactions"),
          yield* playerCall(token, `/games/${game.id}/launch`, { body: {} }),
          yield* call(key, `/players/${id}/session-tokens`, { body: {} })
        ]
        assert.deepStrictEqual(answers.map(said), [reading, reading, reading, launching, another])
        for (const { headers, status } of answers) {
          assert.match(headers["content-type"] ?? "", /^application\/json/)
          assert.isDefined(headers["x-request-id"])
          assert.match(headers["x-ratelimit-limit"] ?? "", /^\d+$/)
          assert.match(headers["x-ratelimit-remaining"] ?? "", /^\d+$/)
          assert.strictEqual(headers["retry-after"] !== undefined, status === 429)
        }
      }))
  }

  it.effect("of a key that nobody knows nothing is told but the refusal; another key's count is its own", () =>
    Effect.gen(function*() {
      const { key, operator } = yield* openOperator("counts", { rateLimit: 100 })
      const other = yield* addApiKey(operator.id, { rateLimit: 50 })
      const { id } = yield* register(key, "ada") // 1
      const [mine, theirs] = [yield* issueToken(key, id), yield* issueToken(other, id)] // 2 and 1
      const left = (reply: Reply) => [reply.headers["x-ratelimit-limit"], reply.headers["x-ratelimit-remaining"]]
      assert.deepStrictEqual(left(yield* playerCall(mine, "/me")), ["100", "97"])
      assert.deepStrictEqual(left(yield* playerCall(theirs, "/me")), ["50", "48"])
      // refused for what it asks, it counts; refused for its token, it does not
      assert.deepStrictEqual(left(yield* playerCall(mine, "/transactions?page=0")), ["100", "96"])
      yield* TestClock.adjust("31 minutes")
      assert.deepStrictEqual(left(yield* playerCall(mine, "/me")), ["100", "100"])
      const forged = yield* playerCall(`${mine}A`, "/me")
      assert.deepStrictEqual([said(forged), ...left(forged)], [dead, undefined, undefined])
      assert.isDefined(forged.headers["x-request-id"])
    }))
})
