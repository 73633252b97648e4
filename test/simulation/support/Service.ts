/**
 * The service on a simulated machine: its own capabilities, actors, rules and jobs, over the simulated database. HTTP's
 * work (parsing, signatures, rate limits) is left out; its handling of idempotency keys is done here in the
 * same way.
 */
import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import { Bonuses, type Redeemed } from "../../../src/features/bonuses/Bonuses.ts"
import type { OwnedBonus } from "../../../src/store/BonusRows.ts"
import { playerBonusFields } from "../../../src/domain/state/Bonus.ts"
import type { IdempotencyClaim, RenderedReply } from "../../../src/domain/state/Idempotency.ts"
import { readLimitChanges } from "../../../src/domain/limit/LimitChanges.ts"
import type { LimitsResource } from "../../../src/domain/limit/LimitUsage.ts"
import { paymentFields, type PaymentOutcome } from "../../../src/domain/payment/Payments.ts"
import { type Refusal, statusByCode } from "../../../src/domain/Refusal.ts"
import { settleAll, type Settlement } from "../../../src/domain/settlement/Settlement.ts"
import { correctionStep } from "../../../src/domain/wallet/Corrections.ts"
import { Forwarder, notOwned } from "../../../src/cluster/Forwarder.ts"
import { Placement } from "../../../src/engine/Placement.ts"
import { RemoteCommands } from "../../../src/store/RemoteCommands.ts"
import { type LaunchedGame, Launches } from "../../../src/features/launches/Launches.ts"
import { Idempotency } from "../../../src/store/Idempotency.ts"
import { VendorLaunches } from "../../../src/features/launches/VendorLaunches.ts"
import { ResponsibleGaming } from "../../../src/features/responsibleGaming/ResponsibleGaming.ts"
import { Approvals } from "../../../src/features/payments/Approvals.ts"
import { Payments } from "../../../src/features/payments/Payments.ts"
import { StaffSpending } from "../../../src/office/StaffSpending.ts"
import { Thresholds } from "../../../src/features/payments/Thresholds.ts"
import { Ids } from "../../../src/platform/Ids.ts"
import { layerNoCases } from "../../kit/NoCases.ts"
import { ownWallet } from "../../kit/OwnWallet.ts"
import { layerPersonal } from "../../kit/Personal.ts"
import { DueAccountChanges } from "../../../src/features/players/DueAccountChanges.ts"
import { PlayerAccounts } from "../../../src/features/players/PlayerAccounts.ts"
import { elsewhereOf, PlayerActors } from "../../../src/store/PlayerActors.ts"
import { ProfileBook } from "../../../src/store/ProfileBook.ts"
import { FreeRounds } from "../../../src/features/freeRounds/FreeRounds.ts"
import { VendorPlayers } from "../../../src/features/integrations/VendorPlayers.ts"
import { ProviderWallet } from "../../../src/features/settlement/ProviderWallet.ts"
import { Wallet } from "../../../src/features/wallet/Wallet.ts"
import type { Connection, Database } from "./Database.ts"
import { layerCatalogues, layerNames, operatorById, providerById, refs } from "./Fixture.ts"
import { layerProfiles, layerRegisters } from "./Licence.ts"
import type { Plan } from "./Plan.ts"
import type { SeededBug } from "./SeededBug.ts"
import type { Answer, OperatorRequest, ProviderRequest, Request, StaffRequest } from "./Requests.ts"
import { layerNoStatements, layerRepositories } from "./Repositories.ts"
import type { Machine } from "./World.ts"

/** Ids in blocks, from the database; unused ids of a block are lost in a crash. */
const layerIds = (database: Database) => Layer.sync(Ids, () => Ids.ofBlocks((size) => database.takeIds(size)))

/** No simulated game belongs to a vendor. */
const layerNoVendors = Layer.succeed(VendorLaunches, { address: () => Effect.die(new Error("there are no vendors")) })

/** No simulated call asks for a player's profile or for free rounds. */
const layerNoProfiles = Layer.merge(Layer.mock(VendorPlayers)({}), Layer.mock(FreeRounds)({}))

/** Complete service without HTTP. */
export const layerService = (
  database: Database,
  connection: Connection,
  machine: Machine,
  plan: Plan,
  bug: SeededBug,
  placed: Layer.Layer<Placement | Forwarder>
) => {
  const store = bug.store(database.storeOf(connection), database)
  const actors = Layer.effect(
    PlayerActors,
    Effect.gen(function*() {
      const context = yield* Layer.build(
        Layer.fresh(PlayerActors.layerOver(Effect.succeed(store), plan.service, Effect.service(ProfileBook)))
      )
      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const real = Context.get(context, PlayerActors)
      const actors = bug.actors(real, database, yield* Placement)
      // a bug of `ask` is also one of `post`
      return actors.ask === real.ask ? actors : {
        ...actors,
        post: (operatorId, playerId, step, done) => void fork(actors.ask(operatorId, playerId, step)).addObserver(done)
      }
    })
  )
  return Layer.mergeAll(
    ProviderWallet.layerWithoutRepository.pipe(Layer.provide(layerNoProfiles)),
    Wallet.layer,
    Payments.layer,
    Approvals.layerWithoutRepository,
    Launches.layer.pipe(Layer.provide(layerNoVendors)),
    Bonuses.layerWithoutRepository,
    ResponsibleGaming.layer,
    PlayerAccounts.layer,
    DueAccountChanges.layerWithoutRepository
  ).pipe(
    Layer.provide(layerRegisters(plan, machine)),
    Layer.provideMerge(Layer.mergeAll(actors, RemoteCommands.layer, Idempotency.layerWithoutRepository)),
    Layer.provideMerge(placed),
    Layer.provide([Thresholds.layer, StaffSpending.layer, layerNoCases, bug.profiles(layerProfiles(plan, machine))]),
    Layer.provide([layerIds(database), layerCatalogues, layerNames]),
    Layer.provide([layerRepositories(database, connection), layerNoStatements, layerPersonal])
  )
}

export type Capabilities = Layer.Success<ReturnType<typeof layerService>>

/** Entry point for requests. */
export interface Port {
  readonly handle: (request: Request) => Effect.Effect<Answer>
}

const bodyOf = (data: object): string => JSON.stringify({ data })

const renderPayment = ({ isRepeat, payment }: PaymentOutcome) => ({
  status: isRepeat ? 200 : 201,
  body: bodyOf(paymentFields(payment))
})
const renderBonus = ({ bonus, currency, playerId }: OwnedBonus) => ({
  status: 201,
  body: bodyOf(playerBonusFields(playerId, currency, bonus))
})
const renderLimits = (resource: LimitsResource) => ({ status: 200, body: bodyOf(resource) })
const renderLaunch = (launched: LaunchedGame) => ({ status: 200, body: bodyOf(launched) })

const replied = ({ body, status }: RenderedReply, isReplay = false): Answer => ({
  _tag: "Reply",
  status,
  body,
  isReplay
})

const refusedAs = (refusal: Refusal): Answer => ({
  _tag: "Refused",
  code: refusal.code,
  details: refusal.details,
  isReplay: false
})

const settled = (results: ReadonlyArray<Settlement>): Answer => ({ _tag: "Settled", results })

/** Requests and answers in transit between nodes, by the key sent in their place. */
export class MessageTable {
  private readonly requests: Array<Request> = []
  private readonly answers: Array<Answer> = []

  sendRequest(request: Request): string {
    return String(this.requests.push(request) - 1)
  }

  readRequest(body: string): Request | undefined {
    return this.requests[Number(body)]
  }

  sendAnswer(answer: Answer): string {
    return String(this.answers.push(answer) - 1)
  }

  readAnswer(body: string): Answer | undefined {
    return this.answers[Number(body)]
  }
}

const channel = "request"

/** Whether a request may be sent again although it may have had its effect: it has an id or a key, or changes nothing. */
const isRepeatable = (request: Request): boolean =>
  "providerId" in request || request.kind === "view" || ("key" in request && request.key !== null)

const notKnown: Answer = { _tag: "Refused", code: "TRY_AGAIN", details: {}, isReplay: false }

export const makePort = Effect.fnUntraced(function*(
  messages: MessageTable
): Effect.fn.Return<Port, never, Capabilities> {
  const forwarder = yield* Forwarder
  const placement = yield* Placement
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const actors = yield* PlayerActors
  const provider = ownWallet(yield* ProviderWallet)
  const wallet = yield* Wallet
  const payments = yield* Payments
  const approvals = yield* Approvals
  const launches = yield* Launches
  const bonuses = yield* Bonuses
  const gaming = yield* ResponsibleGaming
  const accounts = yield* PlayerAccounts
  const upkeep = yield* DueAccountChanges
  const idempotency = yield* Idempotency

  const handleProvider = (request: ProviderRequest): Effect.Effect<Answer, Refusal> => {
    const by = providerById(request.providerId)
    const one = (result: Settlement) => settled([result])
    switch (request.kind) {
      case "bet":
        return Effect.map(provider.bet(by, request.message), one)
      case "bet_win":
        return Effect.map(provider.betWin(by, request.message), one)
      case "win":
        return Effect.map(provider.win(by, request.message), one)
      case "rollback":
        return Effect.map(provider.rollback(by, request.message), one)
      case "batch":
        return Effect.map(provider.batch(by, request.actions), settled)
      case "close":
        return Effect.map(provider.closeRound(by, request.message), one)
      case "promo_win":
        return Effect.map(provider.promoWin(by, request.message), one)
      case "vendor":
        return Effect.map(
          actors.ask(null, request.playerId, (player, context) => settleAll(player, request.actions, context)),
          settled
        )
      case "balance":
        return Effect.map(provider.balance(by, request.playerRef), ({ bonus, real }) => ({
          _tag: "Balances",
          playerId: refs.parse(by.id, request.playerRef) ?? 0,
          real,
          bonus
        }))
      case "status":
        return Effect.map(provider.transactionStatus(by, request.transactionId), (status) => ({
          _tag: "Standing",
          status
        }))
    }
  }

  /** Runs a POST under its idempotency key, as `IdempotentPostLive.ts` does. */
  const guarded = <Reply>(
    request: OperatorRequest,
    render: (reply: Reply) => RenderedReply,
    run: (answering: {
      readonly claim: IdempotencyClaim | undefined
      readonly render: (reply: Reply) => RenderedReply
    }) => Effect.Effect<Reply, Refusal>
  ): Effect.Effect<Answer, Refusal> => {
    const { key } = request
    if (key === null) return Effect.map(run({ claim: undefined, render }), (reply) => replied(render(reply)))
    const fingerprint = new Uint8Array(Buffer.from(JSON.stringify(request)))
    const claim = { scope: `operator:${request.operatorId}`, key, fingerprint }
    const answered = run({ claim, render }).pipe(
      Effect.map((reply) => ({ ...render(reply), code: undefined, refusal: undefined })),
      Effect.catch((refusal) => {
        if (elsewhereOf(refusal) !== undefined) return Effect.fail(refusal)
        const { code, details, message } = refusal
        const body = JSON.stringify({ error: { code, message, details } })
        return Effect.succeed({ status: statusByCode[code], code, body, refusal })
      })
    )
    return Effect.map(idempotency.guard(claim, answered), (outcome): Answer => {
      if (outcome._tag === "Replayed") return replied(outcome.reply, true)
      const { refusal } = outcome.answer
      return refusal === undefined ? replied(outcome.answer) : refusedAs(refusal)
    })
  }

  const handleOperator = (request: OperatorRequest): Effect.Effect<Answer, Refusal> => {
    const { id, operatorId, playerId } = request
    const operator = operatorById(operatorId)
    if (operator === undefined) return Effect.die(new Error(`there is no operator ${operatorId}`))
    const actor = `key:${operatorId}`
    switch (request.kind) {
      case "deposit": {
        const { amount, hasKey, reference } = request
        const terms = {
          amount,
          externalReference: reference,
          paymentMethod: hasKey ? "bank" : null,
          info: null,
          notes: null
        }
        return guarded(request, renderPayment, (answering) => wallet.deposit(operator, playerId, terms, answering))
      }
      case "withdraw": {
        const { amount, reference } = request
        const terms = {
          amount,
          externalReference: reference,
          paymentMethod: "bank",
          info: id,
          notes: null,
          bankName: null
        }
        return guarded(request, renderPayment, (answering) => payments.withdraw(operator, playerId, terms, answering))
      }
      case "limits": {
        const changes = readLimitChanges({ [request.field]: request.value })
        if ("_tag" in changes) return Effect.fail(changes)
        const command = { changes, coolingOffHours: operator.coolingOffHours, actor }
        return Effect.map(
          gaming.setLimits(operatorId, playerId, command),
          ({ resource }) => replied(renderLimits(resource))
        )
      }
      case "exclude": {
        const command = { period: request.period, until: null, type: null, actor }
        return guarded(
          request,
          renderLimits,
          (answering) => gaming.selfExclude(operatorId, playerId, command, answering)
        )
      }
      case "account": {
        const { status } = request
        return Effect.as(accounts.setStatus(operatorId, playerId, { status, reason: id, actor }), done)
      }
      case "grant": {
        const terms = { bonusId: request.bonusId, amount: null, note: id }
        return guarded(request, renderBonus, (answering) => bonuses.grant(operatorId, playerId, terms, answering))
      }
      case "redeem":
        return guarded(
          request,
          ({ owned }: Redeemed) => renderBonus(owned),
          (answering) => bonuses.redeem(operatorId, playerId, request.code, answering)
        )
      case "launch": {
        const terms = { mode: "real" as const, platform: null, ip: null }
        return guarded(
          request,
          renderLaunch,
          (answering) => launches.launch(operatorId, playerId, request.gameId, terms, answering)
        )
      }
      case "view":
        return Effect.map(wallet.view(operator, playerId), ({ player: { bonus, real } }) => ({
          _tag: "Balances",
          playerId,
          real,
          bonus
        }))
    }
  }

  const handleStaff = (request: StaffRequest): Effect.Effect<Answer, Refusal> => {
    const actor = "staff:1"
    switch (request.kind) {
      case "move": {
        const { move, paymentId, staff } = request
        return Effect.map(
          approvals.apply({ paymentId, transition: move, actor: staff, reason: null }),
          (payment) => replied({ status: 200, body: bodyOf(paymentFields(payment)) })
        )
      }
      case "correct": {
        const { amount, id: reason, playerId } = request
        return Effect.map(
          actors.ask(null, playerId, correctionStep({ wallet: "real", amount, reason, actor })),
          (entry) => replied({ status: 200, body: bodyOf(entry) })
        )
      }
      case "kyc": {
        const { documentDays, playerId, status } = request
        return Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const documentExpiresAt = documentDays === null ? null : now + documentDays * 86_400_000
          return Effect.as(accounts.moveKyc(playerId, { status, documentExpiresAt, reason: null, actor }), done)
        })
      }
      case "restrict": {
        const { canBet, canDeposit, playerId } = request
        return Effect.as(accounts.restrict(playerId, { restrictions: { canBet, canDeposit }, actor }), done)
      }
      case "cancel_bonus":
        return Effect.as(bonuses.cancel(request.bonusId, null, actor), done)
    }
  }

  const runJob = (job: "accounts" | "bonuses" | "idempotency-keys"): Effect.Effect<unknown, Refusal> => {
    switch (job) {
      case "accounts":
        return upkeep.run
      case "bonuses":
        return bonuses.applyDue
      case "idempotency-keys":
        return idempotency.prune
    }
  }

  const dispatch = (request: Request): Effect.Effect<Answer, Refusal> => {
    if (request.kind === "job") return Effect.as(runJob(request.job), done)
    if ("providerId" in request) return handleProvider(request)
    return "operatorId" in request ? handleOperator(request) : handleStaff(request)
  }

  /** Sends a request to the player's owner, as `Forwarding.ts` does. */
  const sendOn = (playerId: number, request: Request): Effect.Effect<Answer> =>
    Effect.match(
      forwarder.send(playerId, channel, { head: "", body: messages.sendRequest(request) }, {
        isRepeatable: isRepeatable(request)
      }),
      { onFailure: () => notKnown, onSuccess: ({ body }) => messages.readAnswer(body) ?? notKnown }
    )

  forwarder.serve(channel, ({ body }, done) => {
    const request = messages.readRequest(body)
    const orRefuse = (refusal: Refusal): Answer | typeof notOwned =>
      elsewhereOf(refusal) === undefined ? refusedAs(refusal) : notOwned
    const answer: Effect.Effect<Answer | typeof notOwned> = request === undefined
      ? Effect.succeed(notKnown)
      : dispatch(request).pipe(Effect.catch((refusal) => Effect.succeed(orRefuse(refusal))))
    fork(answer).addObserver((exit) => {
      if (Exit.isFailure(exit)) done({ status: 500, head: Cause.pretty(exit.cause), body: "" })
      else if (exit.value === notOwned) done(notOwned)
      else done({ status: 200, head: "", body: messages.sendAnswer(exit.value) })
    })
  })

  /** Checks ownership first when the request names the player; otherwise runs it here until it needs another node's player. */
  const serve = (request: Request): Effect.Effect<Answer> =>
    Effect.suspend(() =>
      forwarder.node !== undefined && "playerId" in request && placement.epochOf(request.playerId) === 0
        ? sendOn(request.playerId, request)
        : dispatch(request).pipe(Effect.catch((refusal) => {
          const elsewhere = elsewhereOf(refusal)
          return elsewhere === undefined ? Effect.succeed(refusedAs(refusal)) : sendOn(elsewhere, request)
        }))
    )

  return {
    handle: (request) => {
      const answer = serve(request)
      // a hang-up interrupts reads only, as the authentication of requests ensures
      return isRead(request) ? answer : Effect.uninterruptible(answer)
    }
  }
})

const isRead = ({ kind }: Request): boolean => kind === "view" || kind === "status"

const done = replied({ status: 200, body: "" })
