/** Settings of a provider connected through Spribe's protocol. */
import { Schema } from "effect"
import { settingText } from "../SettingFields.ts"

export const SpribeSettings = Schema.Struct({
  /** Identifies us in their calls. */
  client_id: settingText(),
  /** Signs their calls. */
  secret_key: settingText(),
  /** Identifies us in launches. */
  operator_key: settingText(),
  games_url: settingText(2048),
  /** Path of the wallet address as called: part of the signature, and behind a gateway possibly not ours. */
  wallet_path: settingText(2048).check(
    Schema.makeFilter((path: string) => /^\/[^\s?#]*[^\s?#/]$/.test(path), {
      message: "must be a path, from its first slash on and without one at its end",
      expected: "a path"
    })
  )
})

export type SpribeSettings = typeof SpribeSettings.Type
