import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerCasinos } from "../kit/Backoffice.ts"
import { dataOf, openCasino, staff } from "../kit/Casino.ts"

// Goal: KYC verification never covers an unverified name or birth date. Method: verify a player, change the identity by
// the operator's API, field by field; and verify again while the name changes.

layer(layerCasinos, { excludeTestServices: true })("a verified player whose name or birth date changes", (it) => {
  it.effect("returns to pending_review with event and audit line; changes of other fields leave the verification as it is", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 100 })
      const { id } = yield* casino.register()
      dataOf(yield* casino.deposit(id, 10_000), 201)
      const verify = Effect.gen(function*() {
        const { kyc_status } = dataOf(yield* casino.get(`/players/${id}`))
        if (kyc_status !== "pending_review") yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review" })
        yield* staff("POST", `/players/${id}/kyc`, { status: "verified", document_expires_on: "2099-01-01" })
      })
      const change = (body: { readonly [field: string]: unknown }) =>
        Effect.map(casino.patch(`/players/${id}`, body), (answer) => dataOf(answer))
      yield* verify
      for (const body of [{ country: "SE", phone: "+46701234567" }, { city: "Malmö", address: "Storgatan 1" }]) {
        assert.deepInclude(yield* change(body), { kyc_status: "verified", is_verified: true })
      }
      const same = dataOf(yield* casino.get(`/players/${id}`))
      assert.isTrue((yield* change({ first_name: same.first_name, birth_date: same.birth_date })).is_verified)
      let taken = 0
      for (const body of [{ first_name: "Mallory" }, { last_name: "Stranger" }, { birth_date: "1970-01-02" }]) {
        yield* verify
        dataOf(yield* casino.withdraw(id, 101), 201)
        assert.deepInclude(yield* change(body), { ...body, kyc_status: "pending_review", is_verified: false })
        assert.strictEqual((yield* casino.withdraw(id, 101)).status, 422, "the withdrawal asks for verification")
        const events = yield* sql<{ readonly data: { readonly [field: string]: unknown } }>`SELECT data FROM events
          WHERE player_id = ${id} AND type = 'kyc.status_changed' ORDER BY id DESC LIMIT 1`
        assert.deepInclude(events[0]?.data, {
          previous_status: "verified",
          status: "pending_review",
          is_verified: false
        })
        const lines = yield* sql<
          { readonly before: unknown; readonly after: unknown }
        >`SELECT before, after FROM audit_log
          WHERE player_id = ${id} AND action = 'player.kyc' AND actor LIKE 'key:%'`
        assert.lengthOf(lines, ++taken)
        assert.deepStrictEqual(lines[0], {
          before: { kyc_status: "verified" },
          after: { kyc_status: "pending_review" }
        })
      }
    }))

  it.effect("is never verified under the new name, whatever the order of simultaneous requests", () =>
    Effect.gen(function*() {
      const casino = yield* openCasino()
      for (let round = 0; round < 10; round++) {
        const { id } = yield* casino.register()
        yield* staff("POST", `/players/${id}/kyc`, { status: "pending_review" })
        yield* staff("POST", `/players/${id}/kyc`, { status: "verified" })
        yield* Effect.all(
          Array.from({ length: 3 }, (_, index) => casino.patch(`/players/${id}`, { first_name: `Mallory ${index}` })),
          { concurrency: "unbounded" }
        )
        assert.isFalse(dataOf(yield* casino.get(`/players/${id}`)).is_verified)
      }
    }))
})
