import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SealedSecrets } from "../../src/auth/SealedSecrets.ts"
import { layerBackoffice } from "../../src/servers/Backoffice.ts"
import { PlayerNotes } from "../../src/features/players/PlayerNotes.ts"
import { withPersonal } from "../../src/store/EventData.ts"
import { Players } from "../../src/features/players/Players.ts"
import { Payments } from "../../src/features/payments/Payments.ts"
import { Wallet } from "../../src/features/wallet/Wallet.ts"
import { makeDeliveryStore } from "../../src/features/webhooks/internal/DeliveryStore.ts"
import { addOperator, layerTestService } from "../kit/TestService.ts"

const planted = {
  personalId: "YX-19.900101-4242",
  documentNumber: "Pass no. 77 431 882",
  info: "DE89 3704 0044 0532 0130 00",
  notes: "called from +356 2123 4567",
  bankName: "Bank of the Planted Value"
}

const render = (value: unknown) => ({ status: 201, body: JSON.stringify({ data: value }) })

const person = (username: string) => ({
  username,
  email: `${username}@example.com`,
  first_name: "Ada",
  last_name: `Player ${username}`,
  birth_date: "1990-01-01",
  country: "MT",
  personal_id: planted.personalId,
  document_number: planted.documentNumber,
  terms_accepted: true
})

/** All rows of all tables that hold one of the planted values, as text. */
const leaks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
  const found: Array<string> = []
  for (const { name } of tables) {
    for (const value of Object.values(planted)) {
      const rows = yield* sql`SELECT 1 FROM ${sql(name)} t WHERE position(${value} in t::text) > 0 LIMIT 1`
      if (rows.length > 0) found.push(`${name}: ${value}`)
    }
  }
  return found
})

const claim = (key: string) => ({
  scope: "operator:1",
  key,
  fingerprint: new Uint8Array(32).fill(key.length),
  isSecret: true
})

const live = layerBackoffice.pipe(Layer.provideMerge(layerTestService()))

// Goal: no table holds a personal number, a document, or account details of a payment in clear; and every feature that needs them still
// works. Method: planted values through the service, then a search of the whole database.
layer(live, { excludeTestServices: true })("personal data at rest", (it) => {
  it.effect("is in clear text in no table, is decrypted where it is shown, and still matches excluded identities", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const players = yield* Players
      const wallet = yield* Wallet
      const payments = yield* Payments
      const operator = yield* addOperator("one")
      const registered = yield* players.register(operator, person("ada"), {
        source: "api",
        claim: claim("register"),
        render
      })
      assert.strictEqual(registered._tag, "Registered")
      const playerId = registered._tag === "Registered" ? registered.player.id : 0
      const { payment } = yield* wallet.deposit(operator, playerId, {
        amount: 100,
        externalReference: "d1",
        paymentMethod: null,
        info: planted.info,
        notes: planted.notes
      }, { claim: claim("deposit"), render: ({ payment }) => render(payment) })
      assert.strictEqual(payment.info, planted.info)
      assert.deepStrictEqual(yield* leaks, [])

      const check = Effect.gen(function*() {
        assert.deepInclude(yield* players.get(operator.id, playerId), {
          personal_id: planted.personalId,
          document_number: planted.documentNumber
        })
        assert.deepInclude(yield* payments.get(operator.id, payment.id), { info: planted.info, notes: planted.notes })
        const { items } = yield* (yield* PlayerNotes).list(playerId, { limit: 10 })
        assert.deepStrictEqual(items.map(({ text }) => text), [planted.notes])
        const again = yield* players.register(operator, person("ada"), {
          source: "api",
          claim: claim("register"),
          render
        })
        assert.strictEqual(again._tag, "Replayed")
        assert.include(JSON.stringify(again), "YX-19.900101-4242")
      })
      yield* check

      // excluded players are matched by number alone, however it is written
      yield* sql`UPDATE players SET exclusion_type = 'self_exclusion', exclusion_since = now() WHERE id = ${playerId}`
      const other = { ...person("eve"), birth_date: "1977-07-07", first_name: "Eve", last_name: "Other" }
      const isRefused = (numbers: object) =>
        Effect.map(
          Effect.flip(players.register(operator, { ...other, ...numbers }, { source: "api", render })),
          ({ code }) => code
        )
      const byNumber = Effect.gen(function*() {
        assert.strictEqual(
          yield* isRefused({ personal_id: "yx19900101 4242", document_number: "another" }),
          "SELF_EXCLUDED_IDENTITY"
        )
        assert.strictEqual(
          yield* isRefused({ personal_id: "1", document_number: "pass no77-431-882" }),
          "SELF_EXCLUDED_IDENTITY"
        )
      })
      yield* byNumber

      // webhooks add the data that the event does not store
      yield* sql`INSERT INTO webhook_endpoints (id, operator_id, url, secret_sealed, created_at, updated_at)
        VALUES (1, ${operator.id}, 'https://example.com', '\\x00', now(), now())`
      yield* sql`INSERT INTO webhook_deliveries (id, event_id, endpoint_id, operator_id, status, next_attempt_at, created_at, updated_at)
        SELECT id, id, 1, operator_id, 'pending', now() - interval '1 minute', now(), now() FROM events`
      const store = yield* makeDeliveryStore
      const now = Date.now()
      const sent = yield* store.take({ free: [{ endpointId: 1, slots: 10 }], sender: 1, now, until: now + 1000 })
      const bodies = sent.map(({ event }) => event.data).join("\n")
      for (const value of [planted.personalId, planted.documentNumber, planted.info]) assert.include(bodies, value)

      const kinds = yield* (yield* SealedSecrets).survey
      for (const name of ["players", "payment_requests"]) {
        const kind = kinds.find(({ kind }) => kind === name)
        assert.deepStrictEqual(kind, { kind: name, total: 1, current: 1, previous: 0, unreadable: 0 })
      }
    }))

  it.effect("is added to an event that is read only in fields that the event has", () =>
    Effect.sync(() => {
      const found = { player: { personal_id: "1" }, payment: { info: "2" } }
      assert.deepStrictEqual(withPersonal({ player: { id: 1 }, payment: { info: null } }, found), {
        player: { id: 1 },
        payment: { info: "2" }
      })
    }))
})
