/** Settings of a provider with the universal API of game studios, version 1. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const GcpSettings = Schema.Struct({
  /** Signs both directions. */
  auth_token: settingText(),
  casino_id: settingText(),
  games_url: settingText(2048)
})

export type GcpSettings = typeof GcpSettings.Type
