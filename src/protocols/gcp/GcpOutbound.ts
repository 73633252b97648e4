/** Calls to game studios that use SOFTSWISS's universal API (GCP): launch and free spins. It has no catalogue: games are created by hand. */
import { Effect, Schema } from "effect"
import type { FreeRoundsOrder, LaunchOrder, Outbound, VendorFailure, VendorResponse, VendorTools } from "../Protocol.ts"
import { requestSigner, signatureHeader } from "../RequestSign.ts"
import {
  answerReader,
  browserAddress,
  postJson,
  refusedByVendor,
  unavailableVendor,
  vendorUrl
} from "../VendorCalls.ts"
import type { GcpSettings } from "./GcpSettings.ts"

const Failed = Schema.Struct({
  code: Schema.Union([Schema.Number, Schema.String]),
  message: Schema.optional(Schema.String)
})

const Launched = Schema.Struct({
  launch_options: Schema.Struct({ game_url: Schema.String })
})

const readFailed = answerReader(Failed)
const readLaunched = answerReader(Launched)

/** Passes a successful answer on; a refusal fails with the vendor's code. */
const accepted = (response: VendorResponse): Effect.Effect<VendorResponse, VendorFailure> => {
  if (response.status >= 500) return Effect.fail(unavailableVendor(`HTTP ${response.status}`))
  return response.status < 400
    ? Effect.succeed(response)
    : Effect.flatMap(
      readFailed(response),
      ({ code, message }) => Effect.fail(refusedByVendor(code, message))
    )
}

const instant = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Outbound calls for the settings of one provider. */
export const gcpOutbound = (settings: GcpSettings): Outbound => {
  const signer = requestSigner(settings.auth_token)

  /** Call signed over the bytes sent. */
  const call = ({ send }: VendorTools, path: string, values: object) => {
    const text = JSON.stringify({ casino_id: settings.casino_id, ...values })
    return Effect.flatMap(
      postJson(send, vendorUrl(settings.games_url, path), text, { [signatureHeader]: signer.sign(text) }),
      accepted
    )
  }

  const launch = (order: LaunchOrder, tools: VendorTools) => {
    const { player } = order
    const isDemo = order.mode === "demo"
    const values = {
      game: order.gameId,
      locale: player.language,
      ...(order.ip === null ? {} : { ip: order.ip }),
      client_type: order.platform === "mobile" ? "mobile" : "desktop",
      urls: {
        ...(order.depositUrl === null ? {} : { deposit_url: order.depositUrl }),
        ...(order.lobbyUrl === null ? {} : { return_url: order.lobbyUrl })
      },
      ...(isDemo ? {} : {
        currency: player.currency,
        user: {
          id: player.playerRef,
          country: player.country,
          nickname: player.username,
          ...(player.birthDate === null ? {} : { date_of_birth: player.birthDate }),
          registered_at: instant(player.registeredAt).slice(0, 10)
        }
      })
    }
    return call(tools, isDemo ? "/demo" : "/sessions", values).pipe(
      Effect.flatMap(readLaunched),
      Effect.flatMap(({ launch_options: { game_url: address } }) => browserAddress(address, settings.games_url))
    )
  }

  /** The stake is the studio's lowest: the protocol has bet levels, not amounts. */
  const issue = (order: FreeRoundsOrder, tools: VendorTools) =>
    Effect.as(
      call(tools, "/freespins/issue", {
        issue_id: order.reference,
        currency: order.currency,
        games: [order.gameId],
        freespins_quantity: order.rounds,
        bet_level: 1,
        valid_until: instant(order.validUntil),
        user: { id: order.playerRef, country: order.country, nickname: order.playerRef }
      }),
      order.reference
    )

  const cancel = (reference: string, _playerRef: string, tools: VendorTools) =>
    Effect.asVoid(call(tools, "/freespins/cancel", { issue_id: reference }))

  return { launch, freeRounds: { issue, cancel } }
}
