import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ApiKey, Operator } from "../../src/domain/state/Operator.ts"
import { wire, wireName } from "../../src/domain/WireNames.ts"
import { operatorOf } from "../kit/Operators.ts"

// Goal: a field declared once has its name outside derived, alike for types and values. Method: a struct whose encoded form is read
// by its type; an operator as a row has it.

describe("field names on the wire", () => {
  it("separate words by underscores", () => {
    const names = ["id", "playerId", "withdrawalSecondApprovalAbove", "kycStatus"]
    assert.deepStrictEqual(names.map(wireName), ["id", "player_id", "withdrawal_second_approval_above", "kyc_status"])
  })

  it("appear in the encoded form in the order in which the fields are declared", () => {
    const encoded = Schema.encodeSync(
      wire(Schema.Struct({ id: Schema.Number, maxDailyBet: Schema.NullOr(Schema.Number) }))
    )({
      id: 1,
      maxDailyBet: null
    })
    const typed: { readonly id: number; readonly max_daily_bet: number | null } = encoded
    assert.strictEqual(JSON.stringify(typed), "{\"id\":1,\"max_daily_bet\":null}")
  })
})

describe("a database row of an operator", () => {
  const row = Schema.encodeSync(wire(Operator))(operatorOf(7, { disabledFeatures: ["bonuses"] }))

  it("has the operator's fields under the column names", () => {
    assert.deepInclude(row, { id: 7, cooperation_model: "api", original_max_stake: 100_000, default_limits: {} })
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(wire(Operator))({ ...row, created_at: "2026-11-20" }),
      operatorOf(7, { disabledFeatures: ["bonuses"] })
    )
  })

  it("may contain features and scopes that this version does not know", () => {
    const { disabledFeatures } = Schema.decodeUnknownSync(wire(Operator))({
      ...row,
      disabled_features: ["reports", "lottery", "bonuses"]
    })
    assert.deepStrictEqual(disabledFeatures, ["bonuses", "reports"])
    assert.deepStrictEqual(Schema.decodeUnknownSync(ApiKey.fields.scopes)(["all", "games:read"]), ["games:read"])
  })
})
