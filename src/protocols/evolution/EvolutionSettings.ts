/** Settings of a provider connected through Evolution's One Wallet. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const EvolutionSettings = Schema.Struct({
  /** Sent in the query of their calls. */
  auth_token: settingText(),
  casino_key: settingText(),
  api_token: settingText(),
  games_url: settingText(2048)
})

export type EvolutionSettings = typeof EvolutionSettings.Type
