import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Http from "node:http"
import * as Os from "node:os"
import * as Path from "node:path"
import * as Tls from "node:tls"
import { makeAuthority } from "../../scripts/registers/Certificates.ts"
import { addGame, addStudio, addTenant, callWallet, register, seat } from "../kit/Casino.ts"
import { startCluster, untilBalanced } from "../kit/ClusterProcesses.ts"
import { databaseUrl, layerOwnDatabase } from "../kit/E2eDatabase.ts"
import { type Caller, callerOf, exchange, patiently, staffOf } from "../kit/HttpCalls.ts"
import { addApiKey, addStaff } from "../kit/Keys.ts"
import { freePort } from "../kit/ServiceProcess.ts"

// Goal: the configurations in scripts/deploy do what they say. Method: nginx and HAProxy with those files, where only addresses, ports and paths are others,
// in front of two nodes; a caller from an address of its own.

const examples = Path.join(import.meta.dirname, "..", "..", "scripts", "deploy")
const caller = "127.0.0.2"

interface Proxy {
  readonly program: string
  readonly file: string
  readonly flags: (file: string, folder: string) => ReadonlyArray<string>
}

const proxies: ReadonlyArray<Proxy> = [
  {
    program: "nginx",
    file: "nginx.conf",
    flags: (file, folder) => ["-c", file, "-p", folder, "-g", `daemon off; pid ${folder}/pid; error_log stderr crit;`]
  },
  { program: "haproxy", file: "haproxy.cfg", flags: (file) => ["-db", "-f", file] }
]

/** Connections over TLS from the caller's address, for calls that are made as over plain HTTP. */
const agentOver = (port: number, ca: string) => {
  const agent = new Http.Agent({ keepAlive: true, maxSockets: 8 })
  const target: Tls.ConnectionOptions & { readonly localAddress: string } = {
    host: "127.0.0.1",
    port,
    ca,
    localAddress: caller,
    checkServerIdentity: () => undefined
  }
  agent.createConnection = () => Tls.connect(target)
  return Effect.acquireRelease(Effect.succeed(agent), (made) => Effect.sync(() => made.destroy()))
}

/** All that comes back over a TLS connection of its own for bytes as they are, until the proxy closes it. */
const told = (port: number, ca: string, bytes: string) =>
  Effect.callback<string>((resume) => {
    const chunks: Array<Buffer> = []
    const socket = Tls.connect({ host: "127.0.0.1", port, ca, checkServerIdentity: () => undefined }, () => {
      socket.write(bytes)
    })
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    // a body that is refused is not read to its end
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(Buffer.concat(chunks).toString("latin1"))))
    return Effect.sync(() => socket.destroy())
  })

/** How a handshake ends that offers at most this version. */
const handshake = (port: number, ca: string, maxVersion: Tls.SecureVersion) =>
  Effect.callback<string>((resume) => {
    const ciphers = "DEFAULT:@SECLEVEL=0"
    const socket = Tls.connect(
      { host: "127.0.0.1", port, ca, minVersion: "TLSv1", maxVersion, ciphers, checkServerIdentity: () => undefined },
      () => {
        resume(Effect.succeed(String(socket.getProtocol())))
        socket.destroy()
      }
    )
    socket.on("error", (error) => resume(Effect.succeed(String(Object(error).code))))
  })

/** Ways to write an address of the back office, some of which it understands. */
const spellingsOf = (path: string): ReadonlyArray<string> => {
  const [first = "", ...rest] = path.slice(1)
  const escaped = `%${first.charCodeAt(0).toString(16)}${rest.join("")}`
  return [
    path,
    `${path}/`,
    `${path}?a=b`,
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/${escaped}`,
    `/${escaped}/`,
    `/%2f${path.slice(1)}`,
    `${path}%2f`,
    `${path};a`,
    path.toUpperCase()
  ]
}

// side by side: half of their time they wait for an event that does not come
describe("two nodes behind a proxy", () => {
  for (const { file, flags, program } of proxies) {
    it.live.skipIf(spawnSync(program, ["-v"]).error !== undefined)(
      `${program}: terminates TLS, passes on the caller's address, limits bodies, streams events, and loses no bet when a node stops`,
      () =>
        Effect.scoped(Effect.gen(function*() {
          const folder = yield* Effect.acquireRelease(
            Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "pitboss-proxy-"))),
            (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true }))
          )
          const authority = makeAuthority("Proxies")
          const { certificate, key } = authority.issue("127.0.0.1")
          const pem = Path.join(folder, "tls.pem")
          Fs.writeFileSync(pem, certificate + key)

          const nodes = yield* startCluster({
            count: 2,
            databaseUrl: yield* databaseUrl,
            environment: { TRUST_PROXY: "127.0.0.1/32", BACKOFFICE_URL: "https://backoffice.example" }
          })
          const [one, two] = nodes
          assert(one !== undefined && two !== undefined)
          const port = yield* freePort
          const example = Fs.readFileSync(Path.join(examples, file), "utf8")
          const config = [one, two].reduce((text, node, index) => {
            const { backofficePort } = node.process()
            return text.replaceAll(`10.0.0.1${index + 1}:8080`, `127.0.0.1:${node.port}`)
              .replaceAll(
                `10.0.0.1${index + 1}:8081 check port 8080`,
                `127.0.0.1:${backofficePort} check port ${node.port}`
              )
              .replaceAll(`10.0.0.1${index + 1}:8081`, `127.0.0.1:${backofficePort}`)
          }, example).replaceAll(/listen 443|bind :443/g, (found) => found.replace("443", String(port)))
            .replaceAll(/\/etc\/pitboss\/tls\.(?:pem|key)/g, pem)
          assert.notMatch(config, /10\.0\.0\.|:808\d|\/etc\//)
          const configured = Path.join(folder, file)
          Fs.writeFileSync(configured, config)
          yield* Effect.acquireRelease(
            Effect.sync(() => spawn(program, flags(configured, folder), { stdio: ["ignore", "ignore", "inherit"] })),
            (child) =>
              Effect.callback<void>((resume) => {
                if (child.exitCode !== null) return resume(Effect.void)
                child.once("close", () => resume(Effect.void))
                child.kill("SIGTERM")
              })
          )
          const agent = yield* agentOver(port, authority.certificate)
          yield* exchange(agent, port, "/health/ready").pipe(
            Effect.repeat({ until: ({ status }) => status === 200, schedule: Schedule.spaced("50 millis") }),
            Effect.retry({ schedule: Schedule.spaced("50 millis") }),
            Effect.timeout("60 seconds")
          )
          const token = yield* addStaff(`Grace at ${program}`)
          const staff = staffOf(agent, () => port, token)
          const host = { host: "backoffice.example" }
          yield* untilBalanced({ send: (path) => staff.send(path, { headers: host }) }, nodes.length)

          const { call: operator, operator: { id: operatorId } } = yield* addTenant(agent, port, `acme-${program}`)
          const playerId = yield* register(operator, `player-${program}`)

          // the address that counts is the connection's
          const forged = { "x-forwarded-for": "192.0.2.7", forwarded: "for=192.0.2.7" }
          const keyFrom = (address: string) =>
            Effect.map(addApiKey(operatorId, { ipAllowlist: [address] }), (signer) => callerOf(agent, port, signer))
          const me = "/api/v1/operator/me"
          assert.strictEqual((yield* (yield* keyFrom(caller)).call("GET", me, undefined, forged)).status, 200)
          assert.strictEqual(
            (yield* (yield* keyFrom("192.0.2.7")).call("GET", me, undefined, forged)).code,
            "IP_NOT_ALLOWED"
          )

          const ask = (target: string, name: string, more = "") =>
            told(
              port,
              authority.certificate,
              `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n${more}\r\n`
            )
          const large = { method: "POST", raw: "x".repeat(256 * 1024 + 1) }
          for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
            const { code, status } = yield* operator.send("/api/v1/operator/players", { ...large, headers })
            assert.deepStrictEqual([status, code], [413, "INVALID_REQUEST"])
          }

          assert.strictEqual(
            yield* handshake(port, authority.certificate, "TLSv1.1"),
            "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION"
          )
          assert.strictEqual(yield* handshake(port, authority.certificate, "TLSv1.2"), "TLSv1.2")

          // figures and staff's addresses, in all spellings, even for who has a token of staff
          const authorized = `Authorization: Bearer ${token}\r\n`
          const own = "/backoffice/v1/operators"
          assert.match(yield* ask(own, "backoffice.example", authorized), /^HTTP\/1\.1 200 /)
          const closed = [
            ...spellingsOf("/metrics").flatMap((target) => [
              { target, name: "backoffice.example" },
              { target, name: "api.example" }
            ]),
            ...spellingsOf(own).map((target) => ({ target, name: "api.example" })),
            { target: "https://backoffice.example/metrics", name: "backoffice.example" },
            { target: "https://backoffice.example/metrics", name: "api.example" },
            { target: `https://api.example${own}`, name: "api.example" }
          ]
          const open = yield* Effect.filter(
            closed,
            ({ name, target }) =>
              Effect.map(ask(target, name, authorized), (answer) =>
                !/^HTTP\/1\.[01] 4/.test(answer) || /pitboss_|"data"/.test(answer)),
            { concurrency: 4 }
          )
          assert.deepStrictEqual(open, [])

          // a stream has no end: its first event is there before it
          const live = yield* staff.send("/backoffice/v1/live", { headers: host })
          assert.strictEqual(live.status, 200)

          // nothing happens at this operator: the longest call there is ends by itself
          const { call: idle } = yield* addTenant(agent, port, `idle-${program}`)
          const held = yield* idle.get("/api/v1/operator/events?wait=30")
          assert.deepStrictEqual([held.status, held.data], [200, []])

          // a node ends under load: a caller hears the answer, or that it should try again, and each deposit and bet is booked once
          const studio = yield* addStudio(agent, port, `studio-${program}`)
          const game = yield* addGame(studio.id, `dice-${program}`)
          const at = yield* seat(operator, studio.call, game, { username: `seated-${program}`, balance: 100_000 })
          const count = 300
          let answered = 0
          const heard = new Set<string>()
          const listening = (caller: Caller) =>
            patiently({
              signer: caller.signer,
              send: (path, call) =>
                Effect.tap(
                  Effect.result(caller.send(path, call)),
                  (result) =>
                    Effect.sync(() =>
                      heard.add(
                        result._tag === "Failure"
                          ? result.failure.reason
                          : `${result.success.status} ${result.success.code ?? ""}`.trim()
                      )
                    )
                ).pipe(Effect.flatMap(Effect.fromResult))
            })
          const depositor = listening(callerOf(agent, port, operator.signer))
          const provider = listening(studio.call)
          const load = yield* Effect.forkChild(Effect.forEach(
            Array.from({ length: count }, (_, index) =>
              `${program}-${index}`),
            (id) =>
              Effect.all([
                depositor.post(`/api/v1/operator/players/${playerId}/deposits`, { amount: 7, external_reference: id }),
                callWallet(provider, "bet", {
                  request_id: id,
                  transaction_id: id,
                  session_token: at.token,
                  game_id: game.externalId,
                  round_id: id,
                  amount: 10,
                  currency: "EUR"
                }),
                depositor.get(`/api/v1/operator/players/${at.playerId}`)
              ]).pipe(Effect.tap(() => Effect.sync(() => answered++))),
            { concurrency: 6, discard: true }
          ))
          yield* Effect.repeat(Effect.delay(Effect.sync(() => answered), "5 millis"), {
            until: (so) => so >= count / 3
          })
          one.process().kill("SIGTERM")
          yield* Fiber.join(load)
          assert.deepStrictEqual([...heard].filter((so) => !/^20[01]$|^503 TRY_AGAIN$/.test(so)), [])
          assert.strictEqual((yield* one.process().exited).code, 0)
          const { data: wallet } = yield* operator.get(`/api/v1/operator/players/${playerId}/wallet`)
          assert.strictEqual(wallet.balance, 7 * count)
          const { data: seated } = yield* operator.get(`/api/v1/operator/players/${at.playerId}/wallet`)
          assert.strictEqual(seated.balance, 100_000 - 10 * count)
        })).pipe(Effect.provide(layerOwnDatabase)),
      { timeout: 180_000, concurrent: true }
    )
  }
})
