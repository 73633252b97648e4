/** Settings of a provider with the protocol of 01.tech's aggregator. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const A8rSettings = Schema.Struct({
  /** Signs both directions. */
  auth_token: settingText(),
  casino_id: settingText(),
  games_url: settingText(2048)
})

export type A8rSettings = typeof A8rSettings.Type
