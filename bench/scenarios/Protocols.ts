import { Effect } from "effect"
import { Flag } from "effect/cli"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { Books } from "../report/Balances.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startPitboss } from "../targets/Pitboss.ts"
import { startPostgres } from "../targets/Postgres.ts"
import type { Target } from "../targets/Target.ts"
import { atVendor } from "../targets/Vendor.ts"
import { audit, checkedRound, loadOf, roundNumbers } from "./Rounds.ts"
import { describeServer, scenario } from "./Scenario.ts"

const protocols = ["hub88", "caleta", "pragmatic", "slotegrator", "a8r", "gcp", "evolution", "spribe"] as const

/** Protocols whose vendors sign with RSA: a signature takes a second to make two thousand, and a fifteenth of that to check. */
const signedByRsa: ReadonlyArray<string> = ["hub88", "caleta"]

/** Required throughput of a protocol, as a share of Pitboss's own. */
const barOf = (protocol: string): number => signedByRsa.includes(protocol) ? 0.6 : 0.8

/** Share of the own protocol's throughput that is signed in advance; further requests are signed when sent. */
const signedAhead = 0.8

export const protocolScenario = scenario({
  name: "protocols",
  title: "Bets in the protocols of game providers",
  about: "A bet in each provider protocol beside one in Pitboss's own",
  flags: {
    ...Flags.someLoad,
    registered: Flags.registered,
    connections: Flags.connections(256),
    protocols: Flags.choice("protocols", protocols, "what to measure").pipe(
      Flag.withDefault<ReadonlyArray<(typeof protocols)[number]>>(protocols)
    )
  },
  plan: ({ players, protocols: measured, rounds, seconds, warmUpSeconds }) => {
    const count = rounds * (measured.length + 1)
    return [
      `protocols: ${measured.length} beside the own one, ${rounds} rounds`,
      20 + (measured.length + 1) * players / 300 + count * (warmUpSeconds + seconds + 1)
    ]
  },
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { players, registered } = options
    const own = yield* startPitboss(
      postgres,
      { players, registered, currency: "EUR", openingBalance: 1_000_000_000 },
      showProgress
    )
    const vendors = yield* Effect.forEach(options.protocols, (name) => atVendor(own, name, showProgress))
    yield* own.judged
    const generator = yield* startGenerator(options.generators)
    const books = new Books(players)
    const measured: Array<TrafficRound> = []
    for (const round of roundNumbers(options.rounds)) {
      let ownPerSecond = 0
      const targets: ReadonlyArray<Target> = [own, ...vendors]
      for (const target of targets) {
        const ahead = target.vendor !== undefined && signedByRsa.includes(target.name)
          ? Math.ceil(ownPerSecond * signedAhead * (options.seconds + options.warmUpSeconds))
          : 0
        const prepared = target.vendor === undefined ? target : { ...target, vendor: { ...target.vendor, ahead } }
        const result = yield* checkedRound(
          { target: prepared, postgres, generator, books },
          `round ${round}/${options.rounds}  ${target.name.padEnd(12)}`,
          { players, idPrefix: `${round}${target.name}`, seed: round },
          {
            kind: target.vendor === undefined ? "bet" : "vendor-bet",
            connections: options.connections,
            ...loadOf(options)
          }
        )
        if (target === own) ownPerSecond = result.perSecond
        measured.push({ round, group: "bets", target: target.name, result })
      }
    }
    yield* audit([own])
    const measurements = measureTraffic(measured, "bets", {
      references: ["pitboss"],
      bars: (_group, target, name) => name === "× pitboss" && target !== "pitboss" ? barOf(target) : undefined
    })
    return {
      ...server,
      method: [
        `Closed loop of ${options.connections} connections, ${options.rounds} rounds of ${options.seconds} s after ` +
        `${options.warmUpSeconds} s of warm-up, the own protocol and the others in turn; ${players} players at random of ` +
        `${registered} registered, each launched at every vendor. Every balance checked after every round, the ledger proved at the end.`,
        "Requests that the vendor signs with RSA are made before the clock runs."
      ],
      headlines: measurements.flatMap(({ figures, name }) =>
        headlineOf(figures.find((each) => each.name === "× pitboss"), `the throughput of the own protocol, ${name}`)
      ),
      measurements
    }
  })
})
