/** Faults of a running service, and its recovery. */
import { Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import type { History } from "../../kit/History.ts"
import { until } from "../../kit/Client.ts"
import type { Chance } from "../../kit/Chance.ts"
import { cutMoments } from "./CuttingProxy.ts"
import { longEnough, type World } from "./World.ts"

export const faultKinds = [
  "service-kill",
  "postgres-kill",
  "backend-kill",
  "connection-cut",
  "postgres-hang",
  "clock-step",
  "full-disk"
] as const
export type FaultKind = (typeof faultKinds)[number]

/** A fault that could not be caused, or without recovery. */
export class FaultFailed extends Schema.TaggedError<FaultFailed>()("FaultFailed", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export interface Scene {
  readonly world: World
  readonly history: History
  readonly chance: Chance
  /** Shortest possible duration. */
  readonly isShort: boolean
}

/** Acts at a moment counted in requests and records of the clients, independent of the machine's speed. */
const atMoment = ({ chance, history }: Scene, act: () => void, [low, high] = [30, 300]) =>
  Effect.callback<void>((resume) => {
    let left = chance.between(low ?? 1, high ?? 1)
    history.onEvent = () => {
      if (--left !== 0) return
      act()
      history.log.write({ what: "happens", waiting: history.waiting })
      resume(Effect.void)
    }
  })

const Pids = Schema.Array(Schema.Struct({ pid: Schema.Number }))
const decodePids = Schema.decodeUnknownEffect(Pids)

/** Server processes of the service's connections. */
const backendsOf = Effect.fnUntraced(function*({ world }: Scene, application: string) {
  const sql = yield* SqlClient.SqlClient
  const ports = sql.literal([0, ...world.proxy.callsFrom()].join(", "))
  const rows = yield* decodePids(
    yield* sql`SELECT pid::float8 AS pid FROM pg_stat_activity
      WHERE client_port IN (${ports}) AND application_name LIKE ${application}`
  )
  return rows.map(({ pid }) => pid)
})

/** Every process of the server, the first one first. */
const allOf = ({ world }: Scene): ReadonlyArray<number> => {
  const first = world.server.pid()
  const children = readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // the parent is the second word after the name, which is in brackets
      const [, parent] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? []
      return Number(parent) === first ? [Number(name)] : []
    } catch {
      return []
    }
  })
  return [first, ...children]
}

/** Sends a signal to the processes that still exist. */
const signal = (pids: ReadonlyArray<number>, name: "SIGKILL" | "SIGSTOP" | "SIGCONT"): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // it has ended meanwhile
    }
  }
}

const killService = Effect.fnUntraced(function*(scene: Scene) {
  const { world } = scene
  const service = world.service()
  yield* atMoment(scene, () => service.kill("SIGKILL"))
  const ending = yield* service.exited
  if (ending.signal !== "SIGKILL") {
    return yield* new FaultFailed({ reason: `the service ended by itself: ${service.output()}` })
  }
  yield* world.restart
})

const killPostgres = Effect.fnUntraced(function*(scene: Scene) {
  const { chance, world } = scene
  yield* atMoment(scene, () => process.kill(world.server.pid(), "SIGKILL"))
  yield* world.server.leave("killed")
  yield* Effect.sleep(chance.below(300))
  yield* world.server.comeBack
})

const killBackend = Effect.fnUntraced(function*(scene: Scene) {
  const pids = yield* backendsOf(scene, "pitboss-journal/%")
  const pid = scene.chance.pick(pids)
  yield* atMoment(scene, () => signal([pid], "SIGKILL"))
})

const cutConnections = Effect.fnUntraced(function*(scene: Scene) {
  const { chance, isShort, world } = scene
  for (let cut = 0; cut < (isShort ? 4 : 8); cut++) {
    yield* atMoment(scene, () => {}, [5, 60])
    yield* world.proxy.cut(
      cutMoments[cut % cutMoments.length] ?? "done",
      chance.happens(0.7) ? "journal" : "anybody"
    )
  }
})

/** Durations of a server's hang in ms: short, and longer than the service waits for it. */
const hangsMs = [300, 1500, 7500]

const hangPostgres = Effect.fnUntraced(function*(scene: Scene) {
  const { chance, isShort } = scene
  const pids = chance.happens(0.5) ? allOf(scene) : yield* backendsOf(scene, "pitboss%")
  yield* Effect.gen(function*() {
    yield* atMoment(scene, () => signal(pids, "SIGSTOP"))
    yield* Effect.sleep(isShort ? 500 : chance.pick(hangsMs))
  }).pipe(Effect.ensuring(Effect.sync(() => signal(pids, "SIGCONT"))))
})

/** Milliseconds. The large ones exceed the tolerance of signatures. */
const clockSteps = [-3_600_000, -301_000, -30_000, -1500, 1500, 30_000, 301_000, 3_600_000]

const stepClock = Effect.fnUntraced(function*(scene: Scene) {
  const { chance, isShort, world } = scene
  const move = (offsetMs: number) => atMoment(scene, () => world.service().moveClock(offsetMs), [10, 100])
  for (let step = 0; step < (isShort ? 3 : 6); step++) yield* move(chance.pick(clockSteps))
  yield* move(0)
})

const fillDisk = Effect.fnUntraced(function*(scene: Scene) {
  const { history, world } = scene
  const { disk, server } = world
  if (disk === undefined) return yield* new FaultFailed({ reason: "this disk cannot be filled up" })
  const sql = yield* SqlClient.SqlClient
  yield* Effect.gen(function*() {
    yield* atMoment(scene, disk.fill)
    const before = history.triedAgain
    // uses up preallocated WAL sooner
    yield* Effect.ignore(Effect.timeout(sql`SELECT pg_switch_wal()`, "5 seconds"))
    yield* until(() => history.triedAgain >= before + 20)
  }).pipe(Effect.ensuring(Effect.sync(disk.empty)))
  yield* Effect.sleep(scene.chance.below(500))
  // a server that could not even record its recovery exits, some time later
  const comeBack = Effect.suspend(() =>
    server.hasExited() ? Effect.andThen(server.leave("killed"), server.comeBack) : Effect.void
  )
  yield* Effect.andThen(comeBack, Effect.exit(Effect.timeout(sql`SELECT 1`, "5 seconds"))).pipe(
    Effect.repeat({ until: ({ _tag }) => _tag === "Success", schedule: Schedule.spaced("20 millis") }),
    Effect.timeout(longEnough)
  )
})

const faults = {
  "service-kill": killService,
  "postgres-kill": killPostgres,
  "backend-kill": killBackend,
  "connection-cut": cutConnections,
  "postgres-hang": hangPostgres,
  "clock-step": stepClock,
  "full-disk": fillDisk
}

/** Causes the fault and waits for recovery. */
export const strike = (kind: FaultKind, scene: Scene) =>
  Effect.gen(function*() {
    scene.history.log.write({ what: "fault", kind })
    yield* faults[kind](scene)
    scene.history.onEvent = () => {}
    yield* scene.world.recovered
    scene.history.log.write({ what: "recovered", kind })
  })
