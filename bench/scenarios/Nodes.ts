import { Console, Effect, Exit, Scope } from "effect"
import { BenchError } from "../BenchError.ts"
import { Flag } from "effect/cli"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { RoundContext, RoundResult } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { showProgress } from "../report/Progress.ts"
import { parseSentCounts, type SentCounts } from "../report/Prometheus.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { holdToCores } from "../targets/Cores.ts"
import { type Pitboss, startPitboss } from "../targets/Pitboss.ts"
import { freePort } from "../targets/FreePort.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { type Profiler, startProfiler } from "../targets/Profiler.ts"
import { type Environment, get, type Service, startService } from "../targets/Service.ts"
import { makeSignedClient, signedConcurrency } from "../targets/SignedClient.ts"
import type { Target } from "../targets/Target.ts"
import { measureOverload, overloadPhases, recoveries } from "./Overload.ts"
import { checkedRound, loadOf, profileRound, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const alone = "one process"
const clusterOf = (nodes: number): string => nodes === 1 ? "1 node" : `${nodes} nodes`

/** Required ratios to the throughput of one node, and of one process. */
const bars: Readonly<Record<string, { readonly [reference: string]: number }>> = {
  "1 node": { "× one process": 0.95 },
  "2 nodes, any": { "× 1 node": 1.7 },
  "2 nodes, owner": { "× 1 node": 1.9 },
  "3 nodes, any": { "× 1 node": 2.4 },
  "3 nodes, owner": { "× 1 node": 2.7 }
}

/** The name that a node gives itself: every answer of its own has it. */
const nameOf = ({ host, port }: Service): Effect.Effect<string, BenchError> =>
  Effect.tryPromise({
    try: async (signal) =>
      (await fetch(`http://${host}:${port}/health/ready`, { signal })).headers.get("x-served-by") ?? "",
    catch: (error) => new BenchError({ message: `a node does not say its name: ${String(error)}` })
  })

/** Which of the nodes owns each player: read once, when no node comes or goes any more. */
const ownersOf = Effect.fnUntraced(function*(target: Pitboss, nodes: ReadonlyArray<Service>) {
  const names = yield* Effect.forEach(nodes, nameOf)
  const [first] = nodes
  const client = yield* makeSignedClient(`http://${first?.host}:${first?.port}`, "x-api-key", target.operator)
  let ready = 0
  return yield* Effect.forEach(target.players, ({ id }) =>
    client.ownerOf(`/api/v1/operator/players/${id}/wallet`).pipe(
      Effect.flatMap((owner) => {
        showProgress(`owners: ${++ready} of ${target.players.length} players`)
        const index = names.indexOf(owner)
        return index < 0
          ? Effect.fail(new BenchError({ message: `player ${id} is served by "${owner}", which is none of the nodes` }))
          : Effect.succeed(index)
      })
    ), { concurrency: signedConcurrency })
})

/**
 * Seconds of warm-up load for each process before nodes are limited, for the JIT compiler: with eight for all of them together, three nodes did
 * two thirds more in the third round than in the first.
 */
const warmingSeconds = 12

/** What `docs/operations.md` says to try with less than a core: V8's threads take their time from the same quota as the thread that answers. */
const partOfACoreArguments = ["--single-threaded-gc"]

/** What several nodes are offered, of what they can do at any node, over so many connections; and how long callers wait for one. */
const overloadFactor = 3
const overloadConnections = 1024
const overloadPatienceMs = 1000

/** Calls that these nodes have sent to each other. */
const sentBy = (services: ReadonlyArray<Service>): Effect.Effect<SentCounts, BenchError> =>
  Effect.map(
    Effect.forEach(services, ({ backofficePort, host }) => get(`http://${host}:${backofficePort}/metrics`)),
    (texts) =>
      texts.map(parseSentCounts).reduce((sum, { calls, messages }) => ({
        calls: sum.calls + calls,
        messages: sum.messages + messages
      }))
  )

/** Shards settle for this long after the last node came. */
const settling = "8 seconds"

/** All processes are up at the same time, each with 15 connections: more than the service's own server takes. */
const maxConnections = 200

/** One process, or the nodes of one cluster, on a database of its own. */
interface Casino {
  readonly name: string
  /** The owner of each player, where there are several nodes. */
  readonly owners: ReadonlyArray<number> | null
  readonly services: ReadonlyArray<Service>
  readonly database: string
  readonly books: Books
}

/** The order of one turn: each comes first in turn, so that what changes on the machine within a turn favours none of them. */
const rotated = <A>(all: ReadonlyArray<A>, by: number): ReadonlyArray<A> => {
  const first = by % Math.max(1, all.length)
  return [...all.slice(first), ...all.slice(0, first)]
}

/** Several nodes, each limited to a share of a core, so that nodes and not the machine are the bottleneck. */
export const nodesScenario = scenario({
  name: "nodes",
  title: "Nodes: throughput of a casino on several nodes",
  about:
    "Bets on one process and on 1 to 3 nodes, each held to a part of a core: at any node, and at the player's owner",
  flags: {
    ...Flags.someLoad,
    registered: Flags.registered,
    connections: Flags.connections(256),
    corePercent: Flags.count("core-percent", "part of a core that each node gets", 100).pipe(Flag.withDefault(35)),
    nodes: Flags.counts("nodes", "how many nodes, in turn", [1, 2, 3], 16),
    turns: Flags.count("turns", "how often each is measured on the same processes, in turn", 100).pipe(
      Flag.withDefault(1)
    ),
    overloads: Flags.switchOf("overload", "offer several nodes three times what they can do, too"),
    cpuProfile: Flags.cpuProfile
  },
  plan: ({ nodes, overloads, players, rounds, seconds, turns, warmUpSeconds }) => [
    `nodes: ${rounds} rounds of one process and of ${nodes.join(", ")} nodes`,
    30 + players / 80 +
    rounds * [1, ...nodes].reduce(
        (sum, count) =>
          sum + 17 + warmingSeconds * count + (count === 1 ? 1 : 2) * turns * (warmUpSeconds + seconds + 2) +
          (overloads ? 3 * seconds : 0),
        0
      )
  ],
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres({ settings: { max_connections: String(maxConnections) } })
    const server = yield* describeServer(postgres)
    const { players, registered } = options
    const generator = yield* startGenerator(options.generators)
    // preparation of the players ends before nodes start
    const preparing = yield* Scope.make()
    const prepared = yield* startPitboss(
      postgres,
      { players, registered, currency: "EUR", openingBalance: 1_000_000_000 },
      showProgress
    ).pipe(Scope.provide(preparing))
    const rounds: Array<TrafficRound> = []
    /** By number of nodes: results of overloads, and calls per message at any node. */
    const overloaded = new Map<number, Array<RoundResult>>()
    const together = new Map<number, Array<number>>()
    const problems = new Set<string>()
    const profilers = new Map<Service, Profiler>()
    const turnNumbers = roundNumbers(options.rounds * options.turns)

    const hold = Effect.fnUntraced(function*(services: ReadonlyArray<Service>) {
      const problem = yield* holdToCores(services.map(({ child }) => child.pid), options.corePercent / 100)
      if (problem !== undefined && !problems.has(problem)) {
        problems.add(problem)
        yield* Console.log(`nodes are not held to a part of a core, so that the ratios say little: ${problem}`)
      }
    })

    /** A casino as one target. */
    const targetOf = Effect.fnUntraced(function*(
      { database, services }: Casino,
      name: string,
      owners: ReadonlyArray<number> | null
    ) {
      const [first] = services
      if (first === undefined) return yield* new BenchError({ message: "no node" })
      const client = yield* makeSignedClient(`http://${first.host}:${first.port}`, "x-api-key", prepared.operator)
      yield* client.ownerOf("/api/v1/operator/me")
      const target: Target = {
        ...prepared,
        name,
        database,
        pid: () => first.child.pid,
        port: first.port,
        nodes: { ports: services.map(({ port }) => port), pids: services.map(({ child }) => child.pid), owners },
        work: Effect.undefined,
        balances: (wanted) =>
          Effect.map(
            postgres.query(
              database,
              `SELECT a.real_balance::float8 AS balance FROM unnest($1::bigint[]) WITH ORDINALITY AS u (id, number)
                JOIN accounts a ON a.player_id = u.id ORDER BY number`,
              [prepared.players.slice(0, wanted).map(({ id }) => id)]
            ),
            (rows) => rows.map((row) => Number(row["balance"]))
          )
      }
      return target
    })

    /** One round of a load; a first one, before the services are held, makes them warm and is not recorded. */
    const measureOn = Effect.fnUntraced(function*(
      round: number,
      casino: Casino,
      name: string,
      owners: ReadonlyArray<number> | null,
      isFirst = false
    ) {
      const { books, services } = casino
      const target = yield* targetOf(casino, name, owners)
      const sent: Array<SentCounts> = []
      const noteSent = Effect.ignore(Effect.tap(sentBy(services), (counts) => Effect.sync(() => sent.push(counts))))
      const profiler = isFirst
        ? undefined
        : services.map((service) => profilers.get(service)).find((one) => one !== undefined)
      const run = (hooks: Pick<RoundContext, "measuring" | "measured">) =>
        checkedRound(
          { target, postgres, generator, books, ...hooks },
          `round ${round}/${turnNumbers.length}  ${isFirst ? "warming" : name.padEnd(14)}`,
          {
            players,
            idPrefix: `${round}${name.replaceAll(/[^0-9a-z]/g, "")}${isFirst ? "w" : ""}`,
            seed: isFirst ? round + 1000 : round
          },
          {
            kind: "bet",
            connections: options.connections,
            ...loadOf(
              isFirst
                ? { ...options, warmUpSeconds: 0, seconds: warmingSeconds * services.length, maxForeignLoad: 100 }
                : options
            )
          }
        )
      const result = yield* profiler === undefined
        ? run({ measuring: noteSent, measured: noteSent })
        : profileRound(profiler, `nodes-${name.replaceAll(/\W+/g, "-")}`, ({ measured, measuring }) =>
          run({
            measuring: Effect.andThen(measuring ?? Effect.void, noteSent),
            measured: Effect.andThen(noteSent, measured ?? Effect.void)
          }))
      if (isFirst) return yield* hold(services)
      rounds.push({ round, group: "bets", target: name, result })
      const [before, after] = sent.slice(-2)
      if (owners !== null || before === undefined || after === undefined || after.messages === before.messages) return
      const calls = (after.calls - before.calls) / (after.messages - before.messages)
      together.set(services.length, [...together.get(services.length) ?? [], calls])
    })

    /** Offers warm nodes three times their capacity at any node. */
    const overload = Effect.fnUntraced(function*(round: number, casino: Casino) {
      const { seconds } = options
      const { books, services } = casino
      const name = `${casino.name}, any`
      const capacity = rounds.find((one) => one.round === round && one.target === name)?.result.perSecond ?? 0
      const result = yield* checkedRound(
        { target: yield* targetOf(casino, name, null), postgres, generator, books },
        `round ${round}/${turnNumbers.length}  ${name} ×${overloadFactor}`,
        { players, idPrefix: `${round}o${services.length}`, seed: round + 2000 },
        {
          ...loadOf(options),
          connections: overloadConnections,
          warmUpSeconds: 0,
          measuredSeconds: 3 * seconds,
          phases: overloadPhases(capacity, overloadFactor, seconds),
          patienceMs: overloadPatienceMs
        }
      )
      overloaded.set(services.length, [...overloaded.get(services.length) ?? [], result])
    })

    const nodeArguments = options.corePercent < 100 ? partOfACoreArguments : []
    const startProfiled = Effect.fnUntraced(function*(environment: Environment) {
      const port = yield* freePort
      const service = yield* startService(environment, {
        nodeArguments: [...nodeArguments, `--inspect=127.0.0.1:${port}`]
      })
      profilers.set(service, yield* startProfiler(port))
      return service
    })

    yield* Scope.close(preparing, Exit.void)
    const own = prepared.database ?? ""
    /** The same players with the same money for each; undefined is the process without a cluster. */
    const kinds = yield* Effect.forEach([undefined, ...options.nodes], (nodes) => {
      const database = nodes === undefined ? own : `${own}_${nodes}`
      const kind = {
        nodes,
        name: nodes === undefined ? alone : clusterOf(nodes),
        database,
        environment: {
          ...prepared.environment,
          DATABASE_URL: postgres.url(database),
          ...nodes === undefined ? {} : { CLUSTER: "on" }
        },
        books: new Books(players)
      }
      return nodes === undefined
        ? Effect.succeed(kind)
        : Effect.as(postgres.query("postgres", `CREATE DATABASE ${database} TEMPLATE ${own}`), kind)
    })

    /** Its processes, warm and each held to its part of a core until the scope closes. */
    const open = Effect.fnUntraced(function*(round: number, kind: typeof kinds[number]) {
      const { books, database, environment, name, nodes = 1 } = kind
      const services = yield* Effect.forEach(
        roundNumbers(nodes),
        (number) =>
          nodes > 1 && number === 1 && options.cpuProfile
            ? startProfiled(environment)
            : startService(environment, { nodeArguments })
      )
      if (nodes > 1) yield* Effect.sleep(settling)
      const owners = nodes === 1 ? null : yield* ownersOf(prepared, services)
      const casino: Casino = { name, owners, services, database, books }
      yield* measureOn(round, casino, name, null, true)
      return casino
    })

    /** One turn of a casino: at any node and, where there are several, at the owner, which is first in every second turn. */
    const measureTurn = (turn: number, casino: Casino) => {
      const { name, owners } = casino
      if (owners === null) return measureOn(turn, casino, name, null)
      const any = measureOn(turn, casino, `${name}, any`, null)
      const owner = measureOn(turn, casino, `${name}, owner`, owners)
      return turn % 2 === 1 ? Effect.andThen(any, owner) : Effect.andThen(owner, any)
    }

    for (const round of roundNumbers(options.rounds)) {
      const first = (round - 1) * options.turns + 1
      yield* Effect.scoped(Effect.gen(function*() {
        const casinos = yield* Effect.forEach(kinds, (kind) => open(first, kind))
        for (const turn of roundNumbers(options.turns)) {
          for (const casino of rotated(casinos, turn - 1)) yield* measureTurn(first + turn - 1, casino)
        }
        if (!options.overloads) return
        for (const casino of casinos) if (casino.owners !== null) yield* overload(first, casino)
      }))
    }
    for (const { database, environment } of kinds) {
      yield* Effect.scoped(Effect.gen(function*() {
        showProgress(`proving the ledger of ${database}`)
        const last = yield* startService({ ...environment, CLUSTER: "off" })
        const { violations: found } = yield* last.verify({ operatorId: prepared.operatorId })
        if (found.length > 0) return yield* new BenchError({ message: JSON.stringify(found.slice(0, 10)) })
      }))
    }

    /** Extra cost of a forwarded bet over one at its owner, both nodes together, µs. */
    const hops: ReadonlyArray<Measurement> = options.nodes.filter((count) => count > 1).map((count) => {
      const microsOf = (kind: string, round: number): number =>
        rounds.find((one) => one.round === round && one.target === `${clusterOf(count)}, ${kind}`)?.result
          .serviceMicros ??
          Number.NaN
      return {
        group: "a hop",
        name: clusterOf(count),
        figures: [
          figure(
            "processor time of both sides",
            "µs",
            "lower",
            turnNumbers.map((round) => (microsOf("any", round) - microsOf("owner", round)) / ((count - 1) / count)),
            60
          ),
          figure("calls in a message", "", "neither", together.get(count) ?? [])
        ],
        errors: {}
      }
    })
    const measurements = [
      ...measureTraffic(rounds, "bets", {
        references: [alone, clusterOf(1)],
        bars: (_, target, name) => bars[target]?.[name]
      }),
      ...hops,
      ...[...overloaded].flatMap(([count, results]) => {
        const group = `${clusterOf(count)}, ${overloadFactor} times what they can do`
        const recovered = recoveries(results, options.seconds)
        return [
          ...measureOverload(overloadFactor, results, options.seconds).map((one) => ({ ...one, group })),
          {
            group,
            name: "recovery",
            figures: recovered.length === 0 ? [] : [figure("recovery", "ms", "lower", recovered)],
            errors: recovered.length < results.length ? { NOT_RECOVERED: results.length - recovered.length } : {}
          }
        ]
      })
    ]
    return {
      ...server,
      method: [
        `Closed loop of ${options.connections} connections, ${players} players of ${registered} registered; ${turnNumbers.length} rounds of ` +
        `${options.seconds} s after ${options.warmUpSeconds} s of warm-up; every balance checked after every round, the ledger proved at the end.`,
        "One process, one node and several nodes run at the same time, each on its own copy of one database, and are measured in turn: a ratio is of " +
        `one turn. PostgreSQL takes ${maxConnections} connections for it.`,
        problems.size === 0
          ? `Each process of the service is held to ${options.corePercent} % of a core by a control group, in periods of 10 ms; PostgreSQL and the ` +
            "generator are not."
          : `No control groups here (${
            [...problems].join("; ")
          }): the nodes share the cores with PostgreSQL and the generator, and the ratios say little.`,
        ...nodeArguments.length === 0
          ? []
          : [`Node.js runs with \`${nodeArguments.join(" ")}\` beside the flags of \`npm start\`.`],
        "`any`: connections go to the nodes in turn, and each bets for all players. `owner`: each bets for players whom its node owns, as " +
        "`X-Served-By` told before.",
        ...options.overloads
          ? [
            `Overload: an open loop over ${overloadConnections} connections at any node offers half of what the nodes did there, ` +
            `${overloadFactor} times it and half of it again, ${options.seconds} s each; callers give up after ${overloadPatienceMs} ms.`
          ]
          : [],
        ...options.cpuProfile ? ["The first of several nodes was profiled meanwhile, which slows it down."] : [],
        "A hop: what a bet costs more processor time at any node than at its owner, both nodes together, divided by the share that is sent on."
      ],
      headlines: [],
      measurements
    }
  })
})
