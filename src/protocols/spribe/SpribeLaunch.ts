/** The address of a game of Spribe's. */
import { Effect } from "effect"
import type { LaunchOrder, VendorFailure } from "../Protocol.ts"
import { browserAddress, refusedByVendor, vendorUrl } from "../VendorCalls.ts"
import type { SpribeSettings } from "./SpribeSettings.ts"

/** Nothing is asked of the vendor: it hears of the player when the browser comes. */
export const makeLaunch = ({ games_url: gamesUrl, operator_key: operator }: SpribeSettings) =>
(
  { gameId, lobbyUrl, mode, player, token }: LaunchOrder
): Effect.Effect<string, VendorFailure> => {
  // games without money are at another address, which is not described
  if (mode === "demo") return Effect.fail(refusedByVendor("games are for real money only"))
  const query = new URLSearchParams({
    user: player.playerRef,
    token,
    lang: player.language,
    currency: player.currency,
    operator,
    ...lobbyUrl !== null && { return_url: lobbyUrl }
  })
  return browserAddress(vendorUrl(gamesUrl, `/${encodeURIComponent(gameId)}?${query.toString()}`), gamesUrl)
}
