/**
 * Nodes as local processes that share the public and the back-office port: the supervisor accepts each connection and passes it to
 * the next node in turn, with the caller's address. A frozen or ended node does not block later connections.
 */
import { Effect } from "effect"
import Cluster, { type Worker } from "node:cluster"
import { join } from "node:path"

const main = join(import.meta.dirname, "..", "..", "src", "main.ts")

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
}

const describeEnd = (code: number, signal: string | null): string =>
  signal === null || signal === "" ? `exit code ${code}` : signal

const runningOf = (worker: Worker): RunningNode => ({
  pid: worker.process.pid ?? 0,
  exited: Effect.callback((resume) => {
    const end = (code: number, signal: string | null) => resume(Effect.succeed(describeEnd(code, signal)))
    if (worker.isDead()) return end(worker.process.exitCode ?? 0, worker.process.signalCode)
    worker.once("exit", end)
    return Effect.sync(() => void worker.off("exit", end))
  }),
  hasExited: () => worker.isDead(),
  kill: (signal) => void worker.process.kill(signal)
})

/** Starts one, with these variables besides the supervisor's own, and a free port for its peers: one for all could be bound once only. */
export const startNode = (variables: { readonly [name: string]: string }): Effect.Effect<RunningNode> =>
  Effect.sync(() => {
    Cluster.setupPrimary({ exec: main, args: [], execArgv: nodeArguments })
    return runningOf(Cluster.fork({ ...variables, CLUSTER_PORT: "0" }))
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
