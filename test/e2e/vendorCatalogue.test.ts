import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ProviderProtocols } from "../../src/features/integrations/ProviderSettings.ts"
import { VendorTasks } from "../../src/features/providers/VendorTasks.ts"
import type { CatalogueGame } from "../../src/protocols/Protocol.ts"
import { command, layerBothServers, runHere } from "../kit/Backoffice.ts"
import { dataOf, fresh, made, openCasino, staff, staffCall } from "../kit/Casino.ts"
import { signedCall } from "../kit/HttpCalls.ts"
import { openFakeProvider } from "../kit/FakeProvider.ts"
import { amount, bareProtocol, fakeProtocol } from "../kit/FakeVendor.ts"
import { soon } from "../kit/WebhookSink.ts"

// Goal: the catalogue follows the vendor's and keeps staff's switches; a day on which the vendor and the ledger disagree is
// reported, transaction by transaction. Method: both servers over HTTP, a vendor of the test's own; days and jobs are moved in the
// database, since the clock is the real one.

const live = layerBothServers.pipe(Layer.provide(Layer.succeed(ProviderProtocols, [fakeProtocol, bareProtocol])))

const game = (externalId: string, more: Partial<CatalogueGame> = {}): CatalogueGame => ({
  externalId,
  name: `Game ${externalId}`,
  type: "rng",
  category: "slots",
  rtp: 96.5,
  thumbnailUrl: null,
  ...more
})

const openVendor = Effect.gen(function*() {
  const { provider, vendor } = yield* openFakeProvider
  const slug = String(provider.slug)
  /** Games of the provider by external id. */
  const games = Effect.map(
    staff("GET", `/games?provider=${slug}&per_page=100`),
    (found: ReadonlyArray<{ readonly external_id: string }>) => (externalId: string): object =>
      found.find((one) => one.external_id === externalId) ?? {}
  )
  return {
    vendor,
    provider,
    slug,
    games,
    sync: (...flags: ReadonlyArray<string>) => command("provider", "sync", slug, flags)
  }
})

const codeOf = (stderr: string): string => JSON.parse(stderr).error.details.reason

layer(live, { excludeTestServices: true })("vendor synchronisation", (it) => {
  it.effect("adds, changes and disables games, and keeps those that staff enabled or disabled", () =>
    Effect.gen(function*() {
      const { games, slug, sync, vendor } = yield* openVendor
      vendor.games = [game("a"), game("b"), game("c")]
      assert.deepStrictEqual(yield* sync(), {
        games: 3,
        added: ["a", "b", "c"],
        changed: [],
        gone: [],
        unreadable: 0,
        not_taken: []
      })
      const added = yield* games
      assert.deepInclude(added("a"), { name: "Game a", type: "rng", rtp: 96.5, active: false, category: "slots" })
      yield* command("game", "update", String(Object(added("a")).id), "--active", "true")
      yield* command("game", "update", String(Object(added("b")).id), "--active", "true")

      vendor.games = [
        game("a", { name: "Renamed", rtp: null, thumbnailUrl: "https://img.example/a.png" }),
        game("c"),
        game("d", { type: "live", category: "roulette" })
      ]
      assert.deepStrictEqual(yield* sync("--activate"), {
        games: 3,
        added: ["d"],
        changed: ["a"],
        gone: ["b"],
        unreadable: 0,
        not_taken: []
      })
      const followed = yield* games
      assert.deepInclude(followed("a"), {
        name: "Renamed",
        rtp: null,
        thumbnail_url: "https://img.example/a.png",
        active: true
      })
      assert.deepInclude(followed("b"), { active: false })
      assert.deepInclude(followed("c"), { active: false })
      assert.deepInclude(followed("d"), { type: "live", category: "live", vendor_category: "roulette", active: true })
      assert.deepInclude(yield* sync(), { added: [], changed: [], gone: [] })
      const [line] = yield* staff("GET", "/audit?action=provider.sync")
      assert.deepInclude(line.after, { games: 3, added: 0, changed: 0, gone: 0 })
      assert.isAbove((yield* command("game", "list", "--provider", slug)).length, 0)
    }))

  it.effect("imports a catalogue without its invalid games", () =>
    Effect.gen(function*() {
      const { games, sync, vendor } = yield* openVendor
      vendor.games = [
        game("good", { name: "Line\nbreak", thumbnailUrl: "http://img.example/a.png", rtp: 965 }),
        game("good", { name: "Twice" }),
        game(""),
        game("x".repeat(129)),
        game("tab\t"),
        game("nameless", { name: " ", category: "" }),
        game("unseen", { thumbnailUrl: "https://img.example/\0.png" })
      ]
      const { not_taken: left, ...report } = yield* sync()
      assert.deepInclude(report, { games: 3, added: ["good", "nameless", "unseen"], unreadable: 4 })
      assert.deepStrictEqual(left, [
        { id: "good", reason: "named twice: the last one was taken" },
        ...["", "x".repeat(128), "tab"].map((id) => ({ id, reason: "the id must be one line of 1 to 128 characters" }))
      ])
      const found = yield* games
      assert.deepInclude(found("good"), { name: "Twice" })
      assert.deepInclude(found("nameless"), { name: "nameless", category: "slots" })
      assert.deepInclude(found("unseen"), { thumbnail_url: null })
      vendor.games = Array.from({ length: 1201 }, (_, index) => game(`many-${index}`))
      const { added, gone } = yield* sync()
      assert.deepStrictEqual([added.length, gone.length], [1201, 0])
      vendor.games = vendor.games.map((one) => ({ ...one, name: `New ${one.externalId}` }))
      assert.strictEqual((yield* sync()).changed.length, 1201)
    }))

  it.effect("reports games that were not imported, and disables games that the vendor has withdrawn, but none with an unreadable entry", () =>
    Effect.gen(function*() {
      const { games, sync, vendor } = yield* openVendor
      vendor.games = ["a", "b", "c"].map((id) => game(id))
      yield* sync("--activate")
      vendor.games = [game("a")]
      vendor.odd = [{ id: "b", reason: "name: Missing key" }, { id: null, reason: "id: Missing key" }]
      vendor.withdrawn = [{ id: "c", reason: "enabled: false" }]
      assert.deepStrictEqual(yield* sync(), {
        games: 1,
        added: [],
        changed: [],
        gone: ["c"],
        unreadable: 2,
        not_taken: [...vendor.odd, ...vendor.withdrawn]
      })
      const found = yield* games
      assert.deepStrictEqual(["a", "b", "c"].map((id) => Object(found(id)).active), [true, true, false])
      // a line that is no game's, as of a studio with all of its games, may stand for any that is not listed
      for (const id of [null, "studio"]) {
        vendor.odd = [{ id, reason: "games: Missing key" }]
        vendor.withdrawn = []
        assert.deepInclude(yield* sync(), { gone: [], unreadable: 1 }, String(id))
      }
      vendor.odd = []
      assert.deepInclude(yield* sync(), { gone: ["b"] })
    }))

  it.effect("changes nothing when the catalogue is empty, refused or unavailable", () =>
    Effect.gen(function*() {
      const { slug, sync, vendor } = yield* openVendor
      vendor.games = [game("a")]
      yield* sync("--activate")
      const refused = Effect.map(runHere(["provider", "sync", slug]), ({ exitCode, stderr }) => {
        assert.strictEqual(exitCode, 1)
        return JSON.parse(stderr).error
      })
      for (const none of [[], [game("x".repeat(129))]]) {
        vendor.games = none
        assert.strictEqual((yield* refused).details.reason, "empty_catalogue")
      }
      vendor.mood = { no: "CASINO_CLOSED" }
      assert.deepInclude((yield* refused).details, { reason: "vendor", vendor: "CASINO_CLOSED" })
      vendor.mood = { status: 500 }
      assert.strictEqual((yield* refused).code, "TRY_AGAIN")
      const settings = { games_url: "https://games.example" }
      const bare = yield* made("/providers", { slug: fresh("bare-"), name: "Bare", protocol: "bare", settings })
      const own = yield* made("/providers", { slug: fresh("own-"), name: "Own" })
      for (const [name, reason] of [[bare.slug, "no_catalogue"], [own.slug, "own_protocol"]]) {
        assert.strictEqual(codeOf((yield* runHere(["provider", "sync", String(name)])).stderr), reason)
      }
      assert.strictEqual(
        codeOf((yield* runHere(["provider", "reconcile", bare.slug, "--date", "2026-01-01"])).stderr),
        "no_feed"
      )
    }))

  it.effect("reads the catalogue on schedule, and retries after a failure", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vendorTasks = yield* VendorTasks
      const { provider, vendor } = yield* openVendor
      const id = Number(provider.id)
      vendor.games = [game("a")]
      const dueOf = Effect.map(
        sql<{ readonly hours: number }>`SELECT round(extract(epoch FROM next_at - now()) / 3600)::float8 AS hours
          FROM vendor_tasks WHERE provider_id = ${id} AND kind = 'sync'`,
        ([row]) => row?.hours
      )
      // the providers of this file were created just now: none of them is due
      yield* vendorTasks.runDue
      assert.isUndefined(yield* dueOf)
      yield* sql`UPDATE providers SET created_at = now() - interval '24 hours', sync_hours = 6 WHERE id = ${id}`
      vendor.mood = { status: 503 }
      assert.strictEqual(yield* vendorTasks.runDue, 2)
      assert.strictEqual(yield* dueOf, 1)
      vendor.mood = "good"
      assert.strictEqual(yield* vendorTasks.runDue, 0)
      yield* sql`UPDATE vendor_tasks SET next_at = now() - interval '1 second' WHERE provider_id = ${id} AND kind = 'sync'`
      // the service's job does not wait for a vendor
      vendor.mood = "hang"
      const asked = vendor.asked.length
      assert.deepStrictEqual(yield* vendorTasks.start, { done: 0, hasMore: false })
      yield* soon(() => vendor.asked.length > asked)
      assert.strictEqual(yield* dueOf, 2, "it is taken until it ends")
      assert.deepStrictEqual(yield* vendorTasks.start, { done: 0, hasMore: false })
      assert.strictEqual(vendor.asked.length, asked + 1)
      vendor.cut()
      assert.strictEqual(yield* vendorTasks.runDue, 0)
      assert.strictEqual(yield* dueOf, 1)
      vendor.mood = "good"
      yield* sql`UPDATE vendor_tasks SET next_at = now() - interval '1 second' WHERE provider_id = ${id} AND kind = 'sync'`
      assert.strictEqual(yield* vendorTasks.runDue, 1)
      assert.strictEqual(yield* dueOf, 6)
      const { data } = yield* staffCall("GET", `/backoffice/v1/games?provider=${id}`)
      assert.deepInclude(Object(data[0]), { external_id: "a", active: false })
      yield* sql`UPDATE providers SET sync_hours = 0 WHERE id = ${id}`
      yield* sql`UPDATE vendor_tasks SET next_at = now() - interval '1 second' WHERE provider_id = ${id} AND kind = 'sync'`
      assert.strictEqual(yield* vendorTasks.runDue, 0)
    }))

  it.effect("compares the vendor's transactions of a day with the ledger", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vendorTasks = yield* VendorTasks
      const casino = yield* openCasino()
      const { provider, slug, vendor } = yield* openVendor
      const book = yield* made("/games", { provider: slug, external_id: "book", name: "Book" })
      const { id: player } = yield* casino.register()
      dataOf(yield* casino.deposit(player, 100_000), 201)
      const { session_token } = dataOf(yield* casino.launch(player, {}, book))
      const speak = (protocol: string) => sql`UPDATE providers SET protocol = ${protocol} WHERE id = ${provider.id}`
      const ask = (path: string, body: object) =>
        signedCall(
          { header: "X-Provider-Key", key: provider.key, secret: provider.secret },
          `/api/v1/provider/wallet/${path}`,
          { method: "POST", body: { request_id: fresh("r"), ...body } }
        )
      const callWallet = (path: string, body: object) => Effect.map(ask(path, body), (answer) => dataOf(answer))
      const stranger = yield* ask("authenticate", { session_token })
      assert.deepStrictEqual([stranger.status, stranger.code], [401, "INVALID_API_KEY"], "it has another protocol")
      // the platform's own protocol reports the same transactions
      yield* speak("pitboss")
      const { player_ref: ref } = yield* callWallet("authenticate", { session_token })
      const bet = (id: string, stake: number) =>
        callWallet("bet", {
          transaction_id: id,
          session_token,
          game_id: "book",
          round_id: `round-${id}`,
          amount: stake,
          currency: "EUR"
        })
      const win = (id: string, of: string, won: number) =>
        callWallet("win", {
          transaction_id: id,
          player_ref: ref,
          game_id: "book",
          round_id: `round-${of}`,
          bet_transaction_id: of,
          amount: won,
          currency: "EUR",
          round_closed: true
        })
      yield* bet("b1", 150)
      yield* win("w1", "b1", 4000)
      yield* bet("b2", 200)
      yield* win("w2", "b2", 0)
      yield* bet("b3", 300)
      yield* callWallet("rollback", { transaction_id: "x3", player_ref: ref, target_transaction_id: "b3" })
      yield* speak("fake")
      yield* sql`UPDATE provider_transactions SET created_at = date_trunc('day', now(), 'UTC') - interval '12 hours'
        WHERE provider_id = ${provider.id}`
      yield* sql`UPDATE rounds SET opened_at = date_trunc('day', now(), 'UTC') - interval '12 hours' WHERE game_id = ${book.id}`
      const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
      const reconcile = Effect.map(
        runHere(["provider", "reconcile", slug, "--date", date]),
        ({ exitCode, stdout }) => ({ exitCode, report: JSON.parse(stdout) })
      )

      const about = { currency: "EUR", playerRef: ref }
      const good = [
        { ...about, transactionId: "b1", kind: "bet" as const, amount: amount("1.5") },
        { ...about, transactionId: "w1", kind: "win" as const, amount: amount("40") },
        { ...about, transactionId: "b2", kind: "bet" as const, amount: amount("2") },
        { ...about, transactionId: "b3", kind: "bet" as const, amount: amount("3") },
        { ...about, transactionId: "x3", kind: "rollback" as const, amount: amount("0") }
      ]
      vendor.feed = { by: "transaction", lines: good }
      const none = { only_vendor: [], only_here: [], different: [] }
      const agreed = yield* reconcile
      assert.deepStrictEqual(agreed, {
        exitCode: 0,
        report: {
          date,
          by: "transaction",
          matched: 5,
          ...none,
          not_understood: [],
          totals: { only_vendor: 0, only_here: 0, different: 0, not_understood: 0 },
          lines: { vendor: { bet: 3, win: 1, rollback: 1 }, here: { bet: 3, win: 1, rollback: 1, without_effect: 1 } },
          is_clean: true
        }
      })
      const asked = vendor.asked.at(-1)
      const from = Date.parse(`${date}T00:00:00Z`)
      assert.deepStrictEqual([asked?.path, asked?.body], ["/feed", { fromMs: from, toMs: from + 86_400_000 }])

      vendor.feed = {
        by: "transaction",
        lines: [
          ...good.slice(1, 3),
          { ...about, transactionId: "b3", kind: "bet", amount: amount("3.01") },
          { ...about, transactionId: "x3", kind: "win", amount: amount("3") },
          { ...about, transactionId: "b4", kind: "bet", amount: amount("0.005"), playerRef: "nobody" }
        ]
      }
      const { exitCode, report } = yield* reconcile
      assert.strictEqual(exitCode, 1)
      const here = { currency: "EUR", player_id: player }
      assert.deepStrictEqual(report, {
        date,
        by: "transaction",
        matched: 2,
        only_vendor: [{ id: "b4", vendor: { kind: "bet", amount: null, currency: "EUR", player_id: null } }],
        only_here: [{ id: "b1", here: { ...here, kind: "bet", amount: 150 } }],
        different: [
          { id: "b3", here: { ...here, kind: "bet", amount: 300 }, vendor: { ...here, kind: "bet", amount: 301 } },
          { id: "x3", here: { ...here, kind: "rollback", amount: 300 }, vendor: { ...here, kind: "win", amount: 300 } }
        ],
        not_understood: [],
        totals: { only_vendor: 1, only_here: 1, different: 2, not_understood: 0 },
        lines: { vendor: { bet: 3, win: 2 }, here: { bet: 3, win: 1, rollback: 1, without_effect: 1 } },
        is_clean: false
      })

      // what is not understood is named, with ours beside it, and no day is clean with it
      vendor.feed = {
        by: "transaction",
        lines: [
          ...good.filter(({ transactionId }) => transactionId !== "w1"),
          { ...about, transactionId: "b1", kind: "bet", amount: amount("1.5") },
          { ...about, transactionId: "c1", kind: "bet", amount: amount("1"), currency: "EURO" }
        ],
        odd: [{ id: "w1", reason: "amount: Missing key" }, { id: null, reason: "user: Missing key" }],
        unsettled: 3
      }
      const odd = yield* reconcile
      assert.strictEqual(odd.exitCode, 1)
      assert.deepInclude(odd.report, { ...none, matched: 4, is_clean: false })
      assert.deepStrictEqual(odd.report.not_understood, [
        { id: "w1", reason: "amount: Missing key", here: { ...here, kind: "win", amount: 4000 } },
        { id: null, reason: "user: Missing key" },
        { id: "b1", reason: "named twice: the first one was compared", here: { ...here, kind: "bet", amount: 150 } },
        { id: "c1", reason: "currency: EURO is not known" }
      ])
      assert.deepStrictEqual(odd.report.lines.vendor, { unsettled: 3, not_understood: 4, bet: 3, rollback: 1 })
      assert.deepStrictEqual(odd.report.lines.here, { bet: 3, win: 1, rollback: 1, without_effect: 1 })

      // a bet whose rollback was rolled back counts again, and is reported as missing
      yield* sql`INSERT INTO provider_transactions (provider_id, transaction_id, player_id, kind, status, amount, target_transaction_id,
          real_amount, bonus_amount, entry_ids, wagered, created_at, operator_id)
        SELECT provider_id, 'xx3', player_id, 'rollback', 'processed', amount, 'x3', 0, 0, '{}', 0, created_at, operator_id
        FROM provider_transactions WHERE provider_id = ${provider.id} AND transaction_id = 'x3'`
      vendor.feed = { by: "transaction", lines: good.slice(0, 3) }
      assert.deepStrictEqual((yield* reconcile).report.only_here, [
        { id: "b3", here: { ...here, kind: "bet", amount: 300 } }
      ])

      const round = { currency: "EUR", playerRef: ref, gameId: "book" }
      vendor.feed = {
        by: "round",
        lines: [
          { ...round, roundId: "round-b1", bet: amount("1.5"), win: amount("40") },
          { ...round, roundId: "round-b3", bet: amount("0"), win: amount("0") },
          { ...round, roundId: "round-b9", bet: amount("1"), win: amount("0") }
        ]
      }
      const byRound = (yield* reconcile).report
      assert.deepInclude(byRound, { by: "round", matched: 2, different: [] })
      assert.deepStrictEqual(byRound.only_here, [{
        id: "book/round-b2",
        here: { ...here, kind: null, amount: 200, win: 0 }
      }])
      assert.deepStrictEqual(byRound.only_vendor, [{
        id: "book/round-b9",
        vendor: { ...here, kind: null, amount: 100, win: 0 }
      }])

      const future = yield* runHere(["provider", "reconcile", slug, "--date", "2999-01-01"])
      assert.strictEqual(JSON.parse(future.stderr).error.code, "VALIDATION_FAILED")

      yield* sql`UPDATE providers SET created_at = now() - interval '25 hours', sync_hours = 0 WHERE id = ${provider.id}`
      assert.strictEqual(yield* vendorTasks.runDue, 1)
      // a failed one would be due an hour from now
      const [task] = yield* sql`SELECT to_char(next_at AT TIME ZONE 'UTC', 'HH24:MI:SS') AS time
        FROM vendor_tasks WHERE provider_id = ${provider.id}`
      assert.deepStrictEqual({ ...task }, { time: "03:00:00" })
    }))
})
