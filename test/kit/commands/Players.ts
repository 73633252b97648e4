/** Cases of `player`. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused, dataOf, openCasino, outcomeOf } from "../Casino.ts"
import { browserCall } from "../HttpCalls.ts"
import { type CommandCase, done, grantedBonus, nobody, refusal } from "./Scene.ts"

export const playerCases: ReadonlyArray<CommandCase> = [
  {
    line: "player show $player",
    misused: ["player show ada", "player show -1"],
    refused: [
      [`player show ${nobody}`, "NOT_FOUND"],
      ["player show $player --operator $rival", "NOT_FOUND"],
      ["player show $player --operator nobody", "NOT_FOUND"]
    ],
    *works({ house }) {
      const player = yield* house.register()
      const shown = { operator_id: house.id, ...player }
      assert.deepStrictEqual(yield* done(`player show ${player.id}`), shown)
      assert.deepStrictEqual(yield* done(`player show ${player.id} --operator ${house.slug}`), shown)
    }
  },
  {
    line: "player list",
    misused: ["player list --status asleep", "player list --kyc-status perhaps", "player list --page 2"],
    refused: [
      ["player list --operator nobody", "NOT_FOUND"],
      ["player list --per-page 101", "VALIDATION_FAILED"],
      ["player list --cursor !", "VALIDATION_FAILED"],
      ["player list --created-from yesterday", "VALIDATION_FAILED"]
    ],
    *works() {
      const casino = yield* openCasino()
      const [one, two] = [yield* casino.register({ external_id: "x-1" }), yield* casino.register()]
      yield* casino.put(`/players/${two.id}/status`, { status: "locked" })
      const ids = (flags: string) =>
        Effect.map(
          done(`player list --operator ${casino.slug} ${flags}`),
          (players: ReadonlyArray<{ readonly id: number }>) => players.map(({ id }) => id)
        )
      assert.deepStrictEqual(yield* ids(""), [two.id, one.id])
      assert.deepStrictEqual(
        [
          yield* ids("--status locked"),
          yield* ids(`--email ${one.email}`),
          yield* ids(`--username ${two.username}`),
          yield* ids("--external-id x-1"),
          yield* ids("--kyc-status verified"),
          yield* ids(`--search ${one.username}`),
          yield* ids("--created-from 2099-01-01T00:00:00Z"),
          yield* ids(`--per-page 1 --cursor ${two.id.toString(36)}`)
        ],
        [[two.id], [one.id], [two.id], [one.id], [], [one.id], [], [one.id]]
      )
    }
  },
  {
    line: "player wallet $player",
    misused: ["player wallet ada"],
    refused: [[`player wallet ${nobody}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino({ kyc_withdrawal_threshold: 700 })
      const { id } = yield* casino.sit(1000)
      const { data } = yield* casino.get(`/players/${id}/wallet`)
      const shown = yield* done(`player wallet ${id}`)
      assert.deepStrictEqual(shown, data)
      assert.deepInclude(shown, { balance: 1000, bonus_balance: 0, unverified_withdrawal_allowance: 700 })
      yield* done(`operator update ${casino.slug} --kyc-withdrawal-threshold none`)
      assert.isNull((yield* done(`player wallet ${id}`)).unverified_withdrawal_allowance)
    }
  },
  {
    line: "player transactions $player",
    misused: [
      "player transactions ada",
      "player transactions $player --type gift",
      "player transactions $player --wallet savings"
    ],
    refused: [
      [`player transactions ${nobody}`, "NOT_FOUND"],
      ["player transactions $player --created-from yesterday", "VALIDATION_FAILED"],
      ["player transactions $player --per-page 101", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const seat = yield* house.sit(1000)
      yield* seat.bet(100)
      yield* done(`player correct ${seat.id} --wallet bonus --amount 5 --reason gift`)
      const shown = (yield* house.get(`/players/${seat.id}/transactions`)).data
      const lines = (flags: string) => done(`player transactions ${seat.id} ${flags}`)
      const data = shown.map((entry: { readonly game_id: number | null }) => ({
        ...entry,
        game: entry.game_id === null ? null : house.slots.name
      }))
      assert.deepStrictEqual(yield* lines(""), data)
      const [bonus, bet, deposit] = data
      assert.deepStrictEqual(
        [
          yield* lines("--type casino_bet"),
          yield* lines("--wallet bonus"),
          yield* lines("--per-page 1 --page 3"),
          yield* lines("--created-from 2099-01-01T00:00:00Z")
        ],
        [[bet], [bonus], [deposit], []]
      )
    }
  },
  {
    line: "player statement $player --from 2026-11-01 --to 2026-11-30",
    misused: [
      "player statement $player",
      "player statement ada --from 2026-11-01 --to 2026-11-30",
      "player statement $player --from 2026-11-01 --to 2026-11-30 --format pdf"
    ],
    refused: [
      [`player statement ${nobody} --from 2026-11-01 --to 2026-11-30`, "NOT_FOUND"],
      ["player statement $player --from 2026-11-02 --to 2026-11-01", "VALIDATION_FAILED"],
      ["player statement $player --from yesterday --to 2026-11-01", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const seat = yield* house.sit(1000)
      yield* seat.bet(100)
      const { created_at: at } = (yield* house.get(`/players/${seat.id}/transactions`)).data[0]
      const today = `--from ${at.slice(0, 10)} --to ${at.slice(0, 10)}`
      const shown = yield* done(`player statement ${seat.id} ${today}`)
      assert.deepInclude(shown, { opening: { real: 0, bonus: 0 }, closing: { real: 900, bonus: 0 } })
      assert.strictEqual(shown.entries.length, 2)
    }
  },
  {
    line: "player consents $player",
    misused: ["player consents ada"],
    refused: [[`player consents ${nobody}`, "NOT_FOUND"]],
    *works({ house }) {
      const { id } = yield* house.register({ marketing: { sms: true } })
      const shown = yield* done(`player consents ${id}`)
      assert.strictEqual(shown.player_id, id)
      const granted = shown.consents.filter((one: { readonly granted: boolean }) => one.granted)
      assert.deepStrictEqual(granted.map((one: { readonly channel: string }) => one.channel), ["sms"])
    }
  },
  {
    line: "player consent $player --channel email --granted true --reason asked",
    misused: [
      "player consent $player --channel email --granted true",
      "player consent $player --granted true --reason asked",
      "player consent $player --channel email --granted perhaps --reason asked"
    ],
    refused: [
      [`player consent ${nobody} --channel email --granted true --reason asked`, "NOT_FOUND"],
      ["player consent $player --channel fax --granted true --reason asked", "VALIDATION_FAILED"],
      ["player consent $player --channel email --product poker --granted true --reason asked", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const { id } = yield* house.register()
      const line = `player consent ${id} --channel email --product casino --text-version 7 --reason asked --granted`
      const [email] = (yield* done(`${line} true`)).consents
      assert.deepInclude(email, { channel: "email", granted: true, source: "staff", text_version: "7" })
      assert.strictEqual((yield* done(`${line} false`)).consents[0].granted, false)
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `player consent ${id} --channel email --granted true --reason asked`,
        differs: []
      }))
  },
  {
    line: "player bonuses $player",
    misused: ["player bonuses ada", "player bonuses $player --state lost"],
    refused: [[`player bonuses ${nobody}`, "NOT_FOUND"], ["player bonuses $player --per-page 0", "VALIDATION_FAILED"]],
    *works({ house }) {
      const { granted, player } = yield* grantedBonus(house)
      const { data } = yield* house.get(`/players/${player}/bonuses`)
      const [bonus] = yield* done(`player bonuses ${player}`)
      assert.deepStrictEqual([bonus, bonus.id], [data[0], granted])
      assert.deepStrictEqual(yield* done(`player bonuses ${player} --state finished`), [])
      assert.deepStrictEqual(yield* done(`player bonuses ${player} --state activated --per-page 1`), [bonus])
    }
  },
  {
    line: "player limits $player",
    misused: ["player limits ada"],
    refused: [[`player limits ${nobody}`, "NOT_FOUND"]],
    *works({ house }) {
      const { id } = yield* house.register()
      yield* house.limit(id, { max_daily_bet: 500 })
      yield* house.limit(id, { max_daily_bet: 900 })
      const { data } = yield* house.get(`/players/${id}/limits`)
      const { rules, ...shown } = yield* done(`player limits ${id}`)
      assert.deepStrictEqual(shown, data)
      assert.deepInclude(rules, { code: "none", name: "No jurisdiction" })
      assert.strictEqual(shown.limits.max_daily_bet, 500)
      assert.deepInclude(shown.pending_changes[0], { field: "max_daily_bet", requested_value: 900 })
    }
  },
  {
    line: "player standing $player",
    misused: ["player standing ada"],
    refused: [[`player standing ${nobody}`, "NOT_FOUND"]],
    *works() {
      const casino = yield* openCasino({ daily_deposit_cap: 100 })
      const { id } = yield* casino.sit(100)
      const free = { is_allowed: true, code: null, cause: null, message: null, until: null }
      const shown = yield* done(`player standing ${id}`)
      assert.deepStrictEqual(Object.keys(shown), ["sign_in", "deposit", "bet", "withdraw", "receive_bonuses"])
      assert.deepStrictEqual([shown.bet, shown.withdraw], [free, free])
      assert.deepInclude(shown.deposit, { is_allowed: false, code: "PAYMENT_REQUEST_INVALID", until: null })
      const until = "2099-01-01T00:00:00.000Z"
      yield* done(`player exclude ${id} --until ${until} --channel phone --reason asked`)
      const excluded = yield* done(`player standing ${id}`)
      const cause = { is_allowed: false, cause: "self_exclusion", until }
      assert.deepInclude(excluded.bet, { ...cause, code: "PLAYER_RESTRICTED" })
      assert.deepInclude(excluded.receive_bonuses, { ...cause, code: "BONUS_INVALID" })
      assert.deepStrictEqual(excluded.withdraw, free)
    }
  },
  {
    // the command line does not know that one of --period and --until is needed
    line: "player exclude $player --channel phone --reason asked",
    misused: [
      "player exclude $player --period 24_hours --reason asked",
      "player exclude $player --period 2_hours --channel phone --reason asked",
      "player exclude ada --period 24_hours --channel phone --reason asked"
    ],
    refused: [
      [`player exclude ${nobody} --period 24_hours --channel phone --reason asked`, "NOT_FOUND"],
      ["player exclude $player --channel phone --reason asked", "VALIDATION_FAILED"],
      ["player exclude $player --until 2020-01-01T00:00:00Z --channel phone --reason asked", "VALIDATION_FAILED"],
      ["player exclude $player --period 24_hours --channel phone --reason \"\"", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const seat = yield* house.sit(1000)
      const { id } = seat
      const limits = yield* done(`player exclude ${id} --period 6_months --channel phone --reason "rang at noon"`)
      assert.deepStrictEqual(limits, (yield* house.get(`/players/${id}/limits`)).data)
      assert.strictEqual(limits.self_exclusion.type, "self_exclusion")
      assert.strictEqual(outcomeOf(yield* house.deposit(id, 100)), "PLAYER_RESTRICTED")
      assert.strictEqual(outcomeOf(yield* house.withdraw(id, 100)), 201)
      const again = (flags: string) =>
        refusal(`player exclude ${id} ${flags} --channel email --reason "changed my mind"`)
      assert.strictEqual((yield* again("--period 3_months")).code, "RESPONSIBLE_GAMING_RULE")
      assert.strictEqual((yield* again("--period 12_months --type time_out")).code, "RESPONSIBLE_GAMING_RULE")
      const [line] = yield* done(`audit list --player ${id} --per-page 1`)
      assert.deepInclude(line, { action: "player.exclude", actor: "staff:bootstrap", reason: "rang at noon" })
      assert.strictEqual(line.after.channel, "phone")
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `player exclude ${id} --period 7_days --channel chat --reason asked`,
        differs: ["self_exclusion", "channel"]
      }))
  },
  {
    line: "player limit $player --set max_daily_bet=100 --reason asked",
    misused: [
      "player limit $player --set max_daily_bet --reason asked",
      "player limit $player --set max_daily_bet=-1 --reason asked",
      "player limit $player --set max_daily_bet=100"
    ],
    refused: [
      [`player limit ${nobody} --set max_daily_bet=100 --reason asked`, "NOT_FOUND"],
      ["player limit $player --set max_hourly_bet=100 --reason asked", "VALIDATION_FAILED"],
      ["player limit $player --set max_session_minutes=1 --reason asked", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const { id } = yield* house.register()
      const set = (values: string) => done(`player limit ${id} --set ${values} --reason "by letter"`)
      const first = yield* set("max_daily_bet=500,max_balance=900")
      assert.deepInclude(first.limits, { max_daily_bet: 500, max_balance: 900 })
      const next = yield* set("max_daily_bet=400,max_balance=none")
      assert.deepInclude(next.limits, { max_daily_bet: 400, max_balance: 900 })
      assert.deepInclude(next.pending_changes[0], { field: "max_balance", requested_value: null })
      const [line] = yield* done(`audit list --player ${id} --per-page 1`)
      assert.deepInclude(line, { action: "player.limit", reason: "by letter" })
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `player limit ${id} --set max_single_bet=100 --reason asked`,
        differs: ["limits"]
      }))
  },
  {
    line: "player status $player --status active",
    misused: ["player status $player --status asleep", "player status ada --status active"],
    refused: [[`player status ${nobody} --status locked`, "NOT_FOUND"], [
      "player status $player --status locked --reason $long$long$long$long",
      "VALIDATION_FAILED"
    ]],
    *works({ house }) {
      const { id } = yield* house.register()
      const locked = yield* done(`player status ${id} --status locked --reason "asked by phone"`)
      assert.deepInclude(locked, { id, operator_id: house.id, status: "locked" })
      assert.strictEqual(outcomeOf(yield* house.deposit(id, 100)), "PLAYER_RESTRICTED")
      const [note] = yield* done(`player notes ${id}`)
      assert.deepInclude(note, { author: "staff:bootstrap", text: "asked by phone", subject: `player:${id}` })
      yield* done(`player status ${id} --status active`)
      assert.strictEqual(outcomeOf(yield* house.deposit(id, 100)), 201)
    },
    changes: ({ house }) =>
      Effect.map(
        house.register(),
        ({ id }) => ({ line: `player status ${id} --status closed --reason gone`, differs: ["status"] })
      )
  },
  {
    line: "player kyc $player --status pending_review",
    misused: ["player kyc $player --status perhaps", "player kyc ada --status verified"],
    refused: [
      [`player kyc ${nobody} --status pending_review`, "NOT_FOUND"],
      ["player kyc $player --status verified", "VALIDATION_FAILED"],
      ["player kyc $player --status pending_review --document-expires-on 2099-01-01", "VALIDATION_FAILED"],
      ["player kyc $player --status pending_review --document-expires-on soon", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const { id } = yield* house.register()
      yield* done(`player kyc ${id} --status pending_review --reason "papers came"`)
      const verified = yield* done(`player kyc ${id} --status verified --document-expires-on 2031-05-31`)
      assert.deepInclude(verified, { id, kyc_status: "verified", is_verified: true })
      assert.deepInclude((yield* house.get(`/players/${id}`)).data, { kyc_status: "verified", is_verified: true })
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `player kyc ${id} --status pending_review`,
        differs: ["kyc_status"]
      }))
  },
  {
    line: "player restrict $player",
    misused: ["player restrict $player --can-bet maybe", "player restrict ada --can-bet false"],
    refused: [[`player restrict ${nobody} --can-bet false`, "NOT_FOUND"]],
    *works({ house }) {
      const seat = yield* house.sit(1000)
      const { id } = seat
      const bonus = yield* house.newBonus()
      const tries = Effect.map(
        Effect.all([
          house.post(`/players/${id}/session-tokens`),
          house.deposit(id, 10),
          house.withdraw(id, 10),
          seat.bet(1),
          house.grant(id, bonus.id)
        ]),
        (answers) => answers.map((answer) => outcomeOf(answer))
      )
      const restricted = yield* done(
        `player restrict ${id} --can-login false --can-deposit false --can-withdraw false --can-bet false ` +
          "--excluded-from-bonuses true --reason \"asked to stop\""
      )
      assert.deepStrictEqual(restricted.restrictions, {
        can_login: false,
        can_deposit: false,
        can_withdraw: false,
        can_bet: false,
        excluded_from_bonuses: true
      })
      assert.deepStrictEqual(yield* tries, [...Array<string>(4).fill("PLAYER_RESTRICTED"), "BONUS_INVALID"])
      const [line] = yield* done(`audit list --player ${id} --per-page 1`)
      assert.deepInclude(line, { action: "player.restrict", reason: "asked to stop" })
      const freed = yield* done(`player restrict ${id} --can-bet true --can-login true`)
      assert.deepInclude(freed.restrictions, { can_bet: true, can_login: true, can_deposit: false })
      // the game session ended with the login
      assert.deepStrictEqual(
        yield* tries,
        [201, "PLAYER_RESTRICTED", "PLAYER_RESTRICTED", "INVALID_SESSION", "BONUS_INVALID"]
      )
    },
    changes: ({ house }) =>
      Effect.map(
        house.register(),
        ({ id }) => ({ line: `player restrict ${id} --can-bet false`, differs: ["can_bet"] })
      )
  },
  {
    line: "player sign-out $player",
    misused: ["player sign-out", "player sign-out ada"],
    refused: [[`player sign-out ${nobody}`, "NOT_FOUND"]],
    *works({ house }) {
      const seat = yield* house.sit(1000)
      const { token } = dataOf(yield* house.post(`/players/${seat.id}/session-tokens`), 201)
      const bet = dataOf(yield* seat.bet(10))
      const shown = yield* done(`player sign-out ${seat.id} --reason stolen`)
      assert.deepInclude(shown, { id: seat.id, status: "active" })
      assertRefused(yield* browserCall(token, "/me"), 401, "INVALID_PLAYER_TOKEN")
      assertRefused(yield* seat.bet(10), 401, "INVALID_SESSION")
      dataOf(yield* seat.win(bet.transaction_id, 30))
      const next = dataOf(yield* house.post(`/players/${seat.id}/session-tokens`), 201).token
      dataOf(yield* browserCall(next, "/me"))
      const [line] = yield* done(`audit list --player ${seat.id} --per-page 1`)
      assert.deepInclude(line, { action: "player.sign_out", reason: "stolen" })
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({ line: `player sign-out ${id}`, differs: ["sessions_ended_at"] }))
  },
  {
    line: "player correct $player --amount 5 --reason gift",
    misused: [
      "player correct $player --amount 1.5 --reason gift",
      "player correct $player --wallet savings --amount 5 --reason gift",
      "player correct ada --amount 5 --reason gift"
    ],
    refused: [
      [`player correct ${nobody} --amount 5 --reason gift`, "NOT_FOUND"],
      ["player correct $player --amount 0 --reason nothing", "VALIDATION_FAILED"],
      ["player correct $player --wallet bonus --amount -1 --reason debt", "VALIDATION_FAILED"],
      ["player correct $player --amount 5 --reason \"\"", "VALIDATION_FAILED"]
    ],
    *works({ house }) {
      const { id } = yield* house.register()
      const up = yield* done(`player correct ${id} --amount 2500 --reason welcome`)
      assert.deepInclude(up, {
        player_id: id,
        wallet: "real",
        type: "correction_up",
        amount: 2500,
        balance_after: 2500,
        currency: "EUR"
      })
      const down = yield* done(`player correct ${id} --amount -3000 --reason fee`)
      assert.deepInclude(down, { type: "correction_down", amount: -3000, balance_after: -500 })
      const bonus = yield* done(`player correct ${id} --wallet bonus --amount 100 --reason gift`)
      assert.deepInclude(bonus, { wallet: "bonus", type: "bonus_correction_up", balance_after: 100 })
      assert.deepStrictEqual(yield* house.balances(id), [-500, 100])
      const { data } = yield* house.get(`/players/${id}/transactions`)
      assert.deepStrictEqual(data, [bonus, down, up])
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({
        line: `player correct ${id} --amount 5 --reason gift`,
        differs: ["balance"]
      }))
  },
  {
    line: "player note $player --text called",
    misused: ["player note ada --text called", "player note $player --text"],
    refused: [[`player note ${nobody} --text called`, "NOT_FOUND"], [
      "player note $player --text \" \"",
      "VALIDATION_FAILED"
    ]],
    *works({ house, tokens }) {
      const { id } = yield* house.register()
      const note = yield* done(`player note ${id} --text "called twice"`, undefined, tokens["support"])
      assert.deepInclude(note, { player_id: id, text: "called twice", subject: `player:${id}` })
      assert.match(note.author, /^staff:\d+$/)
      assert.deepStrictEqual(yield* done(`player notes ${id}`), [note])
    },
    changes: ({ house }) =>
      Effect.map(house.register(), ({ id }) => ({ line: `player note ${id} --text called`, differs: [] }))
  },
  {
    line: "player notes $player",
    misused: ["player notes ada", "player notes $player --per-page first"],
    refused: [[`player notes ${nobody}`, "NOT_FOUND"], ["player notes $player --per-page 0", "VALIDATION_FAILED"]],
    *works({ house }) {
      const { id } = yield* house.register()
      assert.deepStrictEqual(yield* done(`player notes ${id}`), [])
      const { data } = yield* house.deposit(id, 100, { notes: "by phone" })
      const [note] = yield* done(`player notes ${id} --per-page 5`)
      assert.deepInclude(note, {
        player_id: id,
        author: `operator:${house.id}`,
        text: "by phone",
        subject: `payment:${data.id}`
      })
      assert.strictEqual((yield* refusal(`player note ${id} --text ""`)).code, "VALIDATION_FAILED")
    }
  }
]
