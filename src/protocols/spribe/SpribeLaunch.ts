/** Builds the launch URL of a Spribe game. */
import { Effect } from "effect"
import type { LaunchOrder, VendorFailure } from "../Protocol.ts"
import { browserAddress, refusedByVendor, vendorUrl } from "../VendorCalls.ts"
import type { SpribeSettings } from "./SpribeSettings.ts"

/** No call to the vendor: it learns of the player when the browser connects. */
export const makeLaunch = ({ games_url: gamesUrl, operator_key: operator }: SpribeSettings) =>
(
  { gameId, lobbyUrl, mode, player, token }: LaunchOrder
): Effect.Effect<string, VendorFailure> => {
  // demo games are at another, undocumented address
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
