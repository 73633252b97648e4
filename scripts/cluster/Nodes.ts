/**
 * Nodes as local processes that share the public and the back-office port: the supervisor accepts each connection and passes it to
 * the next node in turn, with the caller's address. A frozen or ended node does not block later connections.
 */
import { Effect, Predicate } from "effect"
import type { Serializable } from "node:child_process"
import Cluster, { type Worker } from "node:cluster"
import { type BoundSocket, Socket } from "node:net"
import { join } from "node:path"
import { extension } from "../../src/platform/Invocation.ts"

const main = join(import.meta.dirname, "..", "..", "src", `main${extension}`)

/** Arguments of Node.js itself, as in `npm start` (`docs/decisions/0053-garbage-of-commits.md`). */
export const nodeArguments = ["--max-semi-space-size=64", "--no-allocation-site-pretenuring"]

export interface NodeAddress {
  readonly host: string
  /** Its own, besides the shared ones. */
  readonly port: number
  readonly backofficePort: number
}

export interface RunningNode {
  readonly pid: number
  readonly exited: Effect.Effect<string>
  readonly hasExited: () => boolean
  readonly kill: (signal: "SIGTERM" | "SIGKILL") => void
  /** Tells settings to a node that was started to wait for them. */
  readonly tell: (settings: Variables) => void
}

/** Variables of a process. */
export interface Variables {
  readonly [name: string]: string
}

const describeEnd = (code: number, signal: string | null): string =>
  signal === null || signal === "" ? `exit code ${code}` : signal

/** Time in ms for which a node may leave a connection that was handed to it. */
const unacceptedMs = 1000

/** A field of a message between the supervisor and a node, by which Node.js hands over connections. */
const numberIn = (message: unknown, field: string): number | undefined =>
  Predicate.hasProperty(message, field) && typeof message[field] === "number" ? message[field] : undefined

/** A connection as Node.js hands it over: a handle that its sockets adopt. */
const isConnection = (handle: unknown): handle is BoundSocket => Predicate.hasProperty(handle, "shutdown")

/**
 * Closes connections that a node does not accept in time: it is frozen, or has ended with the connection on its way to it. Node.js would leave each to
 * it for as long as it sleeps, or for ever. Closing the supervisor's end alone would tell the caller nothing: the node holds the other one.
 */
const closeUnaccepted = ({ process: child }: Worker): void => {
  const offered = new Map<number, () => void>()
  const accept = (number: number): void => {
    offered.get(number)?.()
    offered.delete(number)
  }
  const send = child.send.bind(child)
  const watched: typeof send = (message: Serializable, ...rest: ReadonlyArray<unknown>): boolean => {
    const [handle] = rest
    const number = numberIn(message, "seq")
    if (number !== undefined && Predicate.hasProperty(message, "act") && message.act === "newconn") {
      const close = (): void => {
        if (isConnection(handle)) new Socket({ handle, readable: false, writable: true }).on("error", () => {}).end()
      }
      const timer = setTimeout(close, unacceptedMs)
      offered.set(number, () => clearTimeout(timer))
    }
    return Reflect.apply(send, child, [message, ...rest])
  }
  child.send = watched
  child.on("internalMessage", (message: unknown) => {
    const number = numberIn(message, "ack")
    if (number !== undefined) accept(number)
  })
}

const runningOf = (worker: Worker): RunningNode => ({
  pid: worker.process.pid ?? 0,
  exited: Effect.callback((resume) => {
    const end = (code: number, signal: string | null) => resume(Effect.succeed(describeEnd(code, signal)))
    if (worker.isDead()) return end(worker.process.exitCode ?? 0, worker.process.signalCode)
    worker.once("exit", end)
    return Effect.sync(() => void worker.off("exit", end))
  }),
  hasExited: () => worker.isDead(),
  kill: (signal) => void worker.process.kill(signal),
  tell: (settings) => {
    if (worker.isConnected()) worker.send({ settings })
  }
})

/** Starts one, with these variables besides the supervisor's own, and a free port for its peers: one for all could be bound once only. */
export const startNode = (variables: Variables): Effect.Effect<RunningNode> =>
  Effect.sync(() => {
    Cluster.setupPrimary({ exec: main, args: [], execArgv: nodeArguments })
    const worker = Cluster.fork({ ...variables, CLUSTER_PORT: "0" })
    closeUnaccepted(worker)
    return runningOf(worker)
  })

/** Why the node at the address takes no requests; undefined when it does. */
const whyNotReady = ({ host, port }: NodeAddress) =>
  Effect.tryPromise(async (signal) => {
    const answer = await fetch(`http://${host}:${port}/health/ready`, { signal })
    return answer.status === 200 ? undefined : await answer.text()
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => "it does not answer")
  )

/** Interval at which a wait is told. */
const toldEveryMs = 10_000
const askedEveryMs = 100

/** Completes when the node at the address takes requests; `tell` gets the reason of a long wait now and then. */
export const untilReady = (address: NodeAddress, tell: (reason: string) => Effect.Effect<void>) =>
  Effect.gen(function*() {
    for (let asked = 1;; asked++) {
      const reason = yield* whyNotReady(address)
      if (reason === undefined) return
      if (asked % (toldEveryMs / askedEveryMs) === 0) yield* tell(reason)
      yield* Effect.sleep(askedEveryMs)
    }
  })

/** A drain takes ten seconds at most. */
const longestDrain = "11 seconds"

/** Drains all nodes concurrently, and kills the remaining ones. */
export const stopNodes = Effect.fnUntraced(function*(nodes: ReadonlyArray<RunningNode>) {
  const alive = nodes.filter(({ hasExited }) => !hasExited())
  for (const { kill } of alive) kill("SIGTERM")
  const allGone = Effect.forEach(alive, ({ exited }) => exited, { concurrency: "unbounded", discard: true })
  yield* Effect.timeoutOption(allGone, longestDrain)
  for (const { hasExited, kill } of alive) if (!hasExited()) kill("SIGKILL")
  yield* allGone
})
