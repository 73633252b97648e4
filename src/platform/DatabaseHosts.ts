/**
 * Primary discovery for a database address with several servers (`postgres://user:password@one:5432,two:5432/name`). The driver supports one host
 * only. Every connection goes to the current primary; when another server is promoted, connections to the former one are cut, since a machine that
 * lost its power does not close them.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Redacted, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlError } from "effect/sql"
import * as Net from "node:net"
import { isLoopback } from "./Loopback.ts"

/** Addresses of the individual servers. */
export const hostsOf = (url: string): ReadonlyArray<string> => {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s.exec(url) ?? []
  const at = authority.lastIndexOf("@") + 1
  const hosts = authority.slice(at).split(",")
  return hosts.length < 2 ? [url] : hosts.map((host) => `${scheme}${authority.slice(0, at)}${host}${rest}`)
}

/** True when a PostgreSQL address leads to another machine without requiring TLS. */
export const isOpenConnection = (databaseUrl: string): boolean => hostsOf(databaseUrl).some(isOpen)

const isOpen = (databaseUrl: string): boolean => {
  const url = URL.parse(databaseUrl)
  if (url === null) return false
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname)
  // a path is a local socket
  if (host === "" || host.startsWith("/") || isLoopback(host)) return false
  const mode = url.searchParams.get("sslmode")
  return !(mode === null
    ? ["true", "1"].includes(url.searchParams.get("ssl") ?? "")
    : ["require", "verify-ca", "verify-full"].includes(mode))
}

/** Interval between two checks of the primary. */
const period = "500 millis"

/** Time-out of a server's probe. */
const patience = "2 seconds"

const noPrimary = (hosts: number) =>
  new SqlError.SqlError({
    reason: new SqlError.ConnectionError({
      cause: new Error(`none of ${hosts} servers takes writes`),
      message: "no primary",
      operation: "connect"
    })
  })

const requireWritable = Effect.fnUntraced(function*(client: PgClient.PgClient) {
  const [row] = yield* client<
    { readonly readOnly: string }
  >`SELECT current_setting('transaction_read_only') AS "readOnly"`
  if (row?.readOnly !== "off") return yield* noPrimary(1)
})

/** Fails unless a new connection to the server accepts writes. */
const probe = (url: string) =>
  PgClient.makeClient({ url: Redacted.make(url), applicationName: "pitboss-probe", connectTimeout: patience }).pipe(
    Effect.flatMap(requireWritable),
    Effect.scoped,
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(noPrimary(1)) }),
    Effect.provide(Reactivity.layer)
  )

/** The first of these to accept writes. */
const findPrimary = (hosts: ReadonlyArray<string>): Effect.Effect<string, SqlError.SqlError> =>
  Effect.raceAll(hosts.map((host) => Effect.as(probe(host), host))).pipe(
    Effect.mapError((error) => hosts.length === 1 ? error : noPrimary(hosts.length))
  )

/** Address of the current primary. A single server is not probed. */
export const primaryOf = (url: Redacted.Redacted): Effect.Effect<Redacted.Redacted, SqlError.SqlError> => {
  const hosts = hostsOf(Redacted.value(url))
  return hosts.length === 1 ? Effect.succeed(url) : Effect.map(findPrimary(hosts), (host) => Redacted.make(host))
}

/** Directs the connections of a pool to the current primary. */
export type OnPrimary = (config: PgClient.PgPoolConfig) => PgClient.PgPoolConfig

/** Follows the primary among the servers of `url` until the scope closes. */
export const followPrimary = Effect.fnUntraced(function*(
  url: Redacted.Redacted
): Effect.fn.Return<DatabaseHosts["Service"], SqlError.SqlError, Scope.Scope> {
  const hosts = hostsOf(Redacted.value(url))
  if (hosts.length === 1) return { onPrimary: (config) => config }
  let primary = yield* findPrimary(hosts)
  const sockets = new Map<Net.Socket, string>()
  const connect = (): Net.Socket => {
    const { hostname, port } = new URL(primary)
    const socket = Net.connect({
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? 5432 : Number(port),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 10_000
    })
    sockets.set(socket, primary)
    socket.once("close", () => sockets.delete(socket))
    return socket
  }
  // read by the driver at every connection attempt
  const onPrimary: OnPrimary = (config) => ({
    ...config,
    get url() {
      return Redacted.make(primary)
    },
    stream: connect
  })

  const own = yield* PgClient.make(
    onPrimary({ applicationName: "pitboss-primary", maxConnections: 1, connectTimeout: patience })
  )
    .pipe(Effect.provide(Reactivity.layer))
  const isStillPrimary = requireWritable(own).pipe(
    Effect.timeout("1 second"),
    Effect.match({ onFailure: () => false, onSuccess: () => true })
  )
  const checkPrimary = Effect.gen(function*() {
    if (yield* isStillPrimary) return
    const found = yield* findPrimary(hosts)
    if (found === primary) return
    const former = primary
    primary = found
    yield* Effect.annotateLogs(Effect.logWarning("database primary changed"), {
      former: new URL(former).host,
      primary: new URL(found).host
    })
    for (const [socket, host] of sockets) if (host !== found) socket.destroy()
  })
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(Effect.catchTag(checkPrimary, "SqlError", () => Effect.void), Effect.sleep(period)))
  )
  return { onPrimary }
})

/** Directs the connections of every pool of the service's role to the primary. */
export class DatabaseHosts extends Context.Service<DatabaseHosts, { readonly onPrimary: OnPrimary }>()(
  "pitboss/platform/DatabaseHosts"
) {}
