/**
 * What strangers can make the service work for: bodies of every form that costs most to take apart, at every address that takes a body, and the
 * processor time of a service under them.
 */
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import * as Http from "node:http"
import { protocolOfSample, samples } from "../../scripts/simulators/Samples.ts"

/** Length of a body, just below the limit of all bodies. */
export const strangerBytes = 250_000

const form = "application/x-www-form-urlencoded"
const json = "application/json"

export interface StrangerBody {
  readonly name: string
  readonly contentType: string
  readonly body: Buffer
}

const filled = (
  text: string,
  [before, after]: readonly [before: string, after: string] = ["", ""],
  length = strangerBytes
): Buffer =>
  Buffer.from(
    before + text.repeat(Math.floor((length - before.length - after.length) / Buffer.byteLength(text))) + after
  )

const numbered = (pair: (at: number) => string, [before, after]: readonly [string, string]): Buffer => {
  let text = before
  for (let at = 0; text.length < strangerBytes - 40; at++) text += pair(at)
  return Buffer.from(text + after)
}

/** Forms of a body, 250 KB each. */
export const strangerBodies: ReadonlyArray<StrangerBody> = [
  { name: "form, a&a&…", contentType: form, body: filled("a&") },
  { name: "form, many names", contentType: form, body: numbered((at) => `n${at}=1&`, ["", "hash=0"]) },
  { name: "form, nested names", contentType: form, body: numbered((at) => `a[${at}][b][c]=1&`, ["", "z=1"]) },
  { name: "form, one long name in brackets", contentType: form, body: filled("[0]", ["a", "=1"]) },
  { name: "form, percent signs", contentType: form, body: filled("%25", ["hash=", ""]) },
  { name: "form, broken escapes", contentType: form, body: filled("%zz", ["hash=", ""]) },
  { name: "form, escaped emoji", contentType: form, body: filled("%F0%9F%98%80", ["hash=", ""]) },
  { name: "form, spaces as plus", contentType: form, body: filled("+", ["hash=", ""]) },
  { name: "form, tildes", contentType: form, body: filled("~", ["hash=", ""]) },
  { name: "JSON, lists in lists", contentType: json, body: filled("[") },
  { name: "JSON, objects in objects", contentType: json, body: filled("{\"a\":") },
  { name: "JSON, a long list", contentType: json, body: filled("1,", ["{\"actions\":[", "1]}"]) },
  { name: "JSON, a list of objects", contentType: json, body: filled("{},", ["{\"transactions\":[", "{}]}"]) },
  { name: "JSON, many names", contentType: json, body: numbered((at) => `"n${at}":1,`, ["{", "\"z\":1}"]) },
  { name: "JSON, a huge number", contentType: json, body: filled("9", ["{\"amount\":", "}"]) },
  { name: "JSON, escaped letters", contentType: json, body: filled("\\u00e9", ["{\"user\":\"", "\"}"]) },
  { name: "JSON, emoji", contentType: json, body: filled("😀", ["{\"user\":\"", "\"}"]) }
]

/**
 * Forms of the length of the largest messages of protocols whose signature is over the decoded fields (`FormBounds` of Pragmatic and
 * Slotegrator): strangers' are decoded and signed as well, up to there.
 */
export const boundedBodies: ReadonlyArray<StrangerBody> = [32 * 1024, 48 * 1024].flatMap((length) => {
  const ofValue = (value: string) => filled(value, ["a=", ""], length)
  const names = Array.from({ length: length === 48 * 1024 ? 640 : 128 }, (_, at) => `${1000 - at}=`)
  const ofNames = (value: string) => {
    const share = Math.floor((length / names.length - 6) / Buffer.byteLength(value))
    return Buffer.from(names.map((name) => name + value.repeat(share)).join("&"))
  }
  const bodies = {
    "percent signs": ofValue("%25"),
    "broken escapes": ofValue("%zz"),
    "escaped emoji": ofValue("%F0%9F%98%80"),
    "spaces as plus": ofValue("+"),
    "tildes": ofValue("~"),
    "emoji": ofValue("😀"),
    "many fields of tildes": ofNames("~"),
    "many fields of escapes": ofNames("%25")
  }
  return Object.entries(bodies).map(([name, body]) => ({
    name: `form, ${length / 1024} KiB of ${name}`,
    contentType: form,
    body
  }))
})

/** An address that takes bodies, with what a stranger may know of it. */
export interface StrangerAddress {
  readonly name: string
  readonly server: "public" | "backoffice"
  readonly path: string
  readonly headers: (nowSeconds: number) => { readonly [name: string]: string }
}

const wrongSignature = "0".repeat(64)

/** Paths of the vendors' protocols below a provider's address, and headers that are not secret. */
const vendorCalls: {
  readonly [protocol: string]: {
    readonly path: string
    readonly headers?: (nowSeconds: number, settings: { readonly [name: string]: unknown }) => {
      readonly [name: string]: string
    }
  }
} = {
  hub88: { path: "/transaction/bet", headers: () => ({ "x-hub88-signature": "AAAA" }) },
  caleta: { path: "/wallet/bet", headers: () => ({ "x-auth-signature": "AAAA" }) },
  pragmatic: { path: "/bet.html" },
  slotegrator: {
    path: "",
    headers: (nowSeconds, { merchant_id: merchantId }) => ({
      "x-merchant-id": String(merchantId),
      "x-timestamp": String(nowSeconds),
      "x-nonce": "n",
      "x-sign": "0".repeat(40)
    })
  },
  a8r: { path: "/v2/a8r_casino.Round/BetWin", headers: () => ({ "x-request-sign": wrongSignature }) },
  gcp: { path: "/play", headers: () => ({ "x-request-sign": wrongSignature }) },
  evolution: { path: "/debit?authToken=wrong" },
  spribe: {
    path: "/withdraw",
    headers: (nowSeconds) => ({
      "x-spribe-client-id": "casino",
      "x-spribe-client-ts": String(nowSeconds),
      "x-spribe-client-signature": wrongSignature
    })
  }
}

/** Providers to be made, one in each protocol: what staff send, and the address that strangers find. */
export const strangerProviders = (slugOf: (sample: string) => string, gamesUrl: string) =>
  Object.entries(vendorCalls).map(([sample, { headers = () => ({}), path }]) => {
    const settings = samples[sample]?.(gamesUrl).provider ?? {}
    const slug = slugOf(sample)
    const address: StrangerAddress = {
      name: sample,
      server: "public",
      path: `/api/v1/integrations/${slug}${path}`,
      headers: (nowSeconds) => headers(nowSeconds, settings)
    }
    return { provider: { slug, name: sample, protocol: protocolOfSample(sample), settings }, address }
  })

/** Addresses of Pitboss's own APIs, with public key ids. */
export const strangerAddresses = (
  keys: { readonly operator: string; readonly provider: string }
): ReadonlyArray<StrangerAddress> => {
  const signed = (header: string, key: string) => (nowSeconds: number) => ({
    [header]: key,
    "x-timestamp": String(nowSeconds),
    "x-signature": wrongSignature
  })
  return [
    {
      name: "own protocol",
      server: "public",
      path: "/api/v1/provider/wallet/batch",
      headers: signed("x-provider-key", keys.provider)
    },
    {
      name: "own protocol, unknown key",
      server: "public",
      path: "/api/v1/provider/wallet/bet",
      headers: signed("x-provider-key", "pbp_none")
    },
    {
      name: "operator API",
      server: "public",
      path: "/api/v1/operator/players",
      headers: signed("x-api-key", keys.operator)
    },
    {
      name: "player API",
      server: "public",
      path: "/api/v1/player/games/1/play",
      headers: () => ({ authorization: "Bearer x" })
    },
    {
      name: "staff API",
      server: "backoffice",
      path: "/backoffice/v1/operators",
      headers: () => ({ authorization: "Bearer x" })
    },
    {
      name: "sign-in",
      server: "backoffice",
      path: "/backoffice/v1/session",
      headers: () => ({ "x-requested-with": "pitboss" })
    }
  ]
}

/** The service that strangers call. */
export interface StrangerTarget {
  readonly pid: number
  readonly publicPort: number
  readonly backofficePort: number
}

/** Processor time of all threads of a process so far, ms; zero where the system does not tell. */
const processorMs = (pid: number): number => {
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks).reduce(
      (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ", 1)[0]) / 1e6,
      0
    )
  } catch {
    return 0
  }
}

/** Sends one request and waits for its answer, or for the connection's end; gives the status, 0 without an answer. */
const send = (
  agent: Http.Agent,
  { backofficePort, publicPort }: StrangerTarget,
  { headers, path, server }: StrangerAddress,
  { body, contentType }: StrangerBody
) =>
  Effect.callback<number>((resume) => {
    const finish = (status: number) => resume(Effect.succeed(status))
    const port = server === "public" ? publicPort : backofficePort
    const request = Http.request({
      host: "127.0.0.1",
      port,
      path,
      agent,
      method: "POST",
      headers: {
        "content-type": contentType,
        "content-length": body.length,
        // counted apart from the health checks of this address
        "x-forwarded-for": "192.0.2.1",
        ...headers(Math.floor(Date.now() / 1000))
      }
    }, (response) => {
      response.resume()
      response.once("close", () => finish(response.statusCode ?? 0))
    })
    request.on("error", () => finish(0))
    request.end(body)
  })

const health = (agent: Http.Agent, port: number) =>
  Effect.callback<number>((resume) => {
    const startedAt = performance.now()
    const finish = () => resume(Effect.succeed(performance.now() - startedAt))
    Http.get({ host: "127.0.0.1", port, path: "/health/live", agent }, (response) => {
      response.resume()
      response.once("end", finish)
    }).on("error", finish)
  })

const withAgent = <A>(maxSockets: number, use: (agent: Http.Agent) => Effect.Effect<A>): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Http.Agent({ keepAlive: true, maxSockets })),
    use,
    (agent) => Effect.sync(() => agent.destroy())
  )

/**
 * Processor time of the service for each of the bodies, ms: the lower quartile of several. They are sent in turns, since what else a process does
 * at random, compiling and collecting garbage, takes several in a row.
 */
const bodyCostsMs = (
  target: StrangerTarget,
  address: StrangerAddress,
  bodies: ReadonlyArray<StrangerBody>,
  times: number
) =>
  withAgent(1, (agent) =>
    Effect.gen(function*() {
      const costs = bodies.map((): Array<number> => [])
      // the first turn opens the connection
      for (let turn = 0; turn <= times; turn++) {
        for (const [index, body] of bodies.entries()) {
          const before = processorMs(target.pid)
          yield* send(agent, target, address, body)
          if (turn > 0) costs[index]?.push(processorMs(target.pid) - before)
        }
      }
      return costs.map((own) => own.toSorted((a, b) => a - b)[Math.floor(times / 4)] ?? 0)
    }))

/** The slowest answer of `/health/live` beside so many such bodies at once, ms. */
const healthBesideOnceMs = (target: StrangerTarget, address: StrangerAddress, body: StrangerBody, atOnce: number) =>
  withAgent(atOnce, (agent) =>
    withAgent(1, (own) =>
      Effect.gen(function*() {
        yield* health(own, target.publicPort)
        let isOver = false
        let slowest = 0
        const flood = Effect.forEach(Array.from({ length: atOnce }), () => send(agent, target, address, body), {
          concurrency: "unbounded"
        }).pipe(Effect.ensuring(Effect.sync(() => (isOver = true))))
        const probe = Effect.map(health(own, target.publicPort), (took) => (slowest = Math.max(slowest, took)))
        const watch = Effect.repeat(probe, { while: () => !isOver })
        yield* Effect.all([flood, watch], { concurrency: 2 })
        return slowest
      })))

/** The same, the median of three: a pause of the machine is no work of the service's. */
export const healthBesideMs = (target: StrangerTarget, address: StrangerAddress, body: StrangerBody, atOnce: number) =>
  Effect.map(
    Effect.replicateEffect(healthBesideOnceMs(target, address, body, atOnce), 3),
    (slowest) => slowest.toSorted((a, b) => a - b)[1] ?? 0
  )

/** Bars: processor time of one body, and a health check beside 32 at once. */
export const strangerBars = { bodyMs: 3, healthMs: 100, atOnce: 32 }

export interface StrangerCost {
  readonly address: string
  readonly body: string
  readonly costMs: number
  /** Beside 32 of the dearest body of an address; otherwise null. */
  readonly healthMs: number | null
}

/** What every body costs at every address, and the health checks beside the dearest of each address. */
export const strangerCosts = Effect.fnUntraced(function*(
  target: StrangerTarget,
  addresses: ReadonlyArray<StrangerAddress>,
  times = 8
) {
  const bodies = [...strangerBodies, ...boundedBodies]
  // a process that has just started compiles what it runs
  yield* Effect.forEach(addresses, (address) => bodyCostsMs(target, address, bodies, 1), { discard: true })
  const costs: Array<StrangerCost> = []
  for (const address of addresses) {
    const costsMs = yield* bodyCostsMs(target, address, bodies, times)
    const measured = bodies.map((body, index) => [body, costsMs[index] ?? 0] as const)
    const [dearest] = measured.toSorted(([, a], [, b]) => b - a)
    for (const [body, costMs] of measured) {
      costs.push({
        address: address.name,
        body: body.name,
        costMs,
        healthMs: body === dearest?.[0] ? yield* healthBesideMs(target, address, body, strangerBars.atOnce) : null
      })
    }
  }
  return costs
})
