import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAgent } from "../kit/E2eHttp.ts"
import { layerE2eServer, portOf } from "../kit/E2eServer.ts"
import { addGame, addStudio, addTenant, seat, type Seat } from "../kit/E2eWorld.ts"
import type { Call } from "../kit/HttpCalls.ts"

/** Headers that avoid the express lane: the same type in a spelling that it does not accept. */
const ordinary = { "content-type": "application/json;charset=UTF-8" }

const base = "/api/v1/provider/wallet"

/** A provider request by a name that becomes part of its ids. */
interface Scene {
  readonly path: string
  readonly body?: (seat: Seat, id: string) => unknown
  readonly raw?: string | Uint8Array
  readonly headers?: { readonly [name: string]: string }
}

const bet = ({ game, token }: Seat, id: string) => ({
  request_id: id,
  transaction_id: `${id}-bet`,
  session_token: token,
  game_id: game.externalId,
  round_id: id,
  amount: 100,
  currency: "EUR"
})

const free = (of: Seat, id: string) => ({ ...bet(of, id), is_free: true, campaign_id: "campaign" })

const win = ({ game, ref }: Seat, id: string) => ({
  request_id: id,
  transaction_id: `${id}-win`,
  player_ref: ref,
  game_id: game.externalId,
  round_id: id,
  bet_transaction_id: `${id}-bet`,
  amount: 250,
  currency: "EUR"
})

const rollback = ({ ref }: Seat, id: string) => ({
  request_id: id,
  transaction_id: `${id}-back`,
  player_ref: ref,
  target_transaction_id: `${id}-bet`
})

/** In sequence for one player: answers depend on the requests before. */
const scenes: ReadonlyArray<Scene> = [
  { path: "/authenticate", body: ({ token }) => ({ session_token: token }) },
  { path: "/authenticate", body: () => ({ session_token: "gs_none" }) },
  { path: "/authenticate", body: () => ({}) },
  { path: "/balance", body: ({ token }) => ({ session_token: token }) },
  { path: "/balance", body: ({ ref, token }) => ({ session_token: token, player_ref: ref }) },
  { path: "/balance", body: ({ ref }) => ({ player_ref: ref }) },
  { path: "/balance", body: () => ({ player_ref: "pr_none" }) },
  { path: "/balance", body: () => ({}) },
  { path: "/bet", body: bet },
  { path: "/bet", body: bet },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), amount: 101 }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), transaction_id: `${id}-much`, amount: 999_999_999 }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), transaction_id: `${id}-game`, game_id: "nobody's" }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), transaction_id: `${id}-session`, session_token: "gs_none" }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), transaction_id: `${id}-money`, currency: "USD" }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), amount: 0 }) },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), amount: 0, is_free: true }) },
  { path: "/bet", body: (of, id) => ({ ...free(of, id), transaction_id: `${id}-free` }) },
  { path: "/bet", body: free },
  {
    path: "/bet-win",
    body: (of, id) => ({
      ...free(of, id),
      transaction_id: `${id}-free`,
      win: { transaction_id: `${id}-free-win`, amount: 5 }
    })
  },
  {
    path: "/batch",
    body: (of, id) => ({ actions: [{ action: "bet", ...free(of, id), transaction_id: `${id}-free` }] })
  },
  { path: "/bet", body: () => ({}) },
  { path: "/bet", body: () => ({ amount: "1", currency: 7, round_closed: "no", session_token: null }) },
  { path: "/bet", body: () => [1, 2] },
  { path: "/bet", body: () => "text" },
  { path: "/bet", raw: "" },
  { path: "/bet", raw: "{" },
  { path: "/bet", raw: "null" },
  { path: "/bet", raw: "\ufeff{}" },
  { path: "/bet", raw: "{\"transaction_id\":\"\\u0000\\ud800\"}" },
  { path: "/bet", raw: new Uint8Array([0xff, 0xfe, 0x00, 0x7b]) },
  { path: "/bet", body: bet, headers: { "x-signature": "0".repeat(64) } },
  { path: "/bet", body: bet, headers: { "x-signature": "nothing" } },
  { path: "/bet", body: bet, headers: { "x-timestamp": "1" } },
  { path: "/bet", body: bet, headers: { "x-provider-key": "unknown" } },
  { path: "/bet", body: bet, headers: { "x-nonce": "n".repeat(200) } },
  { path: "/win", body: win },
  { path: "/win", body: win },
  { path: "/win", body: (of, id) => ({ ...win(of, id), player_ref: "pr_none" }) },
  { path: "/win", body: (of, id) => ({ ...win(of, id), player_ref: "pr_none", transaction_id: `${id}-lost` }) },
  { path: "/win", body: (of, id) => ({ ...win(of, id), bet_transaction_id: "never", transaction_id: `${id}-never` }) },
  { path: "/win", body: (of, id) => ({ ...win(of, id), amount: -1 }) },
  { path: "/rollback", body: rollback },
  { path: "/rollback", body: (of, id) => ({ ...rollback(of, id), target_transaction_id: `${id}-win` }) },
  {
    path: "/rollback",
    body: (of, id) => ({ ...rollback(of, id), transaction_id: `${id}-back-win`, target_transaction_id: `${id}-win` })
  },
  { path: "/rollback", body: rollback },
  {
    path: "/bet-win",
    body: (of, id) => ({
      ...bet(of, id),
      transaction_id: `${id}-both`,
      win: { transaction_id: `${id}-both-win`, amount: 5 }
    })
  },
  { path: "/bet-win", body: bet },
  { path: "/batch", body: (of, id) => ({ actions: [{ action: "bet", ...bet(of, id), transaction_id: `${id}-in` }] }) },
  { path: "/batch", body: (of, id) => ({ actions: [{ action: "bet", ...bet(of, id), amount: 7 }] }) },
  {
    path: "/batch",
    body: (of, id) => ({
      request_id: id,
      actions: [
        { action: "bet", ...bet(of, `${id}-all`) },
        { action: "win", ...win(of, `${id}-all`) },
        { action: "rollback", ...rollback(of, `${id}-all`), target_transaction_id: `${id}-all-win` }
      ]
    })
  },
  { path: "/batch", body: (of, id) => ({ actions: [{ action: "win", ...win(of, id), player_ref: "pr_none" }] }) },
  { path: "/batch", body: (of, id) => ({ actions: [{ action: "bet", ...bet(of, id), session_token: "gs_none" }] }) },
  { path: "/batch", body: () => ({ actions: [] }) },
  { path: "/batch", body: () => ({ actions: Array.from({ length: 101 }, () => ({})), request_id: 7 }) },
  { path: "/batch", body: () => ({ actions: Array.from({ length: 13_000 }, () => ({})) }) },
  { path: "/batch", body: () => ({ actions: Array.from({ length: 99 }, () => ({ action: "bet" })) }) },
  { path: "/bet", raw: `{"x":${"[".repeat(3000)}${"]".repeat(3000)}}` },
  { path: "/bet", body: () => Object.fromEntries(Array.from({ length: 5000 }, (_, name) => [`n${name}`, 1])) },
  {
    path: "/promo-win",
    body: ({ ref }, id) => ({
      request_id: id,
      transaction_id: `${id}-promo`,
      player_ref: ref,
      amount: 10,
      currency: "EUR",
      kind: "jackpot",
      campaign_id: "c"
    })
  },
  {
    path: "/round/close",
    body: ({ game, ref }, id) => ({ player_ref: ref, game_id: game.externalId, round_id: id })
  },
  { path: "/bet", body: (of, id) => ({ ...bet(of, id), transaction_id: `${id}-late` }) }
]

/** An answer without the values that differ between two players. */
const comparable = (text: string): unknown =>
  JSON.parse(
    text.replaceAll(/"wallet_transaction_ids":\[[\d,]*\]/g, "\"wallet_transaction_ids\":[]").replaceAll(
      /lane-[ab]/g,
      "lane"
    ).replaceAll(/"(server_time|player_ref|session_expires_at)":"[^"]*"/g, "\"$1\":\"\"")
  )

// Goal: answers do not reveal the path of a request. Method: the same requests, good and bad, for two players side by
// side, one in a spelling that the express lane accepts and one not; status and body must be the same.
layer(layerE2eServer, { timeout: "60 seconds" })("the express lane", (it) => {
  it.effect("answers as the router does", () =>
    Effect.gen(function*() {
      const port = yield* portOf
      const agent = yield* makeAgent()
      const tenant = yield* addTenant(agent, port, "lane")
      const studio = yield* addStudio(agent, port, "lane-studio")
      const game = yield* addGame(studio.id, "lane-game")
      const seats = yield* Effect.forEach(["a", "b"], (name) =>
        seat(tenant.call, studio.call, game, { username: `lane-${name}`, balance: 10_000 }))
      for (const [index, scene] of scenes.entries()) {
        const answers = yield* Effect.forEach(seats, (of, side) => {
          const body = scene.body?.(of, side === 0 ? "lane-a" : "lane-b")
          const call: Call = {
            method: "POST",
            ...(scene.raw === undefined ? { body } : { raw: scene.raw }),
            headers: { ...(side === 0 ? { "content-type": "application/json" } : ordinary), ...scene.headers }
          }
          return studio.call.send(`${base}${scene.path}`, call)
        })
        const [express, other] = answers.map(({ status, text }) => ({ status, body: comparable(text) }))
        assert.deepStrictEqual(express, other, `scene ${index}: ${scene.path}`)
      }
    }))
})
