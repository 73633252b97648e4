/** Settings of a provider connected through Slotegrator's GIS protocol. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const SlotegratorSettings = Schema.Struct({
  merchant_id: settingText(),
  /** Signs both directions. */
  merchant_key: settingText(),
  games_url: settingText(2048)
})

export type SlotegratorSettings = typeof SlotegratorSettings.Type
