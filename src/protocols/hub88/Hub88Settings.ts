/** Settings of a provider connected through Hub88's Wallet API or Caleta's dialect. */
import { Schema } from "effect"
import { settingRsaKey, settingText } from "../SettingFields.ts"

export const Hub88Settings = Schema.Struct({
  /** Verifies their calls. */
  vendor_public_key: settingRsaKey("public"),
  /** Signs our calls. */
  private_key: settingRsaKey("private"),
  operator_id: Schema.Int.check(
    Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, { message: "must be a whole number" })
  ),
  sub_partner_id: settingText(),
  games_url: settingText(2048),
  dialect: Schema.optionalKey(Schema.Literals(["hub88", "caleta"]).annotate({ message: "must be hub88 or caleta" }))
})

export type Hub88Settings = typeof Hub88Settings.Type
