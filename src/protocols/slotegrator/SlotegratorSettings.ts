import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

/** Settings of a provider that speaks Slotegrator's GIS protocol. */
export const SlotegratorSettings = Schema.Struct({
  merchant_id: settingText(),
  /** Signs both ways. */
  merchant_key: settingText(),
  games_url: settingText(2048)
})

export type SlotegratorSettings = typeof SlotegratorSettings.Type
