import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { startGenerator } from "../../bench/load/Generator.ts"
import { operatorOperations, type TrafficKind } from "../../bench/load/Job.ts"
import { loadDefaults, runRound } from "../../bench/load/Round.ts"
import { Books } from "../../bench/report/Balances.ts"
import { measureTraffic } from "../../bench/report/TrafficReport.ts"
import { audit, checkBalances } from "../../bench/scenarios/Rounds.ts"
import { traffics } from "../../bench/scenarios/Traffic.ts"
import { bestBaselines, startBaseline } from "../../bench/targets/Baseline.ts"
import { startCeiling } from "../../bench/targets/Ceiling.ts"
import { startPitboss } from "../../bench/targets/Pitboss.ts"
import { startPostgres } from "../../bench/targets/Postgres.ts"
import type { Target } from "../../bench/targets/Target.ts"

const provisioning = { players: 3, registered: 40, currency: "EUR", openingBalance: 1_000_000 }
const kinds: ReadonlyArray<TrafficKind> = ["bet", "bet-win", "session", "play", "mixed", ...operatorOperations]

/** Other targets that serve a kind of traffic besides the service. */
const alike: Readonly<Record<string, { readonly targets: ReadonlyArray<string> }>> = traffics

describe("benchmark traffic", () => {
  // Goal: the benchmark measures real work: every kind of request is answered correctly by every target declared to
  // serve it, and the money counted by the generator equals the balances. Method: the real service, baseline and ceiling,
  // a fraction of a second of every kind against each, the checks of every run, and the profiler over all of it.
  it("is answered correctly by every target, and the balances equal the money counted", () =>
    Effect.gen(function*() {
      const postgres = yield* startPostgres()
      const pitboss = yield* startPitboss(postgres, provisioning, () => {}, {
        needs: { refs: true, bearers: true, limited: 1 },
        profiled: true
      })
      const targets: ReadonlyArray<Target> = [
        pitboss,
        yield* startBaseline(postgres, provisioning, { ...bestBaselines.baseline, poolSize: 2 }),
        yield* startBaseline(postgres, provisioning, { ...bestBaselines["one-statement"], poolSize: 2 }),
        yield* startCeiling(provisioning)
      ]
      const generator = yield* startGenerator(1)
      yield* pitboss.profiler?.begin ?? Effect.void
      for (const target of targets) {
        const books = new Books(provisioning.players)
        const served = kinds.filter((kind) => (alike[kind]?.targets ?? ["pitboss"]).includes(target.name))
        expect(served.length).toBeGreaterThan(0)
        for (const kind of served) {
          const play = (measuredSeconds: number) =>
            runRound(
              { target, postgres, generator },
              { players: 3, idPrefix: `${kind}${measuredSeconds * 10}`, seed: 1 },
              { ...loadDefaults, kind, connections: 2, warmUpSeconds: 0, measuredSeconds },
              () => {}
            )
          let result = yield* play(0.3)
          // on a busy machine an answer takes longer than that
          for (let seconds = 3; result.processed === 0 && seconds < 60; seconds *= 2) {
            books.add(result)
            result = yield* play(seconds)
          }
          const label = `${target.name} ${kind}`
          expect([label, result.errors]).toEqual([label, {}])
          expect([label, result.processed > 0, result.latency.totalCount > 0]).toEqual([label, true, true])
          books.add(result)
          yield* checkBalances(target, provisioning.players, books)
          const [row] = measureTraffic([{ round: 1, group: kind, target: target.name, result }], "requests")
          expect(row?.figures.find(({ name }) => name === "requests")?.values[0]).toBeGreaterThan(0)
          // the check must be able to fail
          if (target.balances !== undefined) {
            books.moved[0] = (books.moved[0] ?? 0) + 1
            expect((yield* Effect.flip(checkBalances(target, 3, books))).message).toContain("1 balances are not")
            books.moved[0] -= 1
          }
        }
      }
      const profile = yield* pitboss.profiler?.end ?? Effect.die("no profiler")
      expect(profile.nodes.some(({ callFrame }) => callFrame.url.endsWith("/src/domain/settlement/Settlement.ts")))
        .toBe(true)
      yield* audit(targets)
    }).pipe(Effect.scoped, Effect.runPromise), 180_000)
})
