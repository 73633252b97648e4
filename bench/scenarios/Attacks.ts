import { Console, Effect, type Scope } from "effect"
import { Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import * as Http from "node:http"
import * as Net from "node:net"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import type { BenchError } from "../BenchError.ts"
import { summarize } from "../load/Latency.ts"
import { steadily } from "../load/Round.ts"
import { makeSigner } from "../load/Signature.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { figure, type Measurement } from "../report/Result.ts"
import { latencyFigures } from "../report/TrafficReport.ts"
import {
  type StrangerAddress,
  strangerAddresses,
  strangerBars,
  strangerBytes,
  strangerCosts,
  strangerProviders
} from "../../test/kit/Strangers.ts"
import { type Pitboss, startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { Created } from "../targets/Service.ts"
import { audit, checkedRound } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

interface Attack {
  readonly name: string
  readonly begin: (target: Pitboss) => Effect.Effect<void, never, Scope.Scope>
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Http.OutgoingHttpHeaders
  readonly body?: Buffer
}

/** How often a flood is caught up with its rate. */
const tickMs = 10

/** Sends requests at a rate, up to the capacity of its connections, until the scope closes. Ignores answers. */
const flood = (
  { host, port }: Pitboss,
  perSecond: number,
  connections: number,
  next: () => Sent
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      const agent = new Http.Agent({ keepAlive: true, maxSockets: connections })
      let running = 0
      let due = 0
      const send = () => {
        const { body, headers, method, path } = next()
        running++
        const length = body === undefined ? {} : { "content-type": "application/json", "content-length": body.length }
        const request = Http.request(
          { host, port, path, method, agent, headers: { ...length, ...headers } },
          (response) => {
            response.resume()
          }
        )
        request.on("error", () => {})
        request.on("close", () => {
          running--
        })
        request.end(body)
      }
      const timer = setInterval(() => {
        for (due += perSecond * tickMs / 1000; due >= 1; due--) if (running < connections) send()
      }, tickMs)
      return { agent, timer }
    }),
    ({ agent, timer }) =>
      Effect.sync(() => {
        clearInterval(timer)
        agent.destroy()
      })
  ))

/** Sockets that ask for an upgrade and stay. */
const holdUpgrades = ({ host, port }: Pitboss, count: number) =>
  Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() =>
      Array.from({ length: count }, () => {
        const socket = Net.connect(port, host)
        socket.on("error", () => {})
        socket.resume()
        socket.write("GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: anything\r\n\r\n")
        return socket
      })
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      })
  ))

const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, name) => [`n${name}`, 1]))

const bearerOf = ({ players }: Pitboss): Http.OutgoingHttpHeaders => ({
  authorization: `Bearer ${players[0]?.bearer ?? ""}`
})

const now = () => String(Math.floor(Date.now() / 1000))

const attacks: ReadonlyArray<Attack> = [
  { name: "2000 upgrades held open", begin: (target) => holdUpgrades(target, 2000) },
  {
    name: "plays with 20,000 invented params, 60/s",
    begin: (target) => {
      const body = Buffer.from(JSON.stringify({ stake: 1, params: names(20_000) }))
      const path = `/api/v1/player/games/${target.originalId ?? ""}/play`
      return flood(target, 60, 8, () => ({ method: "POST", path, headers: bearerOf(target), body }))
    }
  },
  {
    name: "batches of 13,000 actions, 5/s",
    begin: (target) => {
      const body = Buffer.from(JSON.stringify({ actions: Array.from({ length: 13_000 }, () => ({ action: "bet" })) }))
      const path = "/api/v1/provider/wallet/batch"
      const { key, secret } = target.provider
      const sign = makeSigner(secret)
      const text = body.toString("utf8")
      return flood(target, 5, 4, () => {
        const timestamp = now()
        const headers = {
          "x-provider-key": key,
          "x-timestamp": timestamp,
          "x-signature": sign("POST", path, timestamp, text)
        }
        return { method: "POST", path, headers, body }
      })
    }
  },
  {
    name: "250 KB with a wrong signature, 200/s",
    begin: (target) => {
      const body = Buffer.alloc(250_000, "x")
      const headers = () => ({
        "x-api-key": target.operator?.key ?? "",
        "x-timestamp": now(),
        "x-signature": "0".repeat(64)
      })
      return flood(
        target,
        200,
        400,
        () => ({ method: "POST", path: "/api/v1/operator/players", headers: headers(), body })
      )
    }
  },
  {
    name: "the documentation, 50/s",
    begin: (target) => flood(target, 50, 50, () => ({ method: "GET", path: "/docs", headers: {} }))
  },
  {
    name: "invented keys, 2000/s",
    begin: (target) =>
      flood(target, 2000, 200, () => ({
        method: "GET",
        path: "/api/v1/operator/me",
        headers: {
          "x-api-key": `pbk_live_${randomBytes(12).toString("hex")}`,
          "x-timestamp": now(),
          "x-signature": "0".repeat(64)
        }
      }))
  },
  {
    name: "reads of one player, 600/s",
    begin: (target) =>
      flood(target, 600, 32, () => ({ method: "GET", path: "/api/v1/player/wallet", headers: bearerOf(target) }))
  }
]

/** Everything that takes bodies: a provider in each vendor's protocol, and Pitboss's own addresses. */
const openAddresses = Effect.fnUntraced(
  function*({ operator, provider, service }: Pitboss): Effect.fn.Return<ReadonlyArray<StrangerAddress>, BenchError> {
    const vendors = strangerProviders((sample) => `strangers-${sample}`, "https://vendor.example")
    yield* Effect.forEach(vendors, ({ provider }) => service.create("providers", provider, Created))
    return [
      ...vendors.map(({ address }) => address),
      ...strangerAddresses({ operator: operator.key, provider: provider.key })
    ]
  }
)

/** Processor time of the service for the bodies of strangers, and health checks beside many of them: a row per address. */
const measureBodies = Effect.fnUntraced(
  function*(target: Pitboss): Effect.fn.Return<ReadonlyArray<Measurement>, BenchError> {
    const addresses = yield* openAddresses(target)
    const { backofficePort } = target.service
    const costs = yield* strangerCosts({ pid: target.pid(), publicPort: target.port, backofficePort }, addresses)
    return addresses.map(({ name }): Measurement => {
      const own = costs.filter(({ address }) => address === name)
      return {
        group: `${strangerBytes / 1000} KB before a signature`,
        name,
        figures: [
          figure(
            "processor time, dearest form",
            "ms",
            "lower",
            [Math.max(...own.map(({ costMs }) => costMs))],
            strangerBars.bodyMs
          ),
          figure(
            `health check beside ${strangerBars.atOnce}`,
            "ms",
            "lower",
            [Math.max(...own.map(({ healthMs }) => healthMs ?? 0))],
            strangerBars.healthMs
          )
        ],
        errors: {}
      }
    })
  }
)

/** Bets at a steady rate, without and with each attack beside them: how much later they are answered. */
export const attackScenario = scenario({
  name: "attacks",
  title: "Bets beside attacks",
  about: "Bets beside attacks of unauthenticated callers, players and providers: how much later they are answered",
  flags: {
    players: Flags.players(200, 100_000, "players who bet"),
    connections: Flags.connections(32, 4096, "connections of the open loop"),
    perSecond: Flags.count("per-second", "bets per second", 100_000).pipe(Flag.withDefault(300)),
    seconds: Flags.seconds("seconds", "seconds of each measurement", 0.5).pipe(Flag.withDefault(4)),
    maxForeignLoad: Flags.maxForeignLoad
  },
  plan: ({ seconds }) => [`attacks: ${attacks.length}`, 15 + attacks.length * 2 * (seconds + 2)],
  measure: Effect.fnUntraced(function*({ connections, maxForeignLoad, perSecond, players, seconds }) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const target = yield* startPitboss(
      postgres,
      { players, currency: "EUR", openingBalance: 1_000_000_000 },
      showProgress,
      { needs: { bearers: true } }
    )
    const context = { target, postgres, generator: yield* startGenerator(1), books: new Books(players) }
    let rounds = 0
    const measure = (label: string, maxForeignShare: number) => {
      const warmUpSeconds = 1
      return checkedRound(context, label, { players, idPrefix: `a${++rounds}`, seed: rounds }, {
        connections,
        warmUpSeconds,
        measuredSeconds: seconds,
        phases: steadily(perSecond, { seconds, warmUpSeconds }),
        maxForeignShare
      })
    }
    const measurements: Array<Measurement> = []
    const ratios: Array<number> = []
    for (const { begin, name } of attacks) {
      const without = yield* measure(`without ${name}`, maxForeignLoad / 100)
      const against = yield* Effect.scoped(Effect.andThen(begin(target), measure(name, 1)))
      const ratio = summarize(against.latency).p50_ms / summarize(without.latency).p50_ms
      ratios.push(ratio)
      yield* Console.log(`${name}  p50 × ${ratio.toFixed(2)}`)
      measurements.push(
        { group: "without", name, figures: latencyFigures([without.latency]), errors: without.errors },
        {
          group: "with",
          name,
          figures: [figure("× p50 without", "", "lower", [ratio]), ...latencyFigures([against.latency])],
          errors: against.errors
        }
      )
    }
    const bodies = yield* measureBodies(target)
    yield* audit([target])
    const worst = figure("bets' p50 against without, at worst", "×", "lower", [Math.max(...ratios)])
    return {
      ...server,
      method: [
        `Bets at ${perSecond} per second over ${connections} connections, ${seconds} s without an attack and ` +
        `${seconds} s with it. The attacker, the generator, PostgreSQL and the service share the machine.`,
        "The bar is twice the median without the attack. Every balance is checked after every round.",
        `Bodies before a signature: ${
          strangerBytes / 1000
        } KB of every form that is dear to decode, and the longest forms that are decoded before their signature, at every ` +
        "address; processor time of all threads of the service, the lower quartile of eight, sent in turns."
      ],
      headlines: headlineOf(worst, "bets' p50 beside the worst attack"),
      measurements: [...measurements, ...bodies]
    }
  })
})
