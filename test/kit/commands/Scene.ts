/** Fixture of command tests, and helpers that run commands. */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import type { HttpServer } from "effect/http"
import type { SqlClient } from "effect/sql"
import type { RememberedEnds } from "../../../src/chain/Ends.ts"
import { ProviderProtocols } from "../../../src/features/integrations/ProviderSettings.ts"
import type { StaleRounds } from "../../../src/features/settlement/StaleRounds.ts"
import { type CommandOptions, layerCasinos, runHere, SharedCasino } from "../Backoffice.ts"
import {
  type BothServers,
  type Casino,
  casinoUnder,
  dataOf,
  fresh,
  made,
  openCasino,
  staff,
  staffCall,
  treasurerToken
} from "../Casino.ts"
import { type Calendar, pass } from "../Calendar.ts"
import { proposedImport } from "../ProposedImport.ts"
import { openFakeProvider } from "../FakeProvider.ts"
import { fakeProtocol, type FakeVendor } from "../FakeVendor.ts"

/** A house with one of everything, under the names that lines of commands use: `$player`. */
export interface SceneShape {
  readonly house: Casino
  readonly names: { readonly admin: string; readonly [name: string]: string }
  /** Of an account of each role. */
  readonly tokens: { readonly [role: string]: string }
  /** Of an account that was switched off. */
  readonly lostToken: string
  /** Behind the provider `$vendor` with the game `$book`. */
  readonly vendor: FakeVendor
}

export class Scene extends Context.Service<Scene, SceneShape>()("pitboss/test/Scene") {}

interface Names {
  readonly names: { readonly [name: string]: string }
}

export type Needs =
  | BothServers
  | Calendar
  | HttpServer.HttpServer
  | SqlClient.SqlClient
  | RememberedEnds
  | StaleRounds
  | Scope.Scope

/** One command with everything that is tried with it. */
export interface CommandCase {
  /** The noun, the verb and the least that the command needs. It is right in every way, and would work. */
  readonly line: string
  /** Lines with something that the command line itself does not understand. */
  readonly misused: ReadonlyArray<string>
  /** Lines that the service refuses, and how. */
  readonly refused: ReadonlyArray<readonly [line: string, code: string]>
  /** Runs the command and checks its effect. */
  readonly works: (scene: SceneShape) => Generator<Effect.Effect<unknown, unknown, Needs>, void, unknown>
  /** For a command that changes something: a line that does so now, and which fields are different after it; none: it creates. */
  readonly changes?: (
    scene: SceneShape
  ) => Effect.Effect<{ readonly line: string; readonly differs: ReadonlyArray<string> }, unknown, Needs>
}

/** An id that nothing has. */
export const nobody = "999999999"

/** The words of a line; quotes hold words together. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")

/** Words of a line with its names substituted. `$fresh` is a unique name. */
export const filled = ({ names }: Names, line: string): ReadonlyArray<string> =>
  wordsOf(line).map((word) =>
    word.replaceAll(/\$([a-z_]+)/g, (all, name: string) => name === "fresh" ? fresh("fresh-") : names[name] ?? all)
  )

/** Runs a line that must succeed; returns its output. */
export const done = Effect.fnUntraced(
  function*(line: string, scene: Names = { names: {} }, token?: string) {
    const { exitCode, stderr, stdout } = yield* runHere(filled(scene, line), token === undefined ? {} : { token })
    assert.deepStrictEqual([exitCode, stderr], [0, ""], `${line}: ${stderr}`)
    return JSON.parse(stdout)
  }
)

/** Runs a line that must be refused, in the form that is promised; gives the envelope's error. */
export const refusal = Effect.fnUntraced(function*(
  line: string,
  scene: Names = { names: {} },
  options: CommandOptions = {}
) {
  const { exitCode, stderr, stdout } = yield* runHere(filled(scene, line), options)
  assert.deepStrictEqual([exitCode, stdout], [1, ""], `${line}: ${stderr}`)
  const { error, ...rest } = JSON.parse(stderr)
  assert.deepStrictEqual([Object.keys(rest), Object.keys(error).toSorted()], [[], ["code", "details", "message"]], line)
  const { code, message }: { readonly code: string; readonly message: string } = error
  return { code, message }
})

/** The ways to leave out something that a line needs: a positional word, or a flag with its value. */
export const shortened = (line: string): ReadonlyArray<string> => {
  const [noun = "", verb = "", ...rest] = line.match(/"[^"]*"|\S+/g) ?? []
  const parts: Array<string> = []
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? ""
    parts.push(word.startsWith("--") ? `${word} ${rest[++index] ?? ""}` : word)
  }
  return parts.map((_, left) => [noun, verb, ...parts.filter((_, index) => index !== left)].join(" "))
}

/** `noun verb` of a line. */
export const commandOf = (line: string): string => line.split(" ").slice(0, 2).join(" ")

/** A withdrawal that waits, of a player of its own. */
export const heldWithdrawal = Effect.fnUntraced(function*(casino: Casino, amount = 100) {
  const { id: player } = yield* casino.register()
  dataOf(yield* casino.deposit(player, 1000), 201)
  const payment = dataOf(yield* casino.withdraw(player, amount), 201)
  return { player: Number(player), payment: Number(payment.id) }
})

/** A new bonus, granted to a new player. */
export const grantedBonus = Effect.fnUntraced(function*(casino: Casino) {
  const { id: player } = yield* casino.register()
  const bonus = yield* casino.newBonus()
  const granted = dataOf(yield* casino.grant(player, bonus.id), 201)
  return { player: Number(player), bonus: Number(bonus.id), granted: Number(granted.id) }
})

/** The alert of a new player's jackpot, raised with its credit. */
export const raisedAlert = Effect.fnUntraced(function*(casino: Casino) {
  yield* pass(1)
  const { id: player, ref: player_ref } = yield* casino.sit()
  const name = fresh("jackpot-")
  const named = { request_id: name, transaction_id: name, campaign_id: name, kind: "jackpot" }
  dataOf(yield* casino.callWallet("promo-win", { ...named, player_ref, amount: 10_000_001, currency: "EUR" }))
  const [alert] = yield* staff("GET", `/alerts?player=${player}`)
  return { player, alert: Number(alert.id) }
})

const makeScene = Effect.gen(function*() {
  const house = yield* SharedCasino
  const rival = yield* openCasino()
  const foreigner = yield* rival.register()
  const { payment: withdrawal, player } = yield* heldWithdrawal(house)
  const { bonus, granted } = yield* grantedBonus(house)
  const [deposit] = dataOf(yield* house.get(`/payments?player_id=${player}&type=deposit`))
  const { transaction_id: round } = dataOf(yield* (yield* house.sit(1000)).bet(100))
  const promo = yield* made("/promo-codes", { operator: house.slug, code: fresh("CODE"), bonus })
  const webhook = yield* made("/webhooks", { operator: house.slug, url: "https://hooks.example/in", active: false })
  const delivery = yield* staff("POST", `/webhooks/${webhook.id}/ping`)
  const [method] = yield* staff("GET", `/payment-methods?operator=${house.slug}`)
  const revoked = yield* made("/keys", { operator: house.slug })
  yield* staff("POST", `/keys/${revoked.id}/revoke`)
  // made now, so that it leaves no line in the log later
  yield* treasurerToken
  const tokens: { [role: string]: string } = {}
  const ids: { [role: string]: string } = {}
  for (const role of ["admin", "support", "payments", "compliance"]) {
    const account = yield* made("/staff", { name: role, role })
    tokens[role] = account.token
    ids[role] = String(account.id)
  }
  const { provider: atVendor, vendor } = yield* openFakeProvider
  const book = yield* made("/games", { provider: atVendor.slug, external_id: "book", name: "Book" })
  const freeRounds = yield* made("/free-rounds", { player, game: book.id, rounds: 10, stake: 20, valid_days: 7 })
  const strict = yield* openCasino({ withdrawal_second_approval_above: 0 })
  const waiting = yield* staffCall(
    "POST",
    `/backoffice/v1/players/${(yield* strict.register()).id}/corrections`,
    { amount: 5, reason: "gift" },
    { authorization: `Bearer ${tokens["payments"]}` }
  )
  const run = yield* proposedImport(house, tokens["payments"])
  const asking = yield* casinoUnder({ limits: { prompt: true } })
  const { data: [obligation] } = yield* asking.get(`/players/${(yield* asking.register()).id}/obligations`)
  const register = yield* made("/registers", {
    operator: house.slug,
    kind: "gamstop",
    settings: { url: "https://gamstop.example/v2", batch_url: "https://batch.gamstop.example/v2", api_key: "secret" }
  })
  const screening = yield* made("/screenings", {
    operator: house.slug,
    url: "https://screening.example/v1",
    api_key: "secret"
  })
  const lost = yield* made("/staff", { name: "Lost" })
  yield* staff("PATCH", `/staff/${lost.id}`, { active: false })
  const [{ alert }, { alert: closed }] = [yield* raisedAlert(house), yield* raisedAlert(house)]
  yield* staff("PATCH", `/alerts/${closed}`, { status: "closed" })
  const { id: leaver } = yield* house.register()
  yield* staff("POST", `/players/${leaver}/status`, { status: "closed", reason: "asked" })
  const opened = yield* made("/cases", { type: "aml", player })
  const reported = { reference: "R-1", authority: "FIU", submitted_at: "2026-11-20T10:00:00Z" }
  yield* staff("POST", `/cases/${opened.id}/sar`, reported)
  const names = {
    closed_player: String(leaver),
    case: String(opened.id),
    screening: String(screening.id),
    alert: String(alert),
    closed_alert: String(closed),
    house: house.slug,
    operator: house.slug,
    rival: rival.slug,
    foreigner: String(foreigner.id),
    key: house.key.key,
    revoked: revoked.key,
    studio: house.studio.slug,
    slots: String(house.slots.id),
    round: String(round),
    vendor: atVendor.slug,
    book: String(book.id),
    free_rounds: String(freeRounds.id),
    run: String(run.id),
    player: String(player),
    deposit: String(deposit.id),
    withdrawal: String(withdrawal),
    bonus: String(bonus),
    granted: String(granted),
    promo: String(promo.id),
    code: String(promo.code),
    webhook: String(webhook.id),
    delivery: String(delivery.id),
    method: String(method.id),
    account: String(lost.id),
    correction: String(waiting.data.id),
    obligation: String(obligation.id),
    register: String(register.id),
    admin: ids["admin"] ?? "",
    long: "x".repeat(300)
  }
  return { house, names, tokens, lostToken: String(lost.token), vendor } satisfies SceneShape
})

/** Both servers with a scene on them, by the calendar of the test. Providers may have a protocol of the test's own. */
export const layerScene = Layer.effect(Scene, makeScene).pipe(
  Layer.provideMerge(layerCasinos),
  Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol]))
)
