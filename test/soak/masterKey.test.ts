import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { makeFakeRegister } from "../../scripts/registers/FakeRegister.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { callWallet, dataOf, registration } from "../kit/Casino.ts"
import { callerOf, makeAgent, send } from "../kit/HttpCalls.ts"
import { codeOf, cookieOf, ofPages } from "../kit/StaffBrowser.ts"
import { startService } from "../kit/ServiceProcess.ts"
import {
  type Address,
  environmentAt,
  expectSame,
  freeAddress,
  operatorOf,
  playCasino,
  playOn,
  staff
} from "../kit/PlayedService.ts"
import { makeSink } from "../kit/WebhookSink.ts"

// Goal: a master key rotation is invisible to callers: keys, providers, webhooks, seeds, tokens, player
// refs and stored replies keep working; a service with the wrong key does not start. Method: the service as a process on a real
// database, again and again under other keys, after a casino has played; re-encryption is interrupted halfway once.

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString("base64")
const [oldKey, newKey, foreignKey] = [keyOf(1), keyOf(2), keyOf(3)]

type Keys = { readonly MASTER_KEY: string; readonly [name: string]: string }

const Key = Schema.Struct({ key: Schema.String, secret: Schema.String })

const Counts = Schema.Array(Schema.Struct({
  kind: Schema.String,
  total: Schema.Int,
  current: Schema.Int,
  previous: Schema.Int,
  unreadable: Schema.Int
}))

const Made = Schema.Struct({ id: Schema.Int })

/** Two accounts with browser sign-in: one has set up a second factor, the other has begun to. */
const enrolStaff = Effect.fnUntraced(function*(at: Address) {
  for (const isConfirmed of [true, false]) {
    const person = { name: `Person ${isConfirmed}`, password: "correct horse battery" }
    yield* staff(at, "/staff", Made, person)
    const post = (path: string, cookie: string, body: object) =>
      send(at.backofficePort, `/backoffice/v1${path}`, {
        method: "POST",
        body,
        headers: { cookie, "content-type": "application/json", ...ofPages }
      })
    const cookie = cookieOf(yield* post("/session", "", person))
    const begun = yield* post("/session/second-factor", cookie, {})
    if (!isConfirmed) continue
    const code = codeOf(String(begun.data.secret), yield* Clock.currentTimeMillis)
    assert.strictEqual((yield* post("/session/second-factor/confirm", cookie, { code })).status, 201)
  }
})

/** A register that gives its own code of a player, which is kept. */
const askRegister = Effect.fnUntraced(function*(at: Address, operator: ReturnType<typeof operatorOf>) {
  const fake = yield* makeFakeRegister({ kind: "cruks", isPlain: true })
  const registered = yield* operator.post(
    "/api/v1/operator/players",
    registration("asked", { personal_id: "123456782" })
  )
  const register = { operator: "acme", kind: "cruks", settings: fake.settings }
  const { id } = yield* staff(at, "/registers", Made, register)
  yield* staff(at, `/registers/${id}/test`, Made, { player: dataOf(registered, 201).id })
})

const Account = Schema.Struct({ token: Schema.String })

/** A player from another platform, with the hash of the password there. */
const importPlayer = Effect.fnUntraced(function*(at: Address) {
  const maker = yield* staff(at, "/staff", Account, { name: "Maker" })
  const checker = yield* staff(at, "/staff", Account, { name: "Checker" })
  const post = (path: string, body: object, { token }: typeof Account.Type = maker) =>
    Effect.map(
      send(at.backofficePort, `/backoffice/v1/import-runs${path}`, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }
      }),
      (reply) => dataOf(reply)
    )
  const { terms_accepted: _accepted, ...person } = registration("moved", { external_id: "moved" })
  const line = { ...person, created_at: "2024-01-02T03:04:05.000Z", balance: 0, password_hash: "hash" }
  const chunk = { number: 0, first_line: 1, lines: [JSON.stringify(line)] }
  const { id } = yield* post("", { operator: "acme", name: "moved", file_sha256: "0".repeat(64) })
  yield* post(`/${id}/chunks`, chunk)
  yield* post(`/${id}/propose`, { chunks: 1 })
  yield* post(`/${id}/approve`, {}, checker)
  assert.deepInclude(yield* post(`/${id}/chunks`, chunk), { posted: true, rejected: [] })
})

layer(layerOwnDatabase, { excludeTestServices: true })("a new master key", (it) => {
  it.effect(
    "replaces the old one by re-encryption, and cannot be used alone while secrets still need another key",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const url = yield* databaseUrl
        const agent = yield* makeAgent()
        const sink = yield* makeSink()
        const address = yield* freeAddress

        /** Runs an effect against a service with these keys, which shuts down cleanly afterwards. */
        const under = <A, E, R>(
          keys: Keys,
          what: (address: Address) => Effect.Effect<A, E, R>
        ) =>
          Effect.gen(function*() {
            const scope = yield* Scope.make()
            const started = startService({
              port: address.port,
              databaseUrl: url,
              environment: { ...environmentAt(address), ...keys }
            })
            const service = yield* Scope.provide(started, scope)
            const result = yield* what(address)
            service.kill("SIGTERM")
            yield* service.exited
            yield* Scope.close(scope, Exit.void)
            return result
          })
        const refused = (
          keys: Keys,
          why = /pitboss: MASTER_KEY cannot decrypt the secrets of this database/
        ) =>
          under(keys, () => Effect.void).pipe(
            Effect.matchEffect({
              onSuccess: () => Effect.sync(() => assert.fail("it started")),
              onFailure: (died) => Effect.sync(() => assert.match(died.message, why))
            })
          )
        const reseal = (at: Address) => staff(at, "/secrets/reseal", Counts, {})
        const survey = (at: Address) => staff(at, "/secrets", Counts)

        const casino = yield* under({ MASTER_KEY: oldKey }, (at) =>
          playCasino(agent, at, sink).pipe(
            Effect.tap(() => enrolStaff(at)),
            Effect.tap(() => importPlayer(at)),
            Effect.tap((played) => askRegister(at, operatorOf(agent, at, played)))
          ))
        // a database older than `kept_secrets` is checked by its other encrypted columns
        yield* sql`DELETE FROM kept_secrets`
        yield* refused({ MASTER_KEY: newKey })
        yield* refused(
          { MASTER_KEY: newKey, MASTER_KEY_PREVIOUS: oldKey },
          /pitboss: MASTER_KEY cannot be rotated yet: start once/
        )
        yield* under({ MASTER_KEY: oldKey }, () => Effect.void)
        yield* refused({ MASTER_KEY: newKey })
        yield* refused({ MASTER_KEY: newKey, MASTER_KEY_PREVIOUS: foreignKey })

        const both = { MASTER_KEY: newKey, MASTER_KEY_PREVIOUS: oldKey }
        yield* under(both, (at) =>
          Effect.gen(function*() {
            yield* expectSame(agent, at, casino)
            for (const { current, kind, previous, total, unreadable } of yield* survey(at)) {
              assert.deepStrictEqual([current, previous, unreadable], [0, total, 0], kind)
            }
            // interrupted in the middle: some secrets under one key, some under the other
            yield* sql.unsafe(`CREATE FUNCTION break_off() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'out of disk' USING ERRCODE = '53100'; END $$`)
            yield* sql.unsafe(`CREATE TRIGGER break_off BEFORE UPDATE OF server_seed_sealed ON server_seeds
            FOR EACH ROW EXECUTE FUNCTION break_off()`)
            const broken = yield* Effect.exit(reseal(at))
            assert.isTrue(Exit.isFailure(broken))
            yield* sql.unsafe("DROP TRIGGER break_off ON server_seeds")
            const half = yield* survey(at)
            assert.isAbove(half.reduce((sum, { current }) => sum + current, 0), 0)
            assert.isAbove(half.reduce((sum, { previous }) => sum + previous, 0), 0)
            yield* playOn(agent, at, casino, sink)
          }))
        // re-encryption is incomplete: the old key is still needed, and a service without it refuses to start
        yield* refused({ MASTER_KEY: newKey })

        const counted = yield* under(both, (at) =>
          Effect.gen(function*() {
            const first = yield* reseal(at)
            const again = yield* reseal(at)
            assert.deepStrictEqual(again, first)
            return first
          }))
        assert.deepStrictEqual(
          counted.map(({ kind }) => kind).sort(),
          (yield* sealedColumns).map((name) => kindOf(name)).toSorted(),
          "every column that holds something sealed is known"
        )
        for (const { current, kind, total } of counted) {
          assert.strictEqual(current, total, kind)
          assert.isAbove(total, 0, kind)
        }

        yield* refused({ MASTER_KEY: oldKey })
        yield* under({ MASTER_KEY: newKey }, (at) =>
          Effect.gen(function*() {
            const operator = operatorOf(agent, at, casino)
            assert.strictEqual((yield* operator.get("/api/v1/operator/me")).status, 200)
            for (const { playerId, ref, session } of casino.seated) {
              // tokens of the old key expire with it; player refs are permanent
              const studio = callerOf(agent, at.port, { header: "X-Provider-Key", ...casino.provider })
              assert.strictEqual(
                (yield* callWallet(studio, "authenticate", { session_token: session })).code,
                "INVALID_SESSION"
              )
              assert.strictEqual((yield* callWallet(studio, "balance", { player_ref: ref })).status, 200, `${playerId}`)
            }
          }))

        // the key is lost: an explicit setting allows the start, and unreadable secrets are renewed
        yield* refused({ MASTER_KEY: foreignKey })
        const me = "/api/v1/operator/me"
        yield* under({ MASTER_KEY: foreignKey, MASTER_KEY_LOST: "on" }, (at) =>
          Effect.gen(function*() {
            const answer = yield* operatorOf(agent, at, casino).get(me)
            assert.deepStrictEqual([answer.status, answer.code], [503, "TRY_AGAIN"])
            const renewed = yield* staff(at, `/keys/${casino.key.key}/rotate`, Key, {})
            const operator = callerOf(agent, at.port, { header: "X-Api-Key", ...renewed })
            assert.strictEqual((yield* operator.get(me)).status, 200)
          }))
        yield* under({ MASTER_KEY: foreignKey }, (at) =>
          Effect.map(survey(at), (kinds) => {
            assert.isAbove(kinds.reduce((sum, { unreadable }) => sum + unreadable, 0), 0)
          }))
      }),
    600_000
  )
})

/** Label of a database column in the counts of secrets. */
const kindOf = (name: string): string =>
  name.endsWith(".previous_secret_sealed")
    ? "webhook_endpoints_previous"
    : name.startsWith("staff.totp_")
    ? name.includes("pending") ? "staff_second_factors_pending" : "staff_second_factors"
    : name === "providers.settings_sealed"
    ? "provider_settings"
    : name.split(".")[0] ?? ""

/** All encrypted columns by the database's catalogue. */
const sealedColumns = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly name: string }>`SELECT table_name || '.' || column_name AS name
    FROM information_schema.columns WHERE table_schema = 'public' AND column_name LIKE '%sealed' ORDER BY 1`
  return found.map(({ name }) => name)
})
