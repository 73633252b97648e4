import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

/** Settings of a provider that speaks Evolution's One Wallet. */
export const EvolutionSettings = Schema.Struct({
  /** What they put into the query of their calls. */
  auth_token: settingText(),
  casino_key: settingText(),
  api_token: settingText(),
  games_url: settingText(2048)
})

export type EvolutionSettings = typeof EvolutionSettings.Type
