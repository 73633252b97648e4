/** Settings of a game studio connected through SOFTSWISS's universal API (GCP). */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const GcpSettings = Schema.Struct({
  /** Signs both directions. */
  auth_token: settingText(),
  casino_id: settingText(),
  games_url: settingText(2048)
})

export type GcpSettings = typeof GcpSettings.Type
