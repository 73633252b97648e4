import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

/** Settings of a provider that speaks the protocol of 01.tech's aggregator. */
export const A8rSettings = Schema.Struct({
  /** Signs both ways. */
  auth_token: settingText(),
  casino_id: settingText(),
  games_url: settingText(2048)
})

export type A8rSettings = typeof A8rSettings.Type
