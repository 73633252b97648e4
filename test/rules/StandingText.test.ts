import { assert, it } from "@effect/vitest"
import { abilityInWords, closuresInWords, type ToldAbility } from "../../src/domain/standing/StandingText.ts"

const allowed: ToldAbility = { is_allowed: true, code: null, cause: null, message: null, until: null }
const refused = (fields: Partial<ToldAbility>): ToldAbility => ({ ...allowed, is_allowed: false, ...fields })
const date = (at: string) => at.slice(0, 10)

it("the text of a blocked ability names the cause and its end", () => {
  const texts = [
    allowed,
    refused({ code: "PLAYER_RESTRICTED", cause: "time_out", until: "2026-12-04T10:00:00.000Z" }),
    refused({ code: "PLAYER_RESTRICTED", cause: "self_closure" }),
    refused({ code: "PLAYER_RESTRICTED", cause: "locked" }),
    refused({ code: "PLAYER_RESTRICTED", cause: "register_excluded" }),
    refused({ code: "LIMIT_EXCEEDED", cause: "max_daily_bet", until: "2026-11-29T00:00:00.000Z" }),
    refused({ code: "LIMIT_EXCEEDED", cause: "casino_max_single_bet" }),
    refused({ code: "BONUS_INVALID", cause: "max_pending" }),
    refused({ code: "KYC_REQUIRED", message: "The player has to be verified." }),
    refused({ code: "PLAYER_RESTRICTED", cause: "something_new", message: "Refused for a new reason." })
  ].map((ability) => abilityInWords(ability, date))
  assert.deepStrictEqual(texts, [
    "yes",
    "no, time-out until 2026-12-04",
    "no, closed at the player's request without end",
    "no, account locked",
    "no, excluded by a national register",
    "no, daily bet limit reached until 2026-11-29",
    "no, casino single bet limit reached",
    "no, too many wait, but one without wagering is paid at once",
    "no, not verified",
    "no, Refused for a new reason."
  ])
})

it("the text of a restricted account names status, exclusion, holds and staff restrictions, but no limits", () => {
  const open = { bet: allowed, withdraw: allowed }
  const sentences = (...args: Parameters<typeof closuresInWords> extends [...infer Rest, infer _] ? Rest : never) =>
    closuresInWords(...args, date)
  assert.deepStrictEqual(sentences(open, "active", null), [])
  const limited = { bet: refused({ code: "LIMIT_EXCEEDED", cause: "max_daily_bet" }), withdraw: allowed }
  assert.deepStrictEqual(sentences(limited, "active", null), [])
  const held = { bet: refused({ cause: "can_bet" }), withdraw: refused({ cause: "compliance_hold" }) }
  assert.deepStrictEqual(sentences(held, "active", null), [
    "Withdrawals are held by an alert, until it is closed or its hold released.",
    "Staff have switched betting off."
  ])
  // who is held as well is not told that the balance can be withdrawn
  assert.deepStrictEqual(
    sentences(held, "active", { type: "self_exclusion", until: null, ends: "by_itself", return_at: null }),
    [
      "Excluded from play (self-exclusion) without end. It cannot be shortened.",
      "Withdrawals are held by an alert, until it is closed or its hold released."
    ]
  )
  assert.deepStrictEqual(
    sentences(open, "locked", {
      type: "time_out",
      until: "2026-12-04T10:00:00.000Z",
      ends: "by_itself",
      return_at: null
    }),
    [
      "The account is locked: the player neither signs in, plays nor withdraws.",
      "Excluded from play (time-out) until 2026-12-04. It cannot be shortened; the balance can be withdrawn."
    ]
  )
})
