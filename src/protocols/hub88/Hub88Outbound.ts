/** Calls to Hub88, signed with the operator's own key: launch, catalogue, free bets and the transactions of a day. */
import { Effect, Schema } from "effect"
import * as Crypto from "node:crypto"
import { fromUnits, toMinorUnits } from "../Decimal.ts"
import type {
  Catalogue,
  CatalogueGame,
  Feed,
  FeedTransaction,
  FreeRoundsOrder,
  LaunchOrder,
  Outbound,
  VendorFailure,
  VendorResponse,
  VendorTools
} from "../Protocol.ts"
import { answerReader, browserAddress, listReader, postJson, refusedByVendor, vendorUrl } from "../VendorCalls.ts"
import { amountScale } from "./Hub88Calls.ts"
import { dialects } from "./Hub88Dialects.ts"
import type { Hub88Settings } from "./Hub88Settings.ts"

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** Refusal, in any of the alternative fields. */
const readRefusal = answerReader(Schema.Struct({
  error: optional(Schema.String),
  status: optional(Schema.String),
  message: optional(Schema.String)
}))

const readUrl = answerReader(Schema.Struct({ url: Schema.String }))

const readList = answerReader(Schema.Array(Schema.Unknown))

const readGames = listReader(
  "catalogue",
  Schema.Struct({
    game_code: Schema.String,
    name: Schema.String,
    enabled: optional(Schema.Boolean),
    category: optional(Schema.String),
    rtp: optional(Schema.Union([Schema.String, Schema.Number])),
    url_thumb: optional(Schema.String)
  }),
  "game_code"
)

const readPrepaids = listReader(
  "catalogue",
  Schema.Struct({
    prepaid_uuid: Schema.String,
    /** Caleta's list has only a number of the game, and is of the game that was asked for. */
    game_code: optional(Schema.String),
    currency: Schema.String,
    /** Null: any value may be ordered. */
    bet_value: optional(Schema.Number),
    bet_count: optional(Schema.Number),
    bonus_buy: optional(Schema.Boolean)
  }),
  "prepaid_uuid"
)

const readReward = answerReader(Schema.Struct({ reward_uuid: Schema.String }))

const readTransactions = listReader(
  "feed",
  Schema.Struct({
    transaction_uuid: Schema.String,
    user: Schema.String,
    kind: Schema.String,
    transaction_status: Schema.String,
    amount: Schema.Int,
    currency: Schema.String
  }),
  "transaction_uuid"
)

/** Vendor's category, such as `Live Roulette` or `Video Slots`. */
const isLive = (category: string): boolean => /\blive\b/i.test(category)

const rtpOf = (rtp: string | number | null | undefined): number | null => {
  const value = Number.parseFloat(String(rtp ?? ""))
  return value > 0 && value <= 100 ? value : null
}

const feedKinds: { readonly [kind: string]: FeedTransaction["kind"] } = {
  TK_BET: "bet",
  TK_FREE_BET: "bet",
  TK_WIN: "win",
  TK_FREE_WIN: "win",
  TK_JP_WIN: "win",
  TK_BONUS_WIN: "win",
  TK_NEG_BET: "win",
  TK_ROLLBACK: "rollback"
}

/** Whether transactions of a status settled: declined and unanswered ones did not. */
const isSettled: ReadonlyMap<string, boolean> = new Map([
  ["TS_SUCCESS", true],
  ["TS_ROLLEDBACK", true],
  ["TS_DECLINED", false],
  ["TS_RETRY_ATTEMPTS_LIMIT_EXCEEDED", false]
])

const timeOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 19)

export const makeOutbound = (settings: Hub88Settings): Outbound => {
  const { games_url: gamesUrl, operator_id: operatorId, sub_partner_id: subPartnerId } = settings
  const { demoCurrency, gamesPath, isCaleta, signatureHeader } = dialects[settings.dialect ?? "hub88"]
  const base = vendorUrl(gamesUrl, gamesPath(gamesUrl))
  const privateKey = Crypto.createPrivateKey(settings.private_key)

  const ask = Effect.fnUntraced(
    function*(
      { send }: VendorTools,
      path: string,
      fields: object,
      isList = false
    ): Effect.fn.Return<VendorResponse, VendorFailure> {
      const body = JSON.stringify({ operator_id: operatorId, ...fields })
      const signature = Crypto.sign("sha256", Buffer.from(body), privateKey).toString("base64")
      const response = yield* postJson(send, vendorUrl(base, path), body, { [signatureHeader]: signature }, isList)
      if (response.status >= 500) return response
      // a refusal is no list: a long one is parsed once
      if (response.status < 400 && response.body.trimStart().startsWith("[")) return response
      if (response.status < 400) {
        // business errors may have HTTP 200, as the wallet's do
        const said = yield* Effect.option(readRefusal(response))
        const { error, message, status } = said._tag === "Some" ? said.value : {}
        const code = error ?? status
        return code?.startsWith("RS_ERROR") === true ? yield* Effect.fail(refusedByVendor(code, message)) : response
      }
      const { error, message, status } = yield* readRefusal(response)
      return yield* Effect.fail(refusedByVendor(error ?? status ?? `HTTP ${response.status}`, message))
    }
  )

  const launch = Effect.fnUntraced(
    function*(order: LaunchOrder, tools: VendorTools): Effect.fn.Return<string, VendorFailure> {
      const { depositUrl, gameId, ip, lobbyUrl, mode, platform, player, token } = order
      const response = yield* ask(tools, "/game/url", {
        ...mode === "real" && { user: player.playerRef, token },
        sub_partner_id: subPartnerId,
        platform: platform === "mobile" ? "GPL_MOBILE" : "GPL_DESKTOP",
        lang: player.language,
        game_code: gameId,
        currency: mode === "real" ? player.currency : demoCurrency,
        country: player.country,
        ...ip !== null && { ip },
        // Caleta requires one
        ...(lobbyUrl !== null || isCaleta) && { lobby_url: lobbyUrl ?? "" },
        ...depositUrl !== null && { deposit_url: depositUrl }
      })
      const { url } = yield* readUrl(response)
      return yield* browserAddress(url, gamesUrl)
    }
  )

  const catalogue = Effect.fnUntraced(
    function*(tools: VendorTools): Effect.fn.Return<Catalogue, VendorFailure> {
      const { odd, taken } = yield* readGames(yield* readList(yield* ask(tools, "/game/list", {}, true)))
      const games = taken.filter(({ enabled }) => enabled !== false).map((game): CatalogueGame => {
        const category = game.category ?? ""
        return {
          externalId: game.game_code,
          name: game.name,
          type: isLive(category) ? "live" : "rng",
          category: category.toLowerCase() || "other",
          rtp: rtpOf(game.rtp),
          thumbnailUrl: game.url_thumb ?? null
        }
      })
      const withdrawn = taken.filter(({ enabled }) => enabled === false).map(({ game_code: id }) => ({
        id,
        reason: "enabled: false"
      }))
      return { games, odd, withdrawn }
    }
  )

  /** Rewards are made from templates, each of a game, a currency, and usually a number and a value. */
  const issue = Effect.fnUntraced(
    function*(order: FreeRoundsOrder, tools: VendorTools): Effect.fn.Return<string, VendorFailure> {
      const value = toMinorUnits(order.stake, amountScale)
      const listed = yield* readList(yield* ask(tools, "/freebet/prepaids/list", { game_code: order.gameId }))
      const { taken: prepaids } = yield* readPrepaids(listed)
      const prepaid = prepaids.find((prepaid) =>
        (prepaid.game_code ?? order.gameId) === order.gameId && prepaid.currency === order.currency &&
        prepaid.bonus_buy !== true &&
        (prepaid.bet_value ?? value) === value && (prepaid.bet_count ?? order.rounds) === order.rounds
      )
      if (prepaid === undefined || value === undefined) {
        return yield* Effect.fail(refusedByVendor("no prepaid of this game has so many rounds at this stake"))
      }
      const response = yield* ask(tools, "/freebet/rewards/create", {
        user: order.playerRef,
        prepaid_uuid: prepaid.prepaid_uuid,
        ...isCaleta && { sub_partner_id: subPartnerId },
        bet_value: value,
        bet_count: order.rounds,
        currency: order.currency,
        game_code: order.gameId,
        operator_reference: order.reference,
        start_time: timeOf(tools.now()),
        end_time: timeOf(order.validUntil)
      })
      return (yield* readReward(response)).reward_uuid
    }
  )

  const cancel = (reference: string, _playerRef: string, tools: VendorTools): Effect.Effect<void, VendorFailure> =>
    Effect.asVoid(ask(tools, "/freebet/rewards/cancel", { reward_uuid: reference }))

  const feed = Effect.fnUntraced(
    function*(
      { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
      tools: VendorTools
    ): Effect.fn.Return<Feed, VendorFailure> {
      const response = yield* ask(tools, "/transactions/list", {
        sub_partner_id: subPartnerId,
        start_time: timeOf(fromMs),
        end_time: timeOf(toMs)
      }, true)
      const { odd: unread, taken } = yield* readTransactions(yield* readList(response))
      const odd = [...unread]
      const lines: Array<FeedTransaction> = []
      let unsettled = 0
      for (const { amount, currency, kind: name, transaction_status: status, transaction_uuid: id, user } of taken) {
        const kind = feedKinds[name]
        const settled = isSettled.get(status)
        if (kind === undefined) odd.push({ id, reason: `kind: ${name.slice(0, 100)} is not known` })
        else if (settled === undefined) {
          odd.push({ id, reason: `transaction_status: ${status.slice(0, 100)} is not known` })
        } else if (!settled) unsettled++
        else {
          const units = name === "TK_FREE_BET" ? 0 : Math.abs(amount)
          lines.push({ transactionId: id, kind, amount: fromUnits(units, amountScale), currency, playerRef: user })
        }
      }
      return { by: "transaction", lines, odd, unsettled }
    }
  )

  return { launch, catalogue, freeRounds: { issue, cancel }, feed }
}
