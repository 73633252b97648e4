/** Asks a game's vendor for the launch URL to send the player's browser to. */
import { Context, Effect, Layer } from "effect"
import type { Player } from "../../domain/state/Player.ts"
import { type Refusal, refuse, temporarilyUnavailable } from "../../domain/Refusal.ts"
import { Settings } from "../../platform/Settings.ts"
import { vendorUnavailable } from "../integrations/VendorHttp.ts"
import { VendorPlayers } from "../integrations/VendorPlayers.ts"
import { vendorRefusal, Vendors } from "../integrations/Vendors.ts"
import type { Game } from "../games/Game.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"

export interface LaunchRequest {
  readonly mode: "real" | "demo"
  readonly platform: string | null
  readonly ip: string | null
}

const refusedByVendor = vendorRefusal((word) =>
  refuse("GAME_UNAVAILABLE", "The game cannot be opened: its vendor refused the launch.", { vendor: word })
)

/** An operator cannot repair settings of a provider. */
const settingsUnusable = ({ code }: Refusal<"INVALID_REQUEST" | "NOT_FOUND" | "TRY_AGAIN">) =>
  code === "NOT_FOUND" ? refuse("NOT_FOUND", "There is no such game.") : temporarilyUnavailable

const maxAddressLength = 8192

/** Whether a text of a vendor is an address for a player's browser. */
const isAddress = (text: string, allowInsecure: boolean): boolean =>
  text.length <= maxAddressLength && (allowInsecure ? /^https?:\/\//i : /^https:\/\//i).test(text) && URL.canParse(text)

export class VendorLaunches extends Context.Service<VendorLaunches, {
  /** `token` is that of the session that was opened, empty for a demo, which calls no wallet. */
  readonly address: (
    game: Game,
    player: Player,
    request: LaunchRequest,
    token: string
  ) => Effect.Effect<string, Refusal<"GAME_UNAVAILABLE" | "NOT_FOUND" | "TRY_AGAIN">>
}>()("pitboss/games/VendorLaunches") {
  static readonly layer = Layer.effect(
    VendorLaunches,
    Effect.gen(function*() {
      const vendors = yield* Vendors
      const profiles = yield* VendorPlayers
      const refs = yield* PlayerRefs
      const { providerAllowInsecure } = yield* Settings

      const address: VendorLaunches["Service"]["address"] = Effect.fn("VendorLaunches.address")(
        function*(game, player, request, token) {
          const { outbound, tools } = yield* Effect.mapError(
            vendors.find(game.provider.id, player.operatorId),
            settingsUnusable
          )
          const profile = yield* profiles.find(player.id)
          const { country, currency, language } = player
          const address = yield* outbound.launch({
            gameId: game.externalId,
            token,
            ...request,
            player: {
              ...profile,
              playerRef: refs.playerRef(game.provider.id, player.id),
              token: token === "" ? null : token,
              country,
              currency,
              language
            },
            lobbyUrl: null,
            depositUrl: null
          }, tools)
          return isAddress(address, providerAllowInsecure)
            ? address
            : yield* Effect.fail(vendorUnavailable("the answer holds no address"))
        },
        Effect.catchTag("VendorFailure", (failure) => Effect.fail(refusedByVendor(failure)))
      )

      return VendorLaunches.of({ address })
    })
  )
}
