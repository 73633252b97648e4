/** Back-office and public server on one database, and the command line as a child process. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Context, Effect, Layer, Logger, References, Schema } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { RememberedEnds } from "../../src/chain/Ends.ts"
import { layerSingleNode } from "../../src/cluster/SingleNode.ts"
import type { Forwarder } from "../../src/cluster/Forwarder.ts"
import type { Nodes } from "../../src/cluster/Nodes.ts"
import type { Placement } from "../../src/engine/Placement.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Settings } from "../../src/platform/Settings.ts"
import { layerCapabilities } from "../../src/service.ts"
import { PlayerActors } from "../../src/store/PlayerActors.ts"
import { layerBackoffice } from "../../src/servers/Backoffice.ts"
import { runCommandLine } from "../../src/commandLine.ts"
import { CommandOutput } from "../../src/commands/Root.ts"
import { layerBackofficeServer } from "../../src/servers/BackofficeServer.ts"
import { MetricsRoute } from "../../src/http/MetricsRoute.ts"
import { layerHttpServices, layerPublicServer } from "../../src/servers/PublicServer.ts"
import { BothServers, bootstrapToken, type Casino, openCasino, staffOnly, treasurerToken } from "./Casino.ts"
import { listeningAt, together } from "./E2eServer.ts"
import { listensAt } from "./HttpCalls.ts"
import { Calendar } from "./Calendar.ts"
import { balance, makeNodesInProcess, nodesOfRun } from "./NodesInProcess.ts"
import { type CommandOutcome, runProgram } from "./ServiceProcess.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { layerTestService, ServiceSql } from "./TestService.ts"

const cli = join(import.meta.dirname, "..", "..", "src", "cli.ts")

/** Platform services of the command line. */
const layerCommands = Layer.merge(NodeHttpClient.layerNodeHttp, NodeServices.layer)

const logged: Array<string> = []

const collecting = Logger.make((options) => {
  const annotations = options.fiber.getRef(References.CurrentLogAnnotations)
  logged.push(JSON.stringify([options.message, options.cause, annotations]))
})

/** Both servers of a node; gives their ports. `backofficePort`: where staff reach the back office, when that is not the server's own. */
const serveBoth = Effect.fnUntraced(function*(backofficePort: number | undefined) {
  const settings = yield* Settings
  const publicServer = Context.get(yield* Layer.build(Layer.fresh(layerPublicServer)), HttpServer.HttpServer)
  const layerBackofficeHere = Layer.provide(
    layerBackofficeServer(MetricsRoute),
    Layer.succeed(Settings, {
      ...settings,
      ...(backofficePort === undefined ? {} : { backofficeUrl: `http://127.0.0.1:${backofficePort}` })
    })
  )
  const backofficeServer = Context.get(yield* Layer.build(Layer.fresh(layerBackofficeHere)), HttpServer.HttpServer)
  return { publicServer, publicPort: listensAt(publicServer), backofficePort: listensAt(backofficeServer) }
})

/** The memories of all nodes as one: a test that changes what is remembered means every node. */
const remembering = (
  first: RememberedEnds["Service"],
  others: ReadonlyArray<RememberedEnds["Service"]>
): RememberedEnds["Service"] =>
  RememberedEnds.of({
    ...first,
    restore: (ends) => [first, ...others].forEach(({ restore }) => restore(ends)),
    look: Effect.map(Effect.forEach([first, ...others], ({ look }) => look), (found) => found.flat())
  })

/** Services of a node, with the actors of its players. */
const layerStaffed = (node: Parameters<typeof layerTestService>[2]) =>
  // over the service's client, as in production: writes of staff and the chain share one transaction
  Layer.provideMerge(layerBackoffice, Layer.effect(SqlClient.SqlClient, ServiceSql)).pipe(
    Layer.provideMerge(layerHttpServices),
    Layer.provideMerge(layerCapabilities),
    Layer.provideMerge(Layer.effect(ServiceSql, SqlClient.SqlClient)),
    Layer.provide(TestDatabase.layerService),
    Layer.provideMerge(node ?? layerSingleNode)
  )

/** {@link layerBothServers} on these nodes; on one, without any. */
export const layerBothServersOn = (
  [first = layerSingleNode, ...others]: ReadonlyArray<Layer.Layer<Forwarder | Nodes | Placement>>
) => {
  const layerServers = Layer.effectContext(Effect.gen(function*() {
    const actors = yield* PlayerActors
    const ends = yield* RememberedEnds
    const publicPorts: Array<number> = []
    const backofficePorts: Array<number> = []
    const shared = others.length === 0 ? undefined : {
      publicPort: (yield* balance(publicPorts)).port,
      backofficePort: (yield* balance(backofficePorts)).port
    }
    const serve = Effect.tap(serveBoth(shared?.backofficePort), ({ backofficePort, publicPort }) =>
      Effect.sync(() => {
        publicPorts.push(publicPort)
        backofficePorts.push(backofficePort)
      }))
    const own = yield* serve
    const { backofficePort, publicPort } = shared ?? own
    const nodes = yield* Effect.forEach(
      others,
      (node) =>
        Effect.flatMap(
          Layer.build(Layer.fresh(layerStaffed(node))),
          (context) =>
            Effect.as(Effect.provideContext(serve, context), {
              actors: Context.get(context, PlayerActors),
              ends: Context.get(context, RememberedEnds)
            })
        )
    )
    return Context.make(BothServers, { publicPort, backofficePort, logged }).pipe(
      Context.add(HttpServer.HttpServer, listeningAt(own.publicServer, publicPort)),
      Context.add(PlayerActors, together(actors, nodes.map((node) => node.actors))),
      Context.add(RememberedEnds, remembering(ends, nodes.map((node) => node.ends)))
    )
  }))
  return layerServers.pipe(
    // over the service's client, as in production: writes of staff and the chain share one transaction
    Layer.provideMerge(Layer.provide(layerBackoffice, Layer.effect(SqlClient.SqlClient, ServiceSql))),
    Layer.provideMerge(layerHttpServices),
    Layer.provideMerge(layerTestService(Entropy.layer, layerCapabilities, first)),
    Layer.provideMerge(Logger.layer([collecting]))
  )
}

/** Everything that the back office does, served, on a database of its own. The clock is the real one. */
export const layerBothServers = Layer.unwrap(
  Effect.sync(() => layerBothServersOn(nodesOfRun > 1 ? makeNodesInProcess(nodesOfRun) : []))
)

export interface CommandOptions {
  /** Undefined: none. */
  readonly token?: string | undefined
  readonly port?: number
  readonly dataDir?: string
  /** Node.js and the program that runs; by default this one, and the command line. */
  readonly program?: readonly [node: string, file: string]
}

const environment = (port: number, options: CommandOptions) => ({
  BACKOFFICE_PORT: String(options.port ?? port),
  DATA_DIR: options.dataDir ?? join(import.meta.dirname, "no-such-folder")
})

/** Runs the command line against the back-office server, as a process of its own: a second or more on a busy machine. */
export const runCommand = Effect.fnUntraced(function*(args: ReadonlyArray<string>, options: CommandOptions = {}) {
  const { backofficePort } = yield* BothServers
  const as = (token: string | undefined) =>
    runProgram([...options.program ?? [process.execPath, cli], ...args], {
      ...environment(backofficePort, options),
      ...(token === undefined ? {} : { BACKOFFICE_TOKEN: token })
    })
  if ("token" in options) return yield* as(options.token)
  const outcome = yield* as(bootstrapToken)
  return outcome.stderr.includes(staffOnly) ? yield* as(yield* treasurerToken) : outcome
})

/**
 * As {@link runCommand}, in this process: the command line's own function over real HTTP, without the start of a Node.js. On a
 * terminal when it says so.
 */
export const runHere = Effect.fnUntraced(function*(args: ReadonlyArray<string>, options: HereOptions = {}) {
  if ("token" in options) return yield* runAs(args, options.token, options)
  const outcome = yield* runAs(args, bootstrapToken, options)
  return outcome.stderr.includes(staffOnly) ? yield* runAs(args, yield* treasurerToken, options) : outcome
})

interface HereOptions extends CommandOptions {
  readonly isTerminal?: boolean
  readonly progress?: (text: string) => void
}

const runAs = Effect.fnUntraced(function*(
  args: ReadonlyArray<string>,
  token: string | undefined,
  options: HereOptions
) {
  const { backofficePort } = yield* BothServers
  const outcome = { exitCode: 0, stdout: "", stderr: "" }
  yield* runCommandLine(args).pipe(
    Effect.provideService(CommandOutput, {
      isTerminal: options.isTerminal ?? false,
      out: (text) => {
        outcome.stdout += text
      },
      problem: (text) => {
        outcome.stderr += text
      },
      ...(options.progress === undefined ? {} : { progress: options.progress }),
      end: (exitCode) => {
        outcome.exitCode = exitCode
      }
    }),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown({
        ...environment(backofficePort, options),
        ...(token === undefined ? {} : { BACKOFFICE_TOKEN: token })
      })
    ),
    Effect.provide(layerCommands)
  )
  return outcome satisfies CommandOutcome
})

/** An unexpectedly failed command, with its output. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  args: Schema.Array(Schema.String),
  exitCode: Schema.NullOr(Schema.Number),
  stderr: Schema.String
}) {
  override get message() {
    return `${this.args.join(" ")} ended with ${this.exitCode}: ${this.stderr}`
  }
}

/** Runs a command that must succeed, in this process, and gives the document it printed. */
export const command = Effect.fnUntraced(function*(...words: ReadonlyArray<string | ReadonlyArray<string>>) {
  const args = words.flat()
  const { exitCode, stderr, stdout } = yield* runHere(args)
  if (exitCode !== 0) return yield* new CommandFailed({ args, exitCode, stderr: stderr || stdout })
  return JSON.parse(stdout)
})

/** Casino shared by the tests of a file, which do not change its settings. Tests with other settings open a casino. */
export class SharedCasino extends Context.Service<SharedCasino, Casino>()("pitboss/test/SharedCasino") {}

/** Both servers by the calendar of the test, and the house. */
export const layerCasinos = Layer.effect(SharedCasino, Effect.suspend(() => openCasino())).pipe(
  Layer.provideMerge(layerBothServers),
  Layer.provideMerge(Calendar.layer)
)
