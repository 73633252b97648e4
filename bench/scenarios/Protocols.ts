import { Effect } from "effect"
import * as Flags from "../Flags.ts"
import { startGenerator } from "../load/Generator.ts"
import { steadily } from "../load/Round.ts"
import { Books } from "../report/Balances.ts"
import { measureBeforeAndAfter } from "../report/BeforeAndAfter.ts"
import { headlineOf } from "../report/Format.ts"
import { showProgress } from "../report/Progress.ts"
import { measureTraffic, type TrafficRound } from "../report/TrafficReport.ts"
import { startPostgres } from "../targets/Postgres.ts"
import { atVendor } from "../targets/Vendor.ts"
import { checkoutsOf, describeBefore, startCheckout } from "./Checkouts.ts"
import { audit, checkedRound, describeLoop, inTurn, loadOf, roundNumbers } from "./Rounds.ts"
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
    ratePerSecond: Flags.ratePerSecond,
    before: Flags.before,
    protocols: Flags.choice("protocols", protocols, "what to measure")
  },
  plan: ({ before, players, protocols: measured, rounds, seconds, warmUpSeconds }) => {
    const each = (measured.length + 1) * checkoutsOf(before).length
    return [
      `protocols: ${measured.length} beside the own one, ${rounds} rounds`,
      20 + each * players / 300 + rounds * each * (warmUpSeconds + seconds + 1)
    ]
  },
  measure: Effect.fnUntraced(function*(options) {
    const postgres = yield* startPostgres()
    const server = yield* describeServer(postgres)
    const { before, players, ratePerSecond, registered } = options
    const provisioning = { players, registered, currency: "EUR", openingBalance: 1_000_000_000 }
    const started = yield* Effect.forEach(
      checkoutsOf(before),
      Effect.fnUntraced(function*(checkout) {
        const own = yield* startCheckout(checkout, postgres, provisioning, before)
        const vendors = yield* Effect.forEach(options.protocols, (name) => atVendor(own, name, showProgress))
        yield* own.judged
        return { checkout, own, books: new Books(players), targets: new Map(vendors.map((each) => [each.name, each])) }
      })
    )
    const generator = yield* startGenerator(options.generators)
    const measured: Array<TrafficRound> = []
    for (const round of roundNumbers(options.rounds)) {
      let ownPerSecond = 0
      for (const protocol of ["pitboss", ...options.protocols]) {
        for (const { books, checkout, own, targets } of inTurn(round, started)) {
          const { vendor, ...target } = targets.get(protocol) ?? own
          const perSecond = ratePerSecond ?? ownPerSecond * signedAhead
          const ahead = signedByRsa.includes(protocol)
            ? Math.ceil(perSecond * (options.seconds + options.warmUpSeconds))
            : 0
          const result = yield* checkedRound(
            {
              target: vendor === undefined ? target : { ...target, vendor: { ...vendor, ahead } },
              postgres,
              generator,
              books
            },
            `round ${round}/${options.rounds}  ${protocol.padEnd(12)}${before === undefined ? "" : checkout.padEnd(8)}`,
            { players, idPrefix: `${round}${protocol}`, seed: round },
            {
              kind: vendor === undefined ? "bet" : "vendor-bet",
              connections: options.connections,
              phases: steadily(ratePerSecond, options),
              ...loadOf(options)
            }
          )
          if (vendor === undefined) ownPerSecond = result.perSecond
          measured.push({
            round,
            result,
            ...(before === undefined ? { group: "bets", target: protocol } : { group: protocol, target: checkout })
          })
        }
      }
    }
    yield* audit(started.map(({ own }) => own))
    const compared = measureBeforeAndAfter(measured)
    const measurements = measureTraffic(
      measured,
      "bets",
      before === undefined
        ? {
          references: ["pitboss"],
          bars: (_group, target, name) => name === "× pitboss" && target !== "pitboss" ? barOf(target) : undefined
        }
        : { references: [] }
    )
    return {
      ...server,
      method: [
        describeLoop(options),
        `${options.rounds} rounds of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, the own protocol and the others ` +
        `in turn; ${players} players at random of ${registered} registered, each launched at every vendor. Every balance checked after ` +
        "every round, the ledger proved at the end.",
        "Requests that the vendor signs with RSA are made before the clock runs.",
        ...describeBefore(before)
      ],
      headlines: before === undefined
        ? measurements.flatMap(({ figures, name }) =>
          headlineOf(figures.find((each) => each.name === "× pitboss"), `the throughput of the own protocol, ${name}`)
        )
        : compared.headlines,
      measurements: [...measurements, ...compared.measurements]
    }
  })
})
