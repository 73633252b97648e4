/** Settings of a provider connected through the SOFTSWISS Game Aggregator (A8R). */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const A8rSettings = Schema.Struct({
  /** Signs both directions. */
  auth_token: settingText(),
  casino_id: settingText(),
  games_url: settingText(2048)
})

export type A8rSettings = typeof A8rSettings.Type
