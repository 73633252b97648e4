/** Settings of a provider connected through Pragmatic Play's protocol. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const PragmaticSettings = Schema.Struct({
  secret_key: settingText(),
  secure_login: settingText(),
  provider_id: settingText(),
  games_url: settingText(2048),
  feed_login: settingText(),
  feed_password: settingText(),
  /** Whether `bonusWin` pays, or only reports the total of wins paid individually (the default). */
  free_rounds_win: Schema.optionalKey(Schema.Literals(["acknowledge", "pay"]))
})

export type PragmaticSettings = typeof PragmaticSettings.Type
