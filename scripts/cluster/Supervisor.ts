/** The supervisor: runs several nodes on this machine over one database. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Layer, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { writeCompiled } from "../../src/compiled.ts"
import { logFields } from "../../src/http/LogFields.ts"
import { backofficeSettings, probePort, publicSettings } from "../../src/http/Ports.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { layerLogging } from "../../src/platform/Logging.ts"
import { reachable } from "../../src/platform/Loopback.ts"
import { freePort } from "../../src/platform/PostgresProcess.ts"
import { layerEndWithParent } from "../../src/platform/ProcessEnd.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import { runTyped } from "../../src/platform/Usage.ts"
import { teardown } from "../Explained.ts"
import { type NodeAddress, startNode, stopNodes, untilReady, type Variables } from "./Nodes.ts"
import { awaitStart, type StartedNode, startOf } from "./NodeStarts.ts"
import { openDatabase } from "./Postgres.ts"
import { invocation } from "../../src/platform/Invocation.ts"
import { laterSettings } from "../../src/platform/LaterSettings.ts"
import { standardError } from "../../src/platform/Output.ts"

/** Distance of the nodes' own ports from the shared one. */
const ownPortsFrom = 100

/** And of their own back-office ports: the first that leaves the shared one free. */
const ownBackofficePortsFrom = [200, 300] as const

const mostNodes = 64

/** Pause before a node is started again that ran, and one that does not start. */
const restartPause = "1 second"
const failedPause = "10 seconds"

const flags = {
  nodes: Flag.Int("nodes").pipe(
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostNodes }))),
    Flag.withDescription("How many nodes (3)"),
    Flag.withDefault(3)
  ),
  restart: Flag.Boolean("restart").pipe(
    Flag.withDescription("Start a node that has died again after a second (--no-restart: leave it)"),
    Flag.withDefault(true)
  )
}

interface Member extends StartedNode {
  readonly address: NodeAddress
}

const lineOf = ({ address: { backofficePort, host, port }, number, running: { pid } }: Member): string =>
  `  node ${
    String(number).padEnd(4)
  } http://${host}:${port}    back office http://127.0.0.1:${backofficePort}    process ${pid}`

const greeting = (
  { backofficeHost, backofficePort, demo, host, port }: Settings["Service"],
  members: ReadonlyArray<Member>
) =>
  [
    "",
    `Pitboss is up on ${members.length === 1 ? "one node" : `${members.length} nodes`}.`,
    `  API          http://${reachable(host)}:${port}/api/v1    any node; reference at http://${
      reachable(host)
    }:${port}/docs`,
    `  Back office  http://${
      reachable(backofficeHost)
    }:${backofficePort}    any node; ${invocation.backoffice} node list`,
    "",
    "Each by itself:",
    ...members.map(lineOf),
    ...(demo ? ["", "See them play, in a second terminal:", `  ${invocation.program} demo`] : []),
    ""
  ].join("\n")

/** On a terminal one line that changes. */
const showProgress = (text: string) =>
  Effect.sync(() => void (standardError.isTerminal && standardError.offer(`\r\x1b[2K${text}`)))

const makeMembers = Effect.fnUntraced(function*(count: number) {
  const settings = yield* Settings
  const { bootstrapToken, demo, host, masterKey } = settings
  const port = settings.port === 0 ? yield* freePort : settings.port
  const backofficePort = settings.backofficePort === 0 ? yield* freePort : settings.backofficePort
  const firstPort = port + ownPortsFrom
  const firstBackofficePort = port +
    (ownBackofficePortsFrom.find((from) => backofficePort < port + from || backofficePort >= port + from + count) ?? 0)
  if (firstBackofficePort + count > 65_536) {
    return yield* new StartupError({ message: `PORT: ${port} leaves no room for the nodes' own ports above it` })
  }
  const own = Array.from({ length: count }, (_, index) => index)
  yield* Effect.forEach(
    [port, ...own.map((index) => firstPort + index)],
    (one) => probePort({ host, port: one, hostSetting: publicSettings.host, portSetting: publicSettings.port }),
    { discard: true }
  )
  yield* Effect.forEach(
    [backofficePort, ...own.map((index) => firstBackofficePort + index)],
    (one) =>
      probePort({
        host: settings.backofficeHost,
        port: one,
        hostSetting: backofficeSettings.host,
        portSetting: one === backofficePort ? backofficeSettings.port : publicSettings.port
      }),
    { discard: true }
  )
  // nodes load their modules while the database starts, and are told its address then; those that start later know it
  let database: Variables = { [laterSettings]: "on" }
  const shared = {
    CLUSTER: "on",
    PORT: String(port),
    BACKOFFICE_PORT: String(backofficePort),
    MASTER_KEY: Buffer.from(Redacted.value(masterKey)).toString("base64"),
    ...(bootstrapToken === undefined ? {} : { BACKOFFICE_TOKEN: Redacted.value(bootstrapToken) })
  }
  const members: Array<Member> = []
  yield* Effect.addFinalizer(() => Effect.suspend(() => stopNodes(members.map(({ running }) => running))))
  for (let number = 1; number <= count; number++) {
    const address = {
      host: reachable(host),
      port: firstPort + number - 1,
      backofficePort: firstBackofficePort + number - 1
    }
    const start = Effect.suspend(() =>
      startNode({
        ...shared,
        ...database,
        NODE_PORT: String(address.port),
        NODE_BACKOFFICE_PORT: String(address.backofficePort),
        // one of them seeds
        DEMO: demo && number === 1 ? "on" : "off"
      })
    )
    members.push({
      number,
      address,
      start,
      untilReady: (tell) => untilReady(address, tell),
      running: yield* start
    })
  }
  yield* showProgress("starting the database")
  database = yield* openDatabase(count)
  for (const { running } of members) running.tell(database)
  return { members, settings: { ...settings, port, backofficePort } }
})

/** Waits until all nodes take requests, or have failed to start; fails when none has. Returns those that run. */
const awaitAll = Effect.fnUntraced(function*(members: ReadonlyArray<Member>) {
  let ready = 0
  const progress = () => showProgress(`${ready} of ${members.length} nodes are ready`)
  yield* progress()
  const run = yield* Effect.filter(
    members,
    (member) =>
      Effect.tap(awaitStart(member, Console.log), (isUp) => Effect.suspend(() => (ready += isUp ? 1 : 0, progress()))),
    {
      concurrency: "unbounded"
    }
  )
  yield* showProgress("")
  if (run.length === 0) return yield* new StartupError({ message: "no node starts" })
  return run
})

/** Looks after one node for as long as the supervisor runs. */
const tend = (member: Member, restarts: boolean): Effect.Effect<void> => {
  let pause: typeof restartPause | typeof failedPause = restartPause
  return Effect.gen(function*() {
    const how = yield* Effect.suspend(() => member.running.exited)
    yield* Console.log(`node ${member.number} exited (${how})${restarts ? "" : "; not restarting"}`)
    if (!restarts) return yield* Effect.never
    yield* Effect.sleep(pause)
    member.running = yield* member.start
    const isUp = (yield* startOf(member, Console.log)) === undefined
    pause = isUp ? restartPause : failedPause
    if (isUp) yield* Console.log(`started again:\n${lineOf(member)}`)
  }).pipe(Effect.forever)
}

const cluster = Command.make("cluster", flags, ({ nodes, restart }) =>
  Effect.gen(function*() {
    const { members, settings } = yield* makeMembers(nodes)
    yield* Console.log(greeting(settings, yield* awaitAll(members)))
    yield* Effect.sync(writeCompiled)
    yield* Effect.forEach(members, (member) => tend(member, restart), { concurrency: "unbounded", discard: true })
  }).pipe(
    Effect.scoped,
    Effect.provide([
      layerEndWithParent,
      layerLogging(logFields).pipe(Layer.provideMerge(Settings.layer)),
      Entropy.layer
    ])
  )).pipe(
    Command.withDescription(
      "Runs several nodes on this machine over one database: the embedded one, or DATABASE_URL's. All answer on PORT, each also on " +
        "a port of its own from PORT + 100 on, and all serve the back office on BACKOFFICE_PORT. SIGTERM stops all of them."
    )
  )

const explain = (cause: Cause.Cause<unknown>) =>
  Effect.sync(() => {
    const error = Cause.squash(cause)
    if (error instanceof StartupError) standardError.offer(`pitboss: ${error.message}\n`)
    else standardError.offer(`${Cause.pretty(cause)}\n`)
  })

cluster.pipe(
  runTyped,
  Effect.tapCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : explain(cause)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true, teardown })
)
