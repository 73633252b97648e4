import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

/** Settings of a provider that speaks Spribe's protocol. */
export const SpribeSettings = Schema.Struct({
  /** What their calls name us by. */
  client_id: settingText(),
  /** What their calls are signed with. */
  secret_key: settingText(),
  /** What launches name us by. */
  operator_key: settingText(),
  games_url: settingText(2048),
  /** The path of the wallet address as they call it: they sign it, and behind a gateway it may be another than ours. */
  wallet_path: settingText(2048).check(
    Schema.makeFilter((path: string) => /^\/[^\s?#]*[^\s?#/]$/.test(path), {
      message: "must be a path, from its first slash on and without one at its end",
      expected: "a path"
    })
  )
})

export type SpribeSettings = typeof SpribeSettings.Type
