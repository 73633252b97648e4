/** Requests the launch URL of a table from Evolution's user authentication API. */
import { Effect, Schema } from "effect"
import type { LaunchOrder, VendorFailure, VendorTools } from "../Protocol.ts"
import {
  answerReader,
  browserAddress,
  postJson,
  refusedByVendor,
  unavailableVendor,
  vendorUrl
} from "../VendorCalls.ts"
import type { EvolutionSettings } from "./EvolutionSettings.ts"

/** Either `entry` or errors, `G.0` to `G.11`. */
const readAnswer = answerReader(Schema.Struct({
  entry: Schema.optionalKey(Schema.String),
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({
    code: Schema.String,
    message: Schema.optionalKey(Schema.String)
  })))
}))

const bodyOf = ({ depositUrl, gameId, ip, lobbyUrl, platform, player, token }: LaunchOrder, uuid: string): string =>
  JSON.stringify({
    uuid,
    player: {
      id: player.playerRef,
      update: true,
      // a game does not need the player's name
      firstName: player.username,
      lastName: player.username,
      nickname: player.username,
      country: player.country,
      language: player.language,
      currency: player.currency,
      session: { id: token, ...ip !== null && { ip } }
    },
    config: {
      game: { table: { id: gameId } },
      channel: { wrapped: false, mobile: platform === "mobile" },
      urls: { ...depositUrl !== null && { cashier: depositUrl }, ...lobbyUrl !== null && { lobby: lobbyUrl } }
    }
  })

/** Requests the launch address of a table. There is no demo mode. */
export const makeLaunch = ({ api_token: apiToken, casino_key: casinoKey, games_url: gamesUrl }: EvolutionSettings) => {
  const url = vendorUrl(gamesUrl, `/ua/v1/${encodeURIComponent(casinoKey)}/${encodeURIComponent(apiToken)}`)
  return Effect.fnUntraced(
    function*(order: LaunchOrder, { send, uuid }: VendorTools): Effect.fn.Return<string, VendorFailure> {
      if (order.mode === "demo") return yield* Effect.fail(refusedByVendor("tables are for real money only"))
      const response = yield* postJson(send, url, bodyOf(order, uuid()))
      const { entry, errors } = yield* readAnswer(response)
      const [error] = errors ?? []
      if (error !== undefined) return yield* Effect.fail(refusedByVendor(error.code, error.message))
      return entry === undefined
        ? yield* Effect.fail(unavailableVendor(`no entry in the answer, HTTP ${response.status}`))
        : yield* browserAddress(entry, gamesUrl)
    }
  )
}
