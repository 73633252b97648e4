/** Several nodes under load while they and their database are killed, stopped, frozen and cut off; then the comparison. */
import { Effect, Fiber, Layer, Redacted, References, Schedule, Schema } from "effect"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { LedgerAudit } from "../../../src/features/ledger/LedgerAudit.ts"
import type { StartupError } from "../../../src/platform/StartupError.ts"
import { layerChainUnkeyed } from "../../kit/Chains.ts"
import { type Chance, chanceOf } from "../../kit/Chance.ts"
import { deliver, playAll, replayAll, settleAll, until, whilePlaying } from "../../kit/Client.ts"
import { type ClusterNode, startCluster, untilBalanced } from "../../kit/ClusterProcesses.ts"
import { layerDatabaseAt, makeFickleServer } from "../../kit/E2eDatabase.ts"
import { addGame, addPaymentMethod, addStudio, addTenant, dataAs, seat } from "../../kit/Casino.ts"
import { type Caller, callerOf, exchange, makeAgent, patiently, type Signer, staffOf } from "../../kit/HttpCalls.ts"
import { History, type Line, type Sender } from "../../kit/History.ts"
import { audit } from "../../kit/HistoryAudit.ts"
import { addStaff, exceptAddedStaff } from "../../kit/Keys.ts"
import { makeOperations, withdrawalMethod } from "../../kit/Operations.ts"
import type { ServiceExited } from "../../kit/ServiceProcess.ts"
import { checkHistories } from "./PlayerHistories.ts"
import { makeWitnesses } from "./Witnesses.ts"
import { makeRunFolder, type RunFolder } from "./World.ts"

export const nodeFaults = ["kill", "leave", "pause", "unreachable", "parted", "database"] as const
export type NodeFault = (typeof nodeFaults)[number]

export interface NodePlan {
  readonly seed: number
  readonly nodes: number
  readonly players: number
  readonly clients: number
  /** Pause of a client between two turns; 0 for maximum load. */
  readonly restMs: number
  readonly leaseSeconds: number
  /** Number of each kind. */
  readonly faults: { readonly [Kind in NodeFault]: number }
  readonly keepsFolder: boolean
  /** While the players are made, which takes minutes for thousands of them. */
  readonly onProgress: (text: string) => void
  readonly onFault: (outcome: FaultOutcome, number: number, all: number) => void
}

export interface FaultOutcome {
  readonly kind: NodeFault
  /** Time in ms until each player of the node was served again, maximum and median. */
  readonly longest: number
  readonly median: number
  /** Slowest answer in ms to a player of another node, by an unaffected node. */
  readonly othersLongest: number
  /** Maximum number of sendings of one call of a player of the node. */
  readonly attempts: number
}

export interface NodeOutcome {
  readonly seed: number
  readonly faults: ReadonlyArray<FaultOutcome>
  readonly sent: number
  readonly answers: number
  readonly lost: number
  readonly triedAgain: number
  /** Rows compared with the intents, and operations put into a linear order. */
  readonly effects: number
  readonly ordered: number
  readonly folder: string | undefined
  readonly violations: ReadonlyArray<string>
}

const witnessCount = 45

const startBalance = 1_000_000

/** Answers between the end of a fault and the next one, so that each hits nodes under load. */
const answersBetween = 60

const longEnough = "90 seconds"

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0

/** Sends to one of these callers at a time. */
const anyOf = (callers: () => ReadonlyArray<Sender>, chance: Chance): Sender => ({
  send: (path, call) => Effect.suspend(() => chance.pick(callers()).send(path, call))
})

const shuffled = (faults: NodePlan["faults"], chance: Chance): ReadonlyArray<NodeFault> => {
  const left = nodeFaults.flatMap((kind) => Array.from({ length: faults[kind] }, () => kind))
  const order: Array<NodeFault> = []
  while (left.length > 0) order.push(...left.splice(chance.below(left.length), 1))
  return order
}

export const runNodes = (plan: NodePlan) =>
  Effect.scoped(Effect.gen(function*() {
    const folder = yield* makeRunFolder
    const server = yield* makeFickleServer({ onLine: folder.writeDatabaseLine })
    return yield* Effect.scoped(runOn(plan, server, folder)).pipe(
      Effect.provide(
        LedgerAudit.layer.pipe(Layer.provide(layerChainUnkeyed), Layer.provideMerge(layerDatabaseAt(server.url)))
      ),
      Effect.provideService(References.MinimumLogLevel, "Warn")
    )
  }))

const runOn = Effect.fnUntraced(function*(
  plan: NodePlan,
  server: Effect.Success<ReturnType<typeof makeFickleServer>>,
  folder: RunFolder
) {
  const chance = chanceOf(plan.seed)
  const agent = yield* makeAgent(512)
  const nodes = yield* startCluster({
    count: plan.nodes,
    databaseUrl: Redacted.value(server.url),
    leaseSeconds: plan.leaseSeconds,
    onOutput: (node, text) => appendFileSync(join(folder.path, `node${node}.log`), text)
  })
  const [first] = nodes
  if (first === undefined) return yield* Effect.die(new Error("a cluster of no nodes"))
  /** Nodes that a caller who knows their state avoids. */
  const unwell = new Set<ClusterNode>()
  const well = () => nodes.filter((node) => !unwell.has(node))

  const { call: operator, operator: { id } } = yield* addTenant(agent, first.port, "acme")
  yield* addPaymentMethod(id, withdrawalMethod)
  const studio = yield* addStudio(agent, first.port, "studio")
  const game = yield* addGame(studio.id, "dice")
  const token = yield* addStaff("Grace")
  const callersAt = (signer: Signer) => new Map(nodes.map((node) => [node, callerOf(agent, node.port, signer)]))
  const operators = callersAt(operator.signer)
  const providers = callersAt(studio.call.signer)
  const staff = new Map(nodes.map((node) => [node, staffOf(agent, () => node.process().backofficePort, token)]))
  const of = <A>(callers: ReadonlyMap<ClusterNode, A>, some: ReadonlyArray<ClusterNode>) =>
    some.flatMap((node) => {
      const caller = callers.get(node)
      return caller === undefined ? [] : [caller]
    })
  const lineTo = (some: () => ReadonlyArray<ClusterNode>, stream: number): Line => ({
    operator: anyOf(() => of(operators, some()), chanceOf(plan.seed, stream)),
    provider: anyOf(() => of(providers, some()), chanceOf(plan.seed, stream + 1)),
    staff: anyOf(() => of(staff, some()), chanceOf(plan.seed, stream + 2))
  })
  const toAny = lineTo(() => nodes, 1001)
  const toWell = lineTo(well, 2001)
  const patient = (callers: ReadonlyMap<ClusterNode, Caller>, signer: Signer): Caller => {
    const any = anyOf(() => of(callers, well()), chanceOf(plan.seed, 3001))
    return patiently({ signer, send: any.send })
  }
  const [someOperator, someProvider] = [patient(operators, operator.signer), patient(providers, studio.call.signer)]
  const names = Array.from({ length: plan.players }, (_, index) => `player${index}`)
  const witnessNames = Array.from({ length: witnessCount }, (_, index) => `witness${index}`)
  let seated = 0
  const seatAll = (names: ReadonlyArray<string>, balance: number) =>
    Effect.forEach(
      names,
      (username) =>
        Effect.tap(seat(someOperator, someProvider, game, { username, balance }), () =>
          Effect.sync(() => plan.onProgress(`${++seated} of ${plan.players + witnessCount} players are there`))),
      { concurrency: 16 }
    )
  const seats = yield* seatAll(names, 50_000)
  const watched = yield* seatAll(witnessNames, startBalance)
  const idOf = (node: ClusterNode) =>
    Effect.flatMap(
      exchange(agent, node.port, "/api/v1/operator/me"),
      ({ headers: { "x-served-by": served } }) =>
        served === undefined ? Effect.die(new Error("a node does not say which it is")) : Effect.succeed(served)
    )

  let isOver = false
  const history = new History(folder)
  const clientsOfHalf = Math.ceil(plan.clients / 2)
  const playing = yield* Effect.forkChild(Effect.forEach(
    [["any", toAny], ["well", toWell]] as const,
    ([prefix, line], half) =>
      Effect.flatMap(
        playAll(clientsOfHalf, {
          prefix,
          firstNumber: half * clientsOfHalf,
          history,
          seats,
          lines: [line],
          atOnce: { max: 3, share: 0.15 },
          ...(plan.restMs === 0 ? {} : { restMs: plan.restMs }),
          chanceOf: (index) => chanceOf(plan.seed, 5000 + half * clientsOfHalf + index),
          isOver: () => isOver
        }),
        Fiber.join
      ),
    { concurrency: 2, discard: true }
  ))
  const witnesses = makeWitnesses({
    seats: watched,
    balance: startBalance,
    nodes: () => well().flatMap((node) => of(providers, [node]).map((provider) => ({ number: node.number, provider }))),
    chance: chanceOf(plan.seed, 4001),
    log: folder,
    isOver: () => isOver
  })
  const watching = yield* Effect.forkChild(witnesses.run)
  const more = (answers: number) =>
    Effect.suspend(() => {
      const before = history.answers
      return until(() => history.answers >= before + answers, playing)
    })
  const isReady = (node: ClusterNode) =>
    exchange(false, node.port, "/health/ready").pipe(
      Effect.map(({ status }) => status === 200),
      Effect.timeout("5 seconds"),
      Effect.orElseSucceed(() => false)
    )
  const recovered = whilePlaying(
    playing,
    Effect.forEach(
      nodes,
      (node) => Effect.repeat(isReady(node), { until: (answer) => answer, schedule: Schedule.spaced("50 millis") })
    ).pipe(
      Effect.timeout(longEnough)
    )
  )
  /** Resumes frozen nodes and held connections in any case. */
  const hold = (freeze: () => void, wake: () => void, ms: number) =>
    Effect.sync(freeze).pipe(Effect.andThen(Effect.sleep(ms)), Effect.ensuring(Effect.sync(wake)))
  const leaseMs = plan.leaseSeconds * 1000

  /** Causes the fault at a node, and ends when the node is back. */
  const strike = (kind: NodeFault, node: ClusterNode): Effect.Effect<void, ServiceExited | StartupError> => {
    const running = node.process()
    switch (kind) {
      case "kill":
        return Effect.sync(() => running.kill("SIGKILL")).pipe(
          Effect.andThen(running.exited),
          Effect.andThen(Effect.sleep(leaseMs * chance.pick([0, 0.5, 1.5]))),
          Effect.andThen(node.restart)
        )
      case "leave":
        return Effect.sync(() => running.kill("SIGTERM")).pipe(
          Effect.andThen(running.exited),
          Effect.andThen(node.restart)
        )
      case "pause":
        return hold(() => running.kill("SIGSTOP"), () => running.kill("SIGCONT"), 2 * leaseMs)
      case "unreachable":
        return hold(node.database.hold, node.database.release, 1.5 * leaseMs)
      case "parted":
        return hold(
          () => node.peers.forEach(({ hold }) => hold()),
          () => node.peers.forEach(({ release }) => release()),
          0.75 * leaseMs
        )
      case "database":
        return server.leave("killed").pipe(
          Effect.andThen(Effect.sleep(chance.below(1000))),
          Effect.andThen(server.comeBack)
        )
    }
  }

  const outcomes: Array<FaultOutcome> = []
  const order = shuffled(plan.faults, chance)
  yield* more(answersBetween)
  for (const [index, kind] of order.entries()) {
    yield* whilePlaying(playing, untilBalanced(toWell.staff, plan.nodes))
    // and every witness has called its node since
    yield* Effect.sleep("1 second")
    const node = chance.pick(nodes)
    const id = yield* idOf(node)
    const [own, others] = witnesses.of(id)
    const since = performance.now()
    history.log.write({ what: "fault", kind, node: node.number, id, ms: Math.round(since) })
    // a leaving node goes on serving requests, and a database fault affects all
    if (kind !== "leave" && kind !== "database") unwell.add(node)
    yield* whilePlaying(playing, strike(kind, node))
    const backAt = performance.now()
    yield* recovered
    // every player of the node is served again
    yield* whilePlaying(
      playing,
      Effect.repeat(Effect.sync(() => witnesses.servedAgain(own, since, "").includes(undefined)), {
        while: (isMissing) => isMissing,
        schedule: Schedule.spaced("50 millis")
      }).pipe(Effect.timeout(longEnough))
    )
    unwell.delete(node)
    const waits = kind === "kill" || kind === "pause" || kind === "unreachable"
      ? witnesses.servedAgain(own, since, id).flatMap((wait) => wait ?? [])
      : kind === "database"
      ? witnesses.servedAgain(new Set([...own, ...others]), backAt, "").flatMap((wait) => wait ?? [])
      : witnesses.waits(own, since)
    const outcome: FaultOutcome = {
      kind,
      longest: Math.round(Math.max(0, ...waits)),
      median: Math.round(median(waits)),
      othersLongest: kind === "database" ? 0 : Math.round(witnesses.slowest(others, since, node.number)),
      attempts: witnesses.mostAttempts(own, since)
    }
    history.log.write({ what: "recovered", ...outcome })
    outcomes.push(outcome)
    plan.onFault(outcome, index + 1, order.length)
    yield* more(answersBetween)
  }
  isOver = true
  yield* Fiber.join(playing)
  yield* Fiber.join(watching)

  yield* settleAll(history, toAny)
  const make = makeOperations("end")
  yield* Effect.forEach(seats, (at) => {
    const look = make.look(at, chance.pick(["operator", "provider"]))
    history.open(look)
    return deliver(history, look, toAny)
  }, { concurrency: 16, discard: true })
  const beginning = {
    references: new Set(names.map((name) => `first-${name}`)),
    players: seats.map(({ playerId }) => playerId)
  }
  const found = yield* audit(history, beginning)
  const violations = [...witnesses.violations, ...found.violations]
  yield* replayAll(history, toAny)
  const again = yield* audit(history, beginning)
  if (again.entries !== found.entries) violations.push("what was sent again happened again")
  const { violations: broken } = yield* Effect.flatMap(LedgerAudit, ({ verify }) => verify(undefined))
  for (const { message, rule, subject } of exceptAddedStaff(broken)) violations.push(`${rule}: ${subject}: ${message}`)
  const histories = checkHistories(
    history,
    new Map(seats.map(({ playerId }) => [playerId, { balance: 50_000, walletSeq: 1 }])),
    true
  )
  violations.push(...histories.violations)
  for (const { balance, mayHaveMore, playerId } of witnesses.books()) {
    const reply = yield* someOperator.get(`/api/v1/operator/players/${playerId}/wallet`)
    const told = yield* dataAs(reply, 200, Schema.Struct({ balance: Schema.Int }))
    const isRight = told.balance === balance || mayHaveMore && told.balance === balance - 1
    if (!isRight) violations.push(`witness ${playerId}: has ${told.balance}, due ${balance}`)
  }
  const isKept = violations.length > 0 || plan.keepsFolder
  if (isKept) folder.keep()
  return {
    seed: plan.seed,
    faults: outcomes,
    sent: history.attempts.length,
    answers: history.answers,
    lost: history.lost,
    triedAgain: history.triedAgain,
    effects: found.entries + found.transactions + found.payments,
    ordered: histories.checked,
    folder: isKept ? folder.path : undefined,
    violations
  } satisfies NodeOutcome
})
