/** Cases of `provider`, `game` and `payment-method`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { dataOf, fresh, made, openCasino, outcomeOf } from "../Casino.ts"
import { signedCall } from "../HttpCalls.ts"
import { type CommandCase, done, nobody } from "./Scene.ts"

/** Answer to a provider's call with an unknown session: the refusal for that session proves a valid signature. */
const serves = ({ key, secret }: { readonly key: string; readonly secret: string }) =>
  Effect.map(
    signedCall({ header: "X-Provider-Key", key, secret }, "/api/v1/provider/wallet/authenticate", {
      method: "POST",
      body: { session_token: "nobodys" }
    }),
    outcomeOf
  )

export const catalogueCases: ReadonlyArray<CommandCase> = [
  {
    line: "provider create --slug $fresh --name Acme",
    misused: ["provider create --slug $fresh --name Acme --active maybe"],
    refused: [
      ["provider create --slug $studio --name Taken", "VALIDATION_FAILED"],
      ["provider create --slug $fresh --name Acme --launch-url play.example", "VALIDATION_FAILED"],
      ["provider create --slug $fresh --name Acme --ip nowhere", "VALIDATION_FAILED"],
      ["provider create --slug $fresh --name Acme --protocol fake", "VALIDATION_FAILED"],
      ["provider create --slug $fresh --name Acme --protocol morse", "VALIDATION_FAILED"]
    ],
    *works() {
      const slug = fresh("acme-")
      const provider = yield* done(
        `provider create --slug ${slug} --name Acme --launch-url https://play.example/?t={token}&g={game}&m={mode} ` +
          "--demo-url https://play.example/demo"
      )
      assert.deepInclude(provider, {
        slug,
        name: "Acme",
        launch_url: "https://play.example/?t={token}&g={game}&m={mode}",
        demo_url: "https://play.example/demo",
        ip_allowlist: [],
        active: true
      })
      assert.strictEqual(yield* serves(provider), "INVALID_SESSION")
      const far = yield* done(`provider create --slug ${fresh("far-")} --name Far --ip 192.0.2.1`)
      assert.strictEqual(yield* serves(far), "IP_NOT_ALLOWED")
    },
    changes: () => Effect.succeed({ line: "provider create --slug $fresh --name Acme", differs: [] })
  },
  {
    line: "provider update $studio",
    misused: ["provider update $studio --active maybe"],
    refused: [
      ["provider update nobody --active false", "NOT_FOUND"],
      [`provider update ${nobody} --active false`, "NOT_FOUND"],
      ["provider update $studio --launch-url nowhere", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      const off = yield* done(`provider update ${casino.studio.slug} --active false --demo-url none`)
      assert.deepInclude(off, { active: false, demo_url: null })
      assert.notProperty(off, "secret")
      assert.strictEqual(outcomeOf(yield* seat.bet(1)), "NOT_FOUND")
      assert.strictEqual(outcomeOf(yield* casino.get(`/games/${casino.slots.id}`)), "NOT_FOUND")
      yield* done(`provider update ${casino.studio.id} --active true --name "New name"`)
      assert.strictEqual(outcomeOf(yield* seat.bet(1)), 200)
      const { data } = yield* casino.get(`/games/${casino.slots.id}`)
      assert.strictEqual(data.provider.name, "New name")
      yield* done(`provider update ${casino.studio.id} --ip 192.0.2.1`)
      assert.strictEqual(outcomeOf(yield* seat.bet(1)), "IP_NOT_ALLOWED")
    },
    changes: () =>
      Effect.map(made("/providers", { slug: fresh("acme-"), name: "Acme" }), ({ slug }) => ({
        line: `provider update ${slug} --active false`,
        differs: ["active"]
      }))
  },
  {
    line: "provider rotate $studio",
    misused: ["provider rotate $studio --secret mine"],
    refused: [["provider rotate nobody", "NOT_FOUND"], [`provider rotate ${nobody}`, "NOT_FOUND"]],
    *works() {
      const provider = yield* made("/providers", { slug: fresh("acme-"), name: "Acme" })
      const rotated = yield* done(`provider rotate ${provider.slug}`)
      assert.strictEqual(rotated.key, provider.key)
      assert.deepStrictEqual([yield* serves(provider), yield* serves(rotated)], [
        "INVALID_SIGNATURE",
        "INVALID_SESSION"
      ])
    },
    changes: () =>
      Effect.map(made("/providers", { slug: fresh("acme-"), name: "Acme" }), ({ slug }) => ({
        line: `provider rotate ${slug}`,
        differs: ["updated_at"]
      }))
  },
  {
    line: "provider sync $vendor",
    misused: ["provider sync", "provider sync $vendor --activate maybe"],
    refused: [["provider sync nobody", "NOT_FOUND"], ["provider sync $studio", "INVALID_REQUEST"]],
    *works(scene) {
      const { vendor } = scene
      const externalId = fresh("game-")
      const facts = { type: "rng", category: "slots", rtp: 96.5, thumbnailUrl: null } as const
      const book = { ...facts, externalId: "book", name: "Book" }
      vendor.games = [book, { ...facts, externalId, name: "New" }]
      const synced = yield* done("provider sync $vendor --activate", scene)
      assert.deepInclude(synced, { added: [externalId], gone: [] })
      vendor.games = [book]
      assert.deepInclude(yield* done("provider sync $vendor", scene), { added: [], gone: [externalId] })
    },
    changes: (scene) =>
      Effect.sync(() => {
        const facts = { type: "rng", category: "slots", rtp: null, thumbnailUrl: null } as const
        scene.vendor.games = [{ ...facts, externalId: "book", name: "Book" }]
        return { line: "provider sync $vendor", differs: [] }
      })
  },
  {
    line: "provider reconcile $vendor --date 2026-01-01",
    misused: ["provider reconcile $vendor"],
    refused: [
      ["provider reconcile nobody --date 2026-01-01", "NOT_FOUND"],
      ["provider reconcile $vendor --date yesterday", "VALIDATION_FAILED"],
      ["provider reconcile $studio --date 2026-01-01", "INVALID_REQUEST"]
    ],
    *works(scene) {
      const date = "2026-01-01"
      assert.deepInclude(yield* done(`provider reconcile $vendor --date ${date}`, scene), { date, matched: 0 })
    }
  },
  {
    line: "provider show $vendor",
    misused: ["provider show $vendor --secret true"],
    refused: [["provider show nobody", "NOT_FOUND"], [`provider show ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      const shown = yield* done("provider show $vendor", scene)
      assert.deepInclude(shown, {
        protocol: "fake",
        secret_settings: ["api_key"],
        last_called_at: null,
        refusals: {}
      })
      assert.match(shown.wallet_address, /^http:\/\/.+\/api\/v1\/integrations\/vendor-/)
      assert.match((yield* done("provider show $studio", scene)).wallet_address, /\/api\/v1\/provider\/wallet$/)
    }
  },
  {
    line: "provider calls $vendor",
    misused: ["provider calls"],
    refused: [["provider calls nobody", "NOT_FOUND"], [`provider calls ${nobody}`, "NOT_FOUND"]],
    *works(scene) {
      assert.deepStrictEqual(yield* done("provider calls $vendor", scene), [])
    }
  },
  {
    line: "provider list",
    misused: ["provider list mine"],
    refused: [],
    *works() {
      const { secret: _, ...provider } = yield* made("/providers", { slug: fresh("acme-"), name: "Acme" })
      assert.deepInclude(yield* done("provider list"), provider)
    }
  },
  {
    line: "game create --provider $studio --external-id $fresh --name Reels",
    misused: [
      "game create --provider $studio --external-id $fresh --name Reels --type cards",
      "game create --provider $studio --external-id $fresh --name Reels --rtp high"
    ],
    refused: [
      ["game create --provider nobody --external-id x --name X", "NOT_FOUND"],
      ["game create --provider $studio --external-id slots --name Taken", "VALIDATION_FAILED"],
      ["game create --provider $studio --external-id $fresh --name X --original chess", "VALIDATION_FAILED"],
      ["game create --provider $studio --external-id $fresh --name X --rtp 101", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const id = fresh("reels-")
      const game = yield* done(
        `game create --provider ${house.studio.slug} --external-id ${id} --name ${id} --type live --category jackpot ` +
          "--rtp 96.5 --thumbnail-url https://img.example/1.png"
      )
      const { data } = yield* house.get(`/games/${game.id}`)
      assert.deepStrictEqual(data, {
        id: game.id,
        external_id: id,
        name: id,
        type: "live",
        category: "jackpot",
        rtp: 96.5,
        thumbnail_url: "https://img.example/1.png",
        is_original: false,
        provider: { id: house.studio.id, slug: house.studio.slug, name: house.studio.name }
      })
      const dice = yield* done(
        `game create --provider ${house.studio.id} --external-id ${fresh("dice-")} --name Dice --original dice`
      )
      assert.deepInclude(dice, { original: "dice", is_original: true, type: "rng", active: true })
      const { id: player } = yield* house.register()
      assert.strictEqual(dataOf(yield* house.launch(player, {}, dice)).launch_url, null)
    },
    changes: ({ house }) =>
      Effect.succeed({
        line: `game create --provider ${house.studio.slug} --external-id $fresh --name Reels`,
        differs: []
      })
  },
  {
    line: "game update $slots",
    misused: ["game update slots", "game update $slots --active maybe", "game update $slots --type cards"],
    refused: [
      [`game update ${nobody} --active false`, "NOT_FOUND"],
      ["game update $slots --external-id table", "VALIDATION_FAILED"],
      ["game update $slots --rtp 101", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const seat = yield* casino.sit(1000)
      yield* done(`game update ${casino.slots.id} --active false`)
      assert.strictEqual(outcomeOf(yield* seat.bet(1)), "NOT_FOUND")
      assert.strictEqual(outcomeOf(yield* casino.get(`/games/${casino.slots.id}`)), "NOT_FOUND")
      const name = fresh("Wheels ")
      yield* done(`game update ${casino.slots.id} --active true --name "${name}" --rtp 90 --category table`)
      assert.strictEqual(outcomeOf(yield* seat.bet(1)), 200)
      assert.deepInclude((yield* casino.get(`/games/${casino.slots.id}`)).data, { name, rtp: 90, category: "table" })
    },
    changes: ({ house }) =>
      Effect.map(made("/games", { provider: house.studio.slug, external_id: fresh("g"), name: "Reels" }), ({ id }) => ({
        line: `game update ${id} --name Wheels --rtp 95`,
        differs: ["name", "rtp"]
      }))
  },
  {
    line: "game list",
    misused: ["game list --active maybe", "game list --page 2"],
    refused: [
      ["game list --provider nobody", "NOT_FOUND"],
      ["game list --per-page 101", "VALIDATION_FAILED"],
      ["game list --ids 1,,2", "VALIDATION_FAILED"]
    ],
    *works() {
      const { slots, studio, table } = yield* openCasino()
      const ids = (line: string) =>
        Effect.map(done(line), (games: ReadonlyArray<{ readonly id: number }>) => games.map(({ id }) => id))
      yield* done(`game update ${table.id} --active false`)
      const all = `game list --provider ${studio.slug}`
      assert.deepStrictEqual(
        [yield* ids(all), yield* ids(`${all} --active true`), yield* ids(`${all} --active false`)],
        [[slots.id, table.id], [slots.id], [table.id]]
      )
      const behind = Buffer.from(JSON.stringify([slots.name, slots.id])).toString("base64url")
      assert.deepStrictEqual(yield* ids(`${all} --per-page 1 --cursor ${behind}`), [table.id])
      assert.deepStrictEqual(
        [
          yield* ids(`${all} --type live`),
          yield* ids(`${all} --ids ${slots.id},${nobody}`),
          yield* ids(`${all} --name %`)
        ],
        [[table.id], [slots.id], []]
      )
      assert.deepStrictEqual(yield* ids(`${all} --name "${String(slots.name).slice(1).toUpperCase()}"`), [slots.id])
    }
  },
  {
    line: "payment-method create --operator $house --code $fresh",
    misused: [
      "payment-method create --operator $house --code $fresh --deposit maybe",
      "payment-method create --operator $house --code $fresh --min-deposit much"
    ],
    refused: [
      ["payment-method create --operator nobody --code x", "NOT_FOUND"],
      ["payment-method create --operator $house --code bank", "VALIDATION_FAILED"],
      ["payment-method create --operator $house --code low --min-deposit 9 --max-deposit 8", "VALIDATION_FAILED"],
      ["payment-method create --operator $house --code odd --currencies EUR,XXX", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const method = yield* done(
        `payment-method create --operator ${casino.slug} --code card --name Card --currencies EUR,USD --deposit true ` +
          "--withdrawal false --min-deposit 500 --max-deposit 1000 --min-withdrawal 10 --max-withdrawal 20"
      )
      const shown = {
        code: "card",
        name: "Card",
        supports_deposit: true,
        supports_withdrawal: false,
        min_deposit: 500,
        max_deposit: 1000,
        min_withdrawal: 10,
        max_withdrawal: 20,
        currencies: ["EUR", "USD"]
      }
      assert.deepInclude(method, { operator_id: casino.id, active: true, ...shown })
      assert.deepInclude((yield* casino.get("/payment-methods")).data, shown)
      const { id } = yield* casino.register()
      const pays = (amount: number) => Effect.map(casino.deposit(id, amount, { payment_method: "card" }), outcomeOf)
      assert.deepStrictEqual(
        [yield* pays(499), yield* pays(500), yield* pays(1001)],
        ["PAYMENT_REQUEST_INVALID", 201, "PAYMENT_REQUEST_INVALID"]
      )
      const taken = yield* casino.withdraw(id, 15, { payment_method: "card" })
      assert.strictEqual(outcomeOf(taken), "PAYMENT_REQUEST_INVALID")
      const plain = yield* done(`payment-method create --operator ${casino.id} --code plain`)
      assert.deepInclude(plain, {
        name: "plain",
        currencies: ["EUR"],
        supports_deposit: true,
        supports_withdrawal: true
      })
    },
    changes: ({ house }) =>
      Effect.succeed({ line: `payment-method create --operator ${house.slug} --code $fresh`, differs: [] })
  },
  {
    line: "payment-method update $method",
    misused: ["payment-method update bank", "payment-method update $method --active maybe"],
    refused: [
      [`payment-method update ${nobody} --active false`, "NOT_FOUND"],
      ["payment-method update $method --min-deposit 9 --max-deposit 8", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const [method] = yield* done(`payment-method list --operator ${casino.slug}`)
      const { id } = yield* casino.register()
      const pays = Effect.map(casino.deposit(id, 100, { payment_method: "bank" }), outcomeOf)
      yield* done(`payment-method update ${method.id} --active false`)
      assert.strictEqual(yield* pays, "PAYMENT_REQUEST_INVALID")
      assert.deepStrictEqual((yield* casino.get("/payment-methods")).data, [])
      yield* done(`payment-method update ${method.id} --active true --name Transfer`)
      assert.strictEqual((yield* casino.get("/payment-methods")).data[0].name, "Transfer")
      assert.strictEqual(outcomeOf(yield* casino.deposit(id, 100, { payment_method: "bank" })), 201)
    },
    changes: ({ house }) =>
      Effect.map(made("/payment-methods", { operator: house.slug, code: fresh("m") }), ({ id }) => ({
        line: `payment-method update ${id} --active false --max-deposit 5`,
        differs: ["active", "max_deposit"]
      }))
  },
  {
    line: "payment-method list",
    misused: ["payment-method list mine"],
    refused: [["payment-method list --operator nobody", "NOT_FOUND"]],
    *works() {
      const { slug } = yield* openCasino()
      const card = yield* made("/payment-methods", { operator: slug, code: "card" })
      const listed: ReadonlyArray<{ readonly code: string }> = yield* done(`payment-method list --operator ${slug}`)
      assert.sameMembers(listed.map(({ code }) => code), ["bank", "card"])
      assert.deepInclude(listed, card)
    }
  }
]
