import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { command, layerBothServers } from "../kit/Backoffice.ts"
import { addGame, BothServers, made, registration, staffCall } from "../kit/Casino.ts"
import { operatorWith, send } from "../kit/HttpCalls.ts"
import { addProvider } from "../kit/Keys.ts"

// Goal: an unreadable secret is not the caller's error: play, rotation and signed calls answer 503, and staff see the cause
// and can repair it. Method: both servers; sealed values in the tables are corrupted, as by another key or a broken disk.

const api = "/backoffice/v1"
const Seeds = Schema.Struct({ retired: Schema.Array(Schema.String), server_seed_hash: Schema.String })

/** A column's sealed value with one bit flipped: unreadable. */
const spoiltIn = (column: string) => `set_bit(${column}, 240, 1 - get_bit(${column}, 240))`

layer(layerBothServers, { excludeTestServices: true })("secrets that cannot be decrypted", (it) => {
  it.effect(
    "a player's seeds can be retired by staff, after which the player can play again",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { publicPort } = yield* BothServers
        yield* made("/operators", { slug: "acme", name: "Acme", currency: "EUR" })
        const key = yield* made("/keys", { operator: "acme" })
        const operator = operatorWith(key)
        const { id } = (yield* operator.post("/players", registration("ada"))).data
        yield* operator.post(`/players/${id}/deposits`, { amount: 1000, external_reference: "d" })
        const { data: issued } = yield* operator.post(`/players/${id}/session-tokens`)
        const studio = yield* addProvider("house")
        const game = yield* addGame(studio.id, "coin", { original: "coin_flip" })
        const as = (path: string, body?: object) =>
          send(publicPort, `/api/v1/player${path}`, {
            ...(body === undefined ? {} : { body }),
            headers: { authorization: `Bearer ${issued.token}` }
          })
        const play = as(`/games/${game.id}/play`, { stake: 10, params: { side: "heads" } })

        const before = yield* as("/fairness")
        // a sealed seed that was never decrypted here, so that it is not cached
        yield* sql.unsafe(`UPDATE server_seeds SET server_seed_sealed =
        overlay(server_seed_sealed placing '\\x00000000'::bytea from 40)`)
        for (const refused of [yield* play, yield* as("/fairness/rotate", {})]) {
          assert.deepStrictEqual([refused.status, refused.code], [503, "TRY_AGAIN"], refused.text)
          assert.strictEqual(refused.details["reason"], "seed_unreadable")
          assert.strictEqual(refused.headers["retry-after"], "1")
        }
        const counted = yield* staffCall("GET", `${api}/secrets`)
        assert.deepInclude(
          counted.data.find(({ kind }: { readonly kind: string }) => kind.startsWith("server_seeds")),
          { total: 2, unreadable: 2 }
        )

        const retired = yield* command("player", "retire-seeds", String(id), "--reason", "the disk was broken")
        const { retired: hashes } = yield* Schema.decodeUnknownEffect(Seeds)(retired)
        assert.lengthOf(hashes, 2)
        assert.include(before.text, hashes[0] ?? "none")
        const played = yield* play
        assert.strictEqual(played.status, 200, played.text)
        assert.include(played.text, `"server_seed_hash":"${retired.server_seed_hash}"`)
        assert.strictEqual((yield* as("/fairness/rotate", {})).status, 200)
        // again: nothing is left to do
        assert.deepStrictEqual((yield* command("player", "retire-seeds", String(id), "--reason", "again")).retired, [])

        const { data: lines } = yield* staffCall("GET", `${api}/audit?player=${id}`)
        const mine = lines.filter(({ action }: { readonly action: string }) => action === "player.retire_seeds")
        assert.lengthOf(mine, 1)
        assert.deepInclude(mine[0], { actor: "staff:bootstrap", reason: "the disk was broken" })
        assert.deepStrictEqual(mine[0].after.lost, hashes)
        const verified = yield* staffCall("GET", `${api}/ledger/verification`)
        assert.deepStrictEqual(verified.data.violations, [])
        const rest = yield* staffCall("GET", `${api}/secrets`)
        assert.isTrue(rest.data.every(({ unreadable }: { readonly unreadable: number }) => unreadable === 0))
        // unneeded secrets are not reported: revealed seeds, revoked keys
        const needless = yield* made("/keys", { operator: "acme" })
        assert.strictEqual((yield* staffCall("POST", `${api}/keys/${needless.key}/revoke`)).status, 200)
        yield* sql.unsafe(
          `UPDATE api_keys SET secret_sealed = ${spoiltIn("secret_sealed")} WHERE key = '${needless.key}'`
        )
        yield* sql.unsafe(`UPDATE server_seeds SET server_seed_sealed = ${spoiltIn("server_seed_sealed")}
        WHERE retired_at IS NOT NULL AND NOT lost`)
        const { data: kinds } = yield* staffCall("GET", `${api}/secrets`)
        const countedOf = (name: string) => kinds.find(({ kind }: { readonly kind: string }) => kind === name)
        assert.deepInclude(countedOf("api_keys"), { total: 1, unreadable: 0 })
        assert.deepInclude(countedOf("server_seeds"), { total: 2, unreadable: 0 })
        assert.strictEqual(
          (yield* staffCall("POST", `${api}/players/${id}/retired-seeds`, {})).code,
          "VALIDATION_FAILED"
        )
        const nobody = yield* staffCall("POST", `${api}/players/9007199254740991/retired-seeds`, { reason: "x" })
        assert.strictEqual(nobody.code, "NOT_FOUND")
      }),
    120_000
  )

  it.effect("an API key whose secret cannot be decrypted answers 503 until it is rotated", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { logged } = yield* BothServers
      yield* made("/operators", { slug: "spoilt", name: "Spoilt", currency: "EUR" })
      const key = yield* made("/keys", { operator: "spoilt" })
      yield* sql.unsafe(`UPDATE api_keys SET secret_sealed = ${spoiltIn("secret_sealed")} WHERE key = '${key.key}'`)
      const refused = yield* operatorWith(key).get("/me")
      assert.deepStrictEqual([refused.status, refused.code], [503, "TRY_AGAIN"])
      assert.isTrue(logged.some((line) => line.includes("cannot be decrypted with this MASTER_KEY")))
      const { data: rotated } = yield* staffCall("POST", `${api}/keys/${key.key}/rotate`)
      assert.strictEqual((yield* operatorWith(rotated).get("/me")).status, 200)
    }))
})
