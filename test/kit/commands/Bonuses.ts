/** Cases of `bonus` and `promo`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { dataOf, fresh, made, openCasino, outcomeOf } from "../Casino.ts"
import { type CommandCase, done, grantedBonus, nobody, refusal } from "./Scene.ts"

const newBonus = "bonus create --operator $house --name Welcome --type deposit_match --default-amount 500"

export const bonusCases: ReadonlyArray<CommandCase> = [
  {
    line: newBonus,
    misused: [
      "bonus create --operator $house --name Welcome --type gift --default-amount 500",
      "bonus create --operator $house --name Welcome --type cash --default-amount much",
      `${newBonus} --contributions everything`
    ],
    refused: [
      ["bonus create --operator nobody --name X --type cash --default-amount 5", "NOT_FOUND"],
      [
        "bonus create --operator $house --name X --type cash --default-amount 5 --wagering-multiplier 3",
        "VALIDATION_FAILED"
      ],
      ["bonus create --operator $house --name X --type cash --default-amount 0", "VALIDATION_FAILED"],
      [`${newBonus} --contributions ${nobody}=50`, "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const created = yield* done(
        `bonus create --operator ${casino.slug} --name "Welcome back" --type deposit_match --default-amount 500 ` +
          "--wagering-multiplier 5 --valid-days 7 --max-bet 100 --max-conversion-multiplier 10 " +
          `--max-grants-per-player 1 --contributions ${casino.table.id}=50 --description Hello`
      )
      const shown = {
        id: created.id,
        name: "Welcome back",
        description: "Hello",
        type: "deposit_match",
        default_amount: 500,
        wagering_multiplier: 5,
        valid_days: 7,
        max_bet: 100,
        max_conversion_multiplier: 10,
        max_grants_per_player: 1,
        is_active: true
      }
      assert.deepInclude(created, { ...shown, operator_id: casino.id, contributions: { [casino.table.id]: 50 } })
      assert.deepStrictEqual((yield* casino.get("/bonuses")).data, [shown])
      const { id } = yield* casino.register()
      const granted = dataOf(yield* casino.grant(id, created.id), 201)
      assert.deepInclude(granted, { amount: 500, wager_requirement: 2500, max_bet: 100 })
      assert.strictEqual(outcomeOf(yield* casino.grant(id, created.id)), "BONUS_INVALID")
      const plain = yield* done(`bonus create --operator ${casino.id} --name Cash --type cash --default-amount 5`)
      assert.deepInclude(plain, { wagering_multiplier: 0, valid_days: 30, max_bet: 0, max_grants_per_player: 1 })
    },
    changes: () => Effect.succeed({ line: newBonus, differs: [] })
  },
  {
    line: "bonus update $bonus",
    misused: ["bonus update welcome", "bonus update $bonus --type gift", "bonus update $bonus --active maybe"],
    refused: [
      [`bonus update ${nobody} --active false`, "NOT_FOUND"],
      ["bonus update $bonus --default-amount 0", "VALIDATION_FAILED"],
      [`bonus update $bonus --contributions ${nobody}=5`, "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ default_amount: 500, wagering_multiplier: 10 })
      const [one, two] = [yield* casino.register(), yield* casino.register()]
      const before = dataOf(yield* casino.grant(one.id, bonus.id), 201)
      const updated = yield* done(`bonus update ${bonus.id} --default-amount 700 --wagering-multiplier 2`)
      assert.deepInclude(updated, { id: bonus.id, default_amount: 700, wagering_multiplier: 2 })
      assert.deepInclude(dataOf(yield* casino.grant(two.id, bonus.id), 201), { amount: 700, wager_requirement: 1400 })
      // granted bonuses keep their terms
      const [kept] = dataOf(yield* casino.get(`/players/${one.id}/bonuses`))
      assert.deepStrictEqual(kept, before)
      yield* done(`bonus update ${bonus.id} --active false`)
      assert.deepStrictEqual((yield* casino.get("/bonuses")).data, [])
      assert.strictEqual(outcomeOf(yield* casino.grant(two.id, bonus.id)), "BONUS_INVALID")
    },
    changes: ({ house }) =>
      Effect.map(house.newBonus(), ({ id }) => ({
        line: `bonus update ${id} --active false --max-bet 7`,
        differs: ["is_active", "max_bet"]
      }))
  },
  {
    line: "bonus list",
    misused: ["bonus list all"],
    refused: [["bonus list --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const bonus = yield* casino.newBonus({ active: false })
      assert.deepStrictEqual(yield* done(`bonus list --operator ${casino.slug}`), [bonus])
      assert.deepInclude(yield* done("bonus list"), bonus)
    }
  },
  {
    line: "bonus grant $player --bonus $bonus",
    misused: [
      "bonus grant ada --bonus $bonus",
      "bonus grant $player --bonus welcome",
      "bonus grant $player --bonus $bonus --amount 1.5"
    ],
    refused: [
      [`bonus grant ${nobody} --bonus $bonus`, "NOT_FOUND"],
      [`bonus grant $player --bonus ${nobody}`, "NOT_FOUND"],
      ["bonus grant $foreigner --bonus $bonus", "NOT_FOUND"],
      ["bonus grant $player --bonus $bonus --amount 0", "VALIDATION_FAILED"],
      ["bonus grant $player --bonus $bonus --note \" \"", "VALIDATION_FAILED"]
    ],
    *works({ house, tokens }) {
      const { id } = yield* house.register()
      const bonus = yield* house.newBonus({ default_amount: 500, max_grants_per_player: 2 })
      const granted = yield* done(
        `bonus grant ${id} --bonus ${bonus.id} --note "sorry for the wait"`,
        undefined,
        tokens["support"]
      )
      assert.deepInclude(granted, { player_id: id, bonus_id: bonus.id, amount: 500, state: "activated" })
      assert.deepStrictEqual(yield* house.balances(id), [0, 500])
      const [note] = yield* done(`player notes ${id}`)
      assert.deepInclude(note, { text: "sorry for the wait", subject: `player:${id}` })
      assert.match(note.author, /^staff:\d+$/)
      const more = `bonus grant ${id} --bonus ${bonus.id} --amount 70`
      const tooMuch = yield* refusal(more, undefined, { token: tokens["support"] })
      assert.deepInclude(tooMuch, {
        code: "INSUFFICIENT_SCOPE",
        message: "Granting another amount than the bonus defines requires one of the roles admin, payments."
      })
      const second = yield* done(more, undefined, tokens["payments"])
      assert.deepInclude(second, { amount: 70, state: "pending" })
      assert.deepStrictEqual((yield* house.get(`/players/${id}/bonuses`)).data, [second, granted])
      assert.strictEqual((yield* refusal(`bonus grant ${id} --bonus ${bonus.id}`)).code, "BONUS_INVALID")
    },
    changes: ({ house, names }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `bonus grant ${id} --bonus ${names["bonus"]} --note hello`,
        differs: []
      }))
  },
  {
    line: "bonus granted $granted",
    misused: ["bonus granted welcome"],
    refused: [[`bonus granted ${nobody}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { id: bonus } = yield* casino.newBonus({
        name: "Welcome",
        default_amount: 500,
        wagering_multiplier: 10,
        max_bet: 200,
        max_conversion_multiplier: 4,
        contributions: { [casino.table.id]: 0 }
      })
      const { id: player, ...seat } = yield* casino.sit(1000)
      const { id } = dataOf(yield* casino.grant(player, bonus), 201)
      // the terms are those of the grant, whatever the bonus has become
      yield* done(`bonus update ${bonus} --max-bet 1 --wagering-multiplier 99`)
      dataOf(yield* seat.bet(150))
      const shown = yield* done(`bonus granted ${id}`)
      assert.deepInclude(shown, (yield* done(`player bonuses ${player}`))[0])
      assert.deepInclude(shown, { wagered_amount: 150, left_to_wager: 4850, max_conversion: 2000, max_bet: 200 })
      assert.deepStrictEqual(shown.contributions, { [casino.table.id]: 0 })
      assert.include(shown.sentences, "You have staked 1.50 EUR of 50.00 EUR; 48.50 EUR are left to wager.")
      assert.include(shown.sentences, "A stake may be 2.00 EUR at most while it runs.")
      yield* done(`bonus cancel ${id}`)
      const ended = yield* done(`bonus granted ${id}`)
      assert.deepStrictEqual([ended.left_to_wager, ended.sentences[1]], [0, "It has ended: it was cancelled."])
    }
  },
  {
    line: "bonus cancel $granted",
    misused: ["bonus cancel welcome", "bonus cancel $granted --reason"],
    refused: [[`bonus cancel ${nobody}`, "NOT_FOUND"], [
      "bonus cancel $granted --reason $long$long",
      "VALIDATION_FAILED"
    ]],
    *works({ house }) {
      const { granted, player } = yield* grantedBonus(house)
      assert.deepStrictEqual(yield* house.balances(player), [0, 500])
      const cancelled = yield* done(`bonus cancel ${granted} --reason "asked for"`)
      assert.deepInclude(cancelled, { id: granted, state: "finished", result: "cancelled", forfeited_amount: 500 })
      assert.deepStrictEqual(yield* house.balances(player), [0, 0])
      assert.deepStrictEqual((yield* house.get(`/players/${player}/bonuses`)).data, [cancelled])
      assert.strictEqual((yield* refusal(`bonus cancel ${granted}`)).code, "BONUS_INVALID")
    },
    changes: ({ house }) =>
      Effect.map(grantedBonus(house), ({ granted }) => ({
        line: `bonus cancel ${granted} --reason gone`,
        differs: ["state", "result", "forfeited_amount"]
      }))
  },
  {
    line: "promo create --operator $house --code $fresh --bonus $bonus",
    misused: ["promo create --operator $house --code X --bonus welcome"],
    refused: [
      ["promo create --operator nobody --code X --bonus $bonus", "NOT_FOUND"],
      [`promo create --operator $house --code X --bonus ${nobody}`, "VALIDATION_FAILED"],
      ["promo create --operator $rival --code X --bonus $bonus", "VALIDATION_FAILED"],
      ["promo create --operator $house --code $code --bonus $bonus", "VALIDATION_FAILED"],
      ["promo create --operator $house --code \"A B\" --bonus $bonus", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const { id: bonus } = yield* house.newBonus()
      const code = fresh("GIFT")
      const promo = yield* done(
        `promo create --operator ${house.slug} --code ${code} --bonus ${bonus} --max-redemptions 1 ` +
          "--expires-at 2099-01-01T00:00:00Z"
      )
      assert.deepInclude(promo, {
        operator_id: house.id,
        code,
        bonus_id: bonus,
        expires_at: "2099-01-01T00:00:00.000Z",
        max_redemptions: 1,
        redemptions: 0,
        active: true
      })
      const redeems = Effect.gen(function*() {
        const { id } = yield* house.register()
        return outcomeOf(yield* house.post(`/players/${id}/promo-codes`, { code: code.toLowerCase() }))
      })
      assert.deepStrictEqual([yield* redeems, yield* redeems], [201, "PROMO_CODE_INVALID"])
      const endless = yield* done(`promo create --operator ${house.id} --code ${fresh("G")} --bonus ${bonus}`)
      assert.deepInclude(endless, { expires_at: null, max_redemptions: null })
      // of cash, a code says how often
      const { id: cash } = yield* house.newBonus({ type: "cash", wagering_multiplier: 0 })
      const given = `promo create --operator ${house.id} --code ${fresh("G")} --bonus ${cash}`
      assert.strictEqual((yield* refusal(given)).code, "VALIDATION_FAILED")
      assert.deepInclude(yield* done(`${given} --max-redemptions 3`), { max_redemptions: 3 })
    },
    changes: ({ names }) =>
      Effect.succeed({
        line: `promo create --operator ${names["house"]} --code $fresh --bonus ${names["bonus"]}`,
        differs: []
      })
  },
  {
    line: "promo update $promo --active true",
    misused: ["promo update GIFT --active false", "promo update $promo --active maybe"],
    refused: [[`promo update ${nobody} --active false`, "NOT_FOUND"]],
    *works({ house }) {
      const { id: bonus } = yield* house.newBonus()
      const code = fresh("GIFT")
      const promo = yield* made("/promo-codes", { operator: house.slug, code, bonus })
      const { id } = yield* house.register()
      const redeems = Effect.map(house.post(`/players/${id}/promo-codes`, { code }), outcomeOf)
      assert.deepStrictEqual(yield* done(`promo update ${promo.id} --active false`), { ...promo, active: false })
      assert.strictEqual(yield* redeems, "PROMO_CODE_INVALID")
      yield* done(`promo update ${promo.id} --active true`)
      assert.strictEqual(yield* redeems, 201)
    },
    changes: ({ house, names }) =>
      Effect.map(
        made("/promo-codes", { operator: house.slug, code: fresh("G"), bonus: Number(names["bonus"]) }),
        ({ id }) => ({
          line: `promo update ${id} --active false`,
          differs: ["active"]
        })
      )
  },
  {
    line: "promo list",
    misused: ["promo list all"],
    refused: [["promo list --operator nobody", "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino()
      const { id: bonus } = yield* casino.newBonus()
      const promo = yield* made("/promo-codes", { operator: casino.slug, code: "ONE", bonus })
      assert.deepStrictEqual(yield* done(`promo list --operator ${casino.slug}`), [promo])
    }
  }
]
