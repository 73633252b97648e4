/**
 * Simulated clients: providers that retry and roll back unanswered messages, operators with references and idempotency keys, staff, and
 * the clock that starts jobs. They record requests and answers.
 */
import { Context, Effect, Schema } from "effect"
import type { ActionMessage, BetMessage } from "../../kit/OwnWallet.ts"
import { gameById, operatorOfPlayer, playerIds, refs, strangerTo, tokens } from "./Fixture.ts"
import type { Network } from "./Network.ts"
import type { Action, Payout, Plan, Stake, TakeBack } from "./Plan.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import { type Answer, isPassing, type Request } from "./Requests.ts"
import type { Machine, World } from "./World.ts"

/** An answer received by a client. */
export interface ReceivedAnswer {
  readonly request: Request
  readonly answer: Answer
  /** Steps of the world: first sending of the request, and receipt of the answer. */
  readonly sentAt: number
  readonly at: number
}

/** Record of a client about an action. */
export interface Note {
  readonly action: Action
  /** Undefined for an action without a target. */
  request: Request | undefined
  /** Step and time of the first attempt. */
  sentAt: number
  readonly heard: Array<ReceivedAnswer>
  /** Its requests that were retried and never answered. */
  readonly unanswered: Array<Request>
}

/** Maximum number of attempts without an answer. */
const mostAttempts = 90

const sessionMs = 12 * 3_600_000

const paymentBody = Schema.fromJsonString(Schema.Struct({ data: Schema.Struct({ id: Schema.Number }) }))
const launchBody = Schema.fromJsonString(
  Schema.Struct({ data: Schema.Struct({ sessionToken: Schema.String, gameId: Schema.Number }) })
)
const readPayment = Schema.decodeUnknownSync(paymentBody)
const readLaunch = Schema.decodeUnknownSync(launchBody)

const currency = "EUR"

const isDone = (answer: Answer | undefined): answer is Answer => answer !== undefined && !isPassing(answer)

/** Body of a 2xx answer; undefined for others. */
export const bodyOf = (answer: Answer): string | undefined =>
  answer._tag === "Reply" && answer.status < 300 ? answer.body : undefined

export class Clients {
  readonly notes: Array<Note> = []
  private readonly world: World
  private readonly plan: Plan
  private readonly network: Network
  private readonly machine: Machine
  private playing = 0
  /** Ids of created payments and bonuses by action, of sessions by player and provider. */
  private readonly made = new Map<string, number>()
  private readonly sessions = new Map<string, string>()

  constructor(world: World, plan: Plan, network: Network, machine: Machine) {
    this.world = world
    this.plan = plan
    this.network = network
    this.machine = machine
    for (const playerId of playerIds) {
      for (const providerId of [1, 2]) {
        this.sessions.set(
          `${playerId} ${providerId}`,
          tokens.issue({
            sessionId: playerId,
            playerId,
            operatorId: operatorOfPlayer(playerId),
            gameId: providerId === 1 ? 11 : 13,
            providerId,
            mode: "real",
            expiresAt: plan.beginning + sessionMs
          })
        )
      }
    }
  }

  start(): void {
    this.playing = this.plan.actions.length
    for (const action of this.plan.actions) {
      this.world.after(action.at, this.machine, () => {
        this.machine.fork(Context.empty(), this.play(action)).addObserver(() => this.playing--)
      })
    }
  }

  get areDone(): boolean {
    return this.playing === 0
  }

  /** Player of an action. */
  playerOf(actionId: string): number | undefined {
    return this.notes.find(({ action }) => action.id === actionId)?.action.playerId
  }

  /** Requests every player's balance at the end. */
  lookAround(): void {
    this.playing = playerIds.length
    for (const playerId of playerIds) {
      const action: Action = {
        id: `end${playerId}`,
        at: 0,
        playerId,
        what: { kind: "view", isStranger: false },
        repeats: 0,
        patience: 1
      }
      this.machine.fork(Context.empty(), this.play(action)).addObserver(() => this.playing--)
    }
  }

  private play(action: Action): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const chance = chanceOf(this.plan.seed, "client", action.id)
      const request = this.requestOf(action)
      const note: Note = { action, request, sentAt: this.world.step, heard: [], unanswered: [] }
      this.notes.push(note)
      if (request === undefined) return
      const isBet = request.kind === "bet" || request.kind === "bet_win" || request.kind === "batch"
      const isOnce = request.kind === "correct"
      const attempts = isBet ? action.patience : isOnce ? 1 : mostAttempts
      const answer = yield* this.insist(note, chance, "", request, attempts)
      if (answer === undefined && isBet) {
        yield* Effect.forEach(
          this.takeBacksOf(action, request),
          (undo, index) => this.insist(note, chance, `undo${index}`, undo, mostAttempts)
        )
      }
      if (answer !== undefined) this.learn(action, request, answer)
      const repeats = answer === undefined || isOnce ? 0 : action.repeats
      for (let repeat = 0; repeat < repeats; repeat++) {
        yield* Effect.sleep(chance.pick([5, 300, 3000]))
        yield* this.ask(note, chance, `again${repeat}`, request)
      }
    })
  }

  /** Sends a request until it is answered. */
  private insist(
    note: Note,
    chance: Chance,
    part: string,
    request: Request,
    attempts: number
  ): Effect.Effect<Answer | undefined> {
    return Effect.gen({ self: this }, function*() {
      for (let attempt = 0; attempt < attempts; attempt++) {
        const answer = yield* this.ask(note, chance, `${part}${attempt}`, request)
        if (isDone(answer)) return answer
        yield* Effect.sleep(Math.min(4000, chance.between(20, 60) * 2 ** attempt))
      }
      if (attempts === mostAttempts) note.unanswered.push(request)
      return undefined
    })
  }

  private ask(note: Note, chance: Chance, part: string, request: Request): Effect.Effect<Answer | undefined> {
    return Effect.suspend(() => {
      const { action, heard } = note
      const sentAt = this.world.step
      // some wait longer than a node may be paused
      const timeout = chance.pick(this.plan.topology === "nodes" ? [600, 3000, 12_000] : [400, 1000, 3000])
      // a late duplicate of a settings change would rightly undo a later one, as it cannot be told from a new request
      const mayDouble = !["correct", "account", "restrict", "kyc", "limits"].includes(request.kind)
      return Effect.map(
        this.network.call(`${action.id} ${part}`, action.id, request, timeout, mayDouble),
        (answer) => {
          if (answer !== undefined) heard.push({ request, answer, sentAt, at: this.world.step })
          return answer
        }
      )
    })
  }

  /** Stores the values of an answer that later requests need. */
  private learn(action: Action, request: Request, answer: Answer): void {
    const body = bodyOf(answer)
    if (body === undefined) return
    if (request.kind === "deposit" || request.kind === "withdraw" || request.kind === "grant") {
      this.made.set(action.id, readPayment(body).data.id)
    }
    if (request.kind === "launch") {
      const { gameId, sessionToken } = readLaunch(body).data
      this.sessions.set(`${action.playerId} ${gameById(gameId)?.provider.id}`, sessionToken)
    }
  }

  /** Rollbacks of everything that a bet may have done, newest first. */
  private takeBacksOf(action: Action, request: Request): ReadonlyArray<Request> {
    const undo = (providerId: number, target: string): Request => ({
      kind: "rollback",
      providerId,
      message: {
        transaction_id: `k${target}`,
        player_ref: refs.playerRef(providerId, action.playerId),
        target_transaction_id: target
      }
    })
    switch (request.kind) {
      case "bet":
        return [undo(request.providerId, request.message.transaction_id)]
      case "bet_win":
        return [
          undo(request.providerId, request.message.win.transaction_id),
          undo(request.providerId, request.message.transaction_id)
        ]
      case "batch":
        return request.actions.filter((one) => one.action !== "rollback")
          .map((one) => undo(request.providerId, one.transaction_id)).reverse()
      default:
        return []
    }
  }

  private requestOf(action: Action): Request | undefined {
    const { id, playerId, what } = action
    const providerOf = (gameId: number): number => gameById(gameId)?.provider.id ?? 1
    const nameOf = (gameId: number): string => gameById(gameId)?.externalId ?? ""
    const refOf = (gameId: number): string => refs.playerRef(providerOf(gameId), playerId)
    const betOf = (stake: Stake): BetMessage => ({
      transaction_id: stake.tx,
      session_token: this.sessions.get(`${playerId} ${providerOf(stake.gameId)}`) ?? "",
      game_id: nameOf(stake.gameId),
      round_id: stake.round,
      amount: stake.amount,
      currency,
      round_closed: stake.closes
    })
    const winOf = (payout: Payout) => ({
      transaction_id: payout.tx,
      player_ref: refOf(payout.gameId),
      game_id: nameOf(payout.gameId),
      round_id: payout.round,
      bet_transaction_id: payout.betTx,
      amount: payout.amount,
      currency,
      round_closed: payout.closes
    })
    const rollbackOf = (takeBack: TakeBack) => ({
      transaction_id: takeBack.tx,
      player_ref: refOf(takeBack.gameId),
      target_transaction_id: takeBack.target
    })
    switch (what.kind) {
      case "bet":
        return { kind: "bet", providerId: providerOf(what.gameId), message: betOf(what) }
      case "bet_win": {
        const { winAmount, winTx } = what
        const message = { ...betOf(what), win: { transaction_id: winTx, amount: winAmount } }
        return { kind: "bet_win", providerId: providerOf(what.gameId), message }
      }
      case "win":
        return { kind: "win", providerId: providerOf(what.gameId), message: winOf(what) }
      case "rollback":
        return { kind: "rollback", providerId: providerOf(what.gameId), message: rollbackOf(what) }
      case "batch": {
        const actions = what.moves.map((move): ActionMessage => {
          switch (move.kind) {
            case "bet":
              return { action: "bet", ...betOf(move) }
            case "win":
              return { action: "win", ...winOf(move) }
            case "rollback":
              return { action: "rollback", ...rollbackOf(move) }
          }
        })
        return { kind: "batch", providerId: providerOf(what.moves[0]?.gameId ?? 11), actions }
      }
      case "close": {
        const { gameId, round } = what
        const message = { player_ref: refOf(gameId), game_id: nameOf(gameId), round_id: round }
        return { kind: "close", providerId: providerOf(gameId), message }
      }
      case "promo_win": {
        const kind = what.isTournament ? "tournament" : "jackpot"
        const { amount, tx } = what
        const of = { transaction_id: tx, player_ref: refOf(11), campaign_id: "c" }
        const message = { ...of, amount, currency, kind } as const
        return { kind: "promo_win", providerId: 1, message }
      }
      case "balance":
        return { kind: "balance", providerId: 1, playerRef: refOf(11) }
      case "status":
        return { kind: "status", providerId: providerOf(what.gameId), transactionId: what.tx }
      case "move": {
        const paymentId = this.made.get(what.of)
        return paymentId === undefined ? undefined : { ...what, paymentId }
      }
      case "cancel_bonus": {
        const bonusId = this.made.get(what.of)
        return bonusId === undefined ? undefined : { ...what, bonusId }
      }
      case "vendor":
        return { ...what, playerId }
      case "correct":
      case "kyc":
      case "restrict":
        return { ...what, playerId, id }
      case "job":
        return what
      default: {
        const operatorId = what.kind === "view" && what.isStranger ? strangerTo(playerId) : operatorOfPlayer(playerId)
        const isKeyed = what.kind === "grant" || what.kind === "redeem" || ("hasKey" in what && what.hasKey)
        return { ...what, operatorId, playerId, id, key: isKeyed ? `key-${id}` : null }
      }
    }
  }
}
