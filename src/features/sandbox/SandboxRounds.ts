/** Simulated game provider of a sandbox: sends the messages of a round, in Pitboss's own protocol, to the wallet that real providers call. */
import { Effect, Schema } from "effect"
import type { SandboxMessage, SandboxRound } from "../../contract/sandbox/Api.ts"
import { ownPolicy } from "../../domain/settlement/Settlement.ts"
import { refuseFields } from "../../domain/Refusal.ts"
import { Entropy } from "../../platform/Entropy.ts"
import { receiveForwarded } from "../../protocols/pitboss/Pitboss.ts"
import type { CallHead } from "../../protocols/Protocol.ts"
import { PlayerActors } from "../../store/PlayerActors.ts"
import { Games } from "../games/Games.ts"
import { PlayerRefs } from "../games/PlayerRefs.ts"
import { Launches } from "../launches/Launches.ts"
import { ProviderWallet } from "../settlement/ProviderWallet.ts"

const noProvider = refuseFields({ game_id: ["must be a provider's game: an original is played by its own calls"] })

const inMode = { mode: "real", platform: null, ip: null } as const

const readAnswer = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

interface Message {
  readonly path: string
  readonly request: { readonly [field: string]: unknown }
}

const headOf = (path: string): CallHead => ({
  method: "POST",
  target: path,
  header: (name) => name === "content-type" ? "application/json" : undefined,
  // read by signatures and by vendors' protocols alone
  now: 0,
  address: () => undefined
})

export const makePlayRound = Effect.gen(function*() {
  const actors = yield* PlayerActors
  const games = yield* Games
  const launches = yield* Launches
  const wallet = yield* ProviderWallet
  const refs = yield* PlayerRefs
  const entropy = yield* Entropy

  const send = Effect.fnUntraced(function*(providerId: number, { path, request }: Message) {
    const received = receiveForwarded(headOf(path), Buffer.from(JSON.stringify(request)))
    const answer = received._tag === "Call"
      ? received.render(yield* wallet.run({ providerId, policy: ownPolicy }, received.call))
      : received._tag === "NotFound"
      ? { status: 404, body: "{}" }
      : received.answer
    return { path, request, status: answer.status, answer: yield* Effect.orDie(readAnswer(answer.body)) }
  })

  /** Plays a round of a player; gives what was sent and answered, in that order. Not to be interrupted. */
  return Effect.fn("SandboxRounds.play")(function*(operatorId: number, playerId: number, round: SandboxRound) {
    const { currency } = yield* actors.read(operatorId, playerId)
    const game = yield* games.get(round.game_id)
    if (game.original !== null) return yield* Effect.fail(noProvider)
    const { id: providerId } = game.provider
    const launched = yield* launches.launch(operatorId, playerId, game.id, inMode, {
      claim: undefined,
      render: () => ({ status: 200, body: "" })
    })
    const roundId = `simulated-${entropy.uuid()}`
    const nameOf = (kind: string): string => `${roundId}-${kind}`
    const message = (action: string, fields: Message["request"], kind = action): Message => ({
      path: `/api/v1/provider/wallet/${action}`,
      request: { request_id: nameOf(`${kind}-request`), ...fields }
    })
    const place = { game_id: game.externalId, round_id: roundId }
    const player = { player_ref: refs.playerRef(providerId, playerId) }
    const isLost = round.win === undefined && round.rollback !== true
    const bet = message("bet", {
      transaction_id: nameOf("bet"),
      session_token: launched.sessionToken,
      ...place,
      amount: round.bet,
      currency,
      ...(isLost ? { round_closed: true } : {})
    })
    const win = round.win === undefined ? [] : [message("win", {
      transaction_id: nameOf("win"),
      ...player,
      ...place,
      bet_transaction_id: nameOf("bet"),
      amount: round.win,
      currency,
      round_closed: true
    })]
    const rollback = round.rollback !== true ? [] : [message("rollback", {
      transaction_id: nameOf("rollback"),
      ...player,
      target_transaction_id: nameOf("bet")
    })]
    const { duplicates = 0, order = "normal" } = round
    const messages: Array<SandboxMessage> = []
    /** Gives whether the message was accepted, by its last answer. */
    const sendAll = Effect.fnUntraced(function*(one: Message) {
      let isAccepted = false
      for (let sent = 0; sent <= duplicates; sent++) {
        const answered = yield* send(providerId, one)
        messages.push(answered)
        isAccepted = answered.status === 200
      }
      return isAccepted
    })
    if (order === "crossed") {
      for (const one of rollback) yield* sendAll(one)
      const early = yield* Effect.forEach(win, sendAll)
      const isTaken = yield* sendAll(bet)
      // as a provider does whose win was not taken
      if (isTaken && early.includes(false)) yield* Effect.forEach(win, sendAll)
    } else {
      const isTaken = yield* sendAll(bet)
      if (isTaken) yield* Effect.forEach(win, sendAll)
      for (const one of rollback) yield* sendAll(one)
    }
    return { messages }
  })
})
