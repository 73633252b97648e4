/** Calls to the SOFTSWISS Game Aggregator (A8R): launch, catalogue, free spins. */
import { Effect, Schema } from "effect"
import { decimalText } from "../Decimal.ts"
import type {
  CatalogueGame,
  FreeRoundsOrder,
  Identified,
  LaunchOrder,
  LeftLine,
  Outbound,
  VendorFailure,
  VendorResponse,
  VendorTools
} from "../Protocol.ts"
import { requestSigner, signatureHeader } from "../RequestSign.ts"
import {
  answerReader,
  browserAddress,
  listReader,
  makeListSum,
  postJson,
  refusedByVendor,
  vendorUrl
} from "../VendorCalls.ts"
import type { A8rSettings } from "./A8rSettings.ts"

const Failed = Schema.Struct({
  code: Schema.String,
  msg: Schema.optional(Schema.String),
  meta: Schema.optional(Schema.Struct({
    api_code: Schema.optional(Schema.String),
    api_message: Schema.optional(Schema.String)
  }))
})

const Launched = Schema.Struct({ launch_url: Schema.String })

const Done = Schema.Struct({})

const Listed = Schema.Struct({ providers: Schema.Array(Schema.Unknown) })

const ListedProvider = Schema.Struct({
  image_assets: Schema.optional(Schema.NullOr(Schema.Struct({ base_url: Schema.optional(Schema.String) }))),
  games: Schema.Array(Schema.Unknown)
})

const ListedGame = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  category: Schema.optional(Schema.NullOr(Schema.String)),
  live: Schema.optional(Schema.NullOr(Schema.Boolean)),
  released_at: Schema.optional(Schema.NullOr(Schema.String)),
  recalled_at: Schema.optional(Schema.NullOr(Schema.String)),
  images: Schema.optional(Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)))
})

type ListedProvider = typeof ListedProvider.Type
type ListedGame = typeof ListedGame.Type

const readFailed = answerReader(Failed)
const readLaunched = answerReader(Launched)
const readDone = answerReader(Done)
const readListed = answerReader(Listed)
const readProviders = listReader("catalogue", ListedProvider, "id")
const readGames = listReader("catalogue", ListedGame, "id")

/** Passes a successful answer on; a refusal fails with the vendor's code. */
const accepted = (response: VendorResponse): Effect.Effect<VendorResponse, VendorFailure> =>
  response.status < 400 || response.status >= 500
    ? Effect.succeed(response)
    : Effect.flatMap(
      readFailed(response),
      ({ code, meta, msg }) => Effect.fail(refusedByVendor(meta?.api_code ?? code, meta?.api_message ?? msg))
    )

const instant = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Player data sent to the aggregator: the minimum that identifies a player. */
const playerValues = (player: Identified, currency: string, nickname: string) => ({
  id: player.playerRef,
  currency,
  country: player.country,
  nickname,
  ...(player.birthDate === null ? {} : { date_of_birth: player.birthDate }),
  registered_at: instant(player.registeredAt)
})

/** Picture formats, in order of preference for a lobby. */
const shapes = ["horizontal", "square", "widescreen", "vertical"]

const thumbnailOf = ({ image_assets: assets }: ListedProvider, { images }: ListedGame): string | null => {
  const base = assets?.base_url
  const path = shapes.map((shape) => images?.[shape]).find((image) => typeof image === "string" && image !== "")
  return base === undefined || typeof path !== "string" ? null : vendorUrl(base, path.replace(/^\/?/, "/"))
}

/** True when a game is currently playable: released and not recalled. */
const isPlayable = ({ recalled_at: recalled, released_at: released }: ListedGame, now: number): boolean => {
  const [from, to] = [Date.parse(released ?? ""), Date.parse(recalled ?? "")]
  return !(from > now) && !(to <= now)
}

const toGame = (provider: ListedProvider, game: ListedGame): CatalogueGame => ({
  externalId: game.id,
  name: game.title,
  type: game.live === true ? "live" : "rng",
  category: game.category ?? (game.live === true ? "live" : "slots"),
  rtp: null,
  thumbnailUrl: thumbnailOf(provider, game)
})

/** Outbound calls for the settings of one provider. */
export const a8rOutbound = (settings: A8rSettings): Outbound => {
  const signer = requestSigner(settings.auth_token)

  /** Service call, signed over the bytes sent. */
  const call = ({ send }: VendorTools, method: string, text: string, isList = false) =>
    Effect.flatMap(
      postJson(send, vendorUrl(settings.games_url, `/v2/casino_a8r.${method}`), text, {
        [signatureHeader]: signer.sign(text)
      }, isList),
      accepted
    )

  const launch = (order: LaunchOrder, tools: VendorTools) => {
    const { player } = order
    const urls = {
      ...(order.depositUrl === null ? {} : { deposit_url: order.depositUrl }),
      ...(order.lobbyUrl === null ? {} : { return_url: order.lobbyUrl })
    }
    const values = {
      casino_id: settings.casino_id,
      game: order.gameId,
      client_type: order.platform === "mobile" ? "mobile" : "desktop",
      ...(order.ip === null ? {} : { ip: order.ip }),
      jurisdiction: player.country,
      locale: player.language,
      ...(order.mode === "demo" ? {} : { player: playerValues(player, player.currency, player.username) }),
      urls
    }
    return call(tools, order.mode === "demo" ? "Launcher/Demo" : "Launcher/Real", JSON.stringify(values)).pipe(
      Effect.flatMap(readLaunched),
      Effect.flatMap(({ launch_url: address }) => browserAddress(address, settings.games_url))
    )
  }

  const catalogue = Effect.fnUntraced(function*(tools: VendorTools) {
    const text = JSON.stringify({ casino_id: settings.casino_id })
    const { providers } = yield* readListed(yield* call(tools, "Game/List", text, true))
    const sum = makeListSum("catalogue")
    const read = yield* readProviders(providers)
    const games: Array<CatalogueGame> = []
    const odd: Array<LeftLine> = read.odd.map(({ id, reason }) => ({ id, reason: `provider: ${reason}` }))
    const withdrawn: Array<LeftLine> = []
    for (const provider of read.taken) {
      const listed = yield* readGames(provider.games, sum)
      for (const line of listed.odd) odd.push(line)
      for (const game of listed.taken) {
        if (isPlayable(game, tools.now())) games.push(toGame(provider, game))
        else withdrawn.push({ id: game.id, reason: "not released yet, or recalled" })
      }
    }
    return { games, odd, withdrawn }
  })

  const issue = (order: FreeRoundsOrder, tools: VendorTools) => {
    const values = {
      casino_id: settings.casino_id,
      issue_id: order.reference,
      freespins_quantity: order.rounds,
      bet_amount: decimalText(order.stake),
      games: [order.gameId],
      valid_until: instant(order.validUntil),
      player: {
        id: order.playerRef,
        currency: order.currency,
        country: order.country,
        nickname: order.playerRef
      }
    }
    return call(tools, "Freespins/Issue", JSON.stringify(values)).pipe(
      Effect.flatMap(readDone),
      Effect.as(order.reference)
    )
  }

  const cancel = (reference: string, _playerRef: string, tools: VendorTools) =>
    call(
      tools,
      "Freespins/Cancel",
      JSON.stringify({ casino_id: settings.casino_id, issue_id: reference })
    ).pipe(Effect.flatMap(readDone), Effect.asVoid)

  return { launch, catalogue, freeRounds: { issue, cancel } }
}
