import { SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { BackofficeApi } from "../../src/contract/StaffApi.ts"
import { days, gameOfRound, heavyPlayer, offeredBonus, playerId, type Shape } from "../data/GeneratorSql.ts"

/** Something that is read over and over. */
export interface ReadCase {
  readonly name: string
  /** Maximum time of the answer, ms; undefined without a target. */
  readonly target_ms: number | undefined
  /** Read in turn. */
  readonly uris: ReadonlyArray<string>
}

const ledgerTarget_ms = 10
const searchTarget_ms = 50
const reportTarget_ms = 200
const pageTarget_ms = 100
const statementTarget_ms = 1000

const dayMs = 86_400_000
const base = "/api/v1/operator"

const query = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")

/** Texts to search for. How many of a hundred players have one is the generator's doing; see Names.ts. */
const searches: ReadonlyArray<readonly [kind: string, texts: ReadonlyArray<string>]> = [
  ["2 characters, common", ["an", "ma", "so", "er"]],
  ["2 characters, rare", ["qu", "hy", "zk"]],
  ["2 characters, absent", ["qq", "x%"]],
  ["3 characters, common", ["son", "mar", "com"]],
  ["3 characters, rare", ["fea", "uac", "vdb"]],
  ["3 characters, absent", ["zqx", "q_j"]],
  ["5+ characters, common", ["gmail", "@gmail.com", "smith"]],
  ["5+ characters, one in a hundred", ["petrov", "walker", "zammit"]],
  ["5+ characters, rare", ["featherstone", "quackenbush"]],
  ["5+ characters, absent", ["nobodyhere", "smithsonian"]]
]

/** The last days of the player with the long ledger, which begins after a third of the time, that have ten thousand entries, or all. */
const statementPeriod = (shape: Shape) => {
  const wanted = Math.ceil(days * 2 / 3 * Math.min(1, 10_000 / heavyPlayer(shape).entries))
  const day = (daysBeforeEnd: number) => new Date(shape.endsAt - daysBeforeEnd * dayMs).toISOString().slice(0, 10)
  return { from: day(wanted), to: day(1) }
}

/** Cases with something to read: a casino of few entries may have no usual players. */
const readable = (cases: ReadonlyArray<ReadCase>): ReadonlyArray<ReadCase> =>
  cases.filter(({ uris }) => uris.length > 0)

/** Reads by operators and staff of the generated casino. `usual`: ids of the big operator's players with few entries. */
export const readCases = (shape: Shape, usual: ReadonlyArray<number>): ReadonlyArray<ReadCase> => {
  const heavy = heavyPlayer(shape)
  const ledger = (player: number, fields: Readonly<Record<string, string | number>> = {}) =>
    `${base}/players/${player}/transactions?${query(fields)}`
  const heavyId = playerId(shape, heavy.number)
  const [someone = heavyId] = usual
  const at = (daysBeforeEnd: number) => new Date(shape.endsAt - daysBeforeEnd * dayMs).toISOString()
  const middle = Math.floor(heavy.entries / 2)
  const list = (path: string, fields: Readonly<Record<string, string | number>> = {}) =>
    `${base}/${path}?${query(fields)}`
  const cases = (
    target_ms: number | undefined,
    ...named: ReadonlyArray<readonly [name: string, ...uris: ReadonlyArray<string>]>
  ): ReadonlyArray<ReadCase> => named.map(([name, ...uris]) => ({ name, target_ms, uris }))
  const long = `ledger of ${heavy.entries} entries`
  const halfway = middle.toString(36)
  return readable([
    ...cases(
      ledgerTarget_ms,
      [`${long}, page 1`, ledger(heavyId)],
      [`${long}, page 1, 100 per page`, ledger(heavyId, { per_page: 100 })],
      [`${long}, type=casino_bet`, ledger(heavyId, { type: "casino_bet" })],
      [`${long}, type=withdrawal`, ledger(heavyId, { type: "withdrawal" })],
      [`${long}, type=tournament_prize (none)`, ledger(heavyId, { type: "tournament_prize" })],
      [`${long}, wallet=bonus`, ledger(heavyId, { wallet: "bonus" })],
      [`${long}, a month half a year ago`, ledger(heavyId, { created_from: at(180), created_to: at(150) })],
      [
        `${long}, real wins of half a year`,
        ledger(heavyId, { created_from: at(200), created_to: at(20), type: "casino_win", wallet: "real" })
      ],
      [`${long}, in its middle by page`, ledger(heavyId, { page: Math.max(1, Math.floor(middle / 25)) })],
      [`${long}, in its middle by cursor`, ledger(heavyId, { cursor: halfway })],
      [`${long}, type=deposit, in its middle by cursor`, ledger(heavyId, { type: "deposit", cursor: halfway })],
      ["ledger of a usual player, page 1", ledger(someone)],
      ["ledger of a usual player, type=casino_win", ledger(someone, { type: "casino_win" })],
      ["ledgers of usual players, each another", ...usual.map((player) => ledger(player))]
    ),
    ...cases(
      statementTarget_ms,
      ...["json", "csv", "html"].map((format) =>
        [
          `statement of 10,000 entries, ${format}`,
          list(`players/${heavyId}/statement`, { ...statementPeriod(shape), format })
        ] as const
      )
    ),
    ...cases(
      searchTarget_ms,
      ...searches.map(([kind, texts]) =>
        [`search, ${kind}`, ...texts.map((search) => list("players", { search }))] as const
      ),
      ["search, a common text by cursor", list("players", { search: "son", cursor: "" })]
    ),
    ...cases(
      undefined,
      ["players, page 1", list("players")],
      ["players, status=locked", list("players", { status: "locked" })],
      ["players, kyc_status=expired", list("players", { kyc_status: "expired" })],
      [
        "players, kyc_status=verified, of a quarter",
        list("players", { kyc_status: "verified", created_from: at(100), created_to: at(0) })
      ],
      ["players, an exact e-mail that nobody has", list("players", { email: "nobody@nowhere.example" })],
      ["players, by cursor", list("players", { cursor: playerId(shape, Math.ceil(shape.players / 2)).toString(36) })],
      ["payments, page 1", list("payments")],
      ["payments, status=new", list("payments", { status: "new" })],
      [
        "payments, type=withdrawal of a month",
        list("payments", { type: "withdrawal", created_from: at(60), created_to: at(30) })
      ],
      ["payments of the player with the long ledger", list("payments", { player_id: heavyId })]
    )
  ])
}

/** Reports over ranges up to the longest that may be asked for. */
export const reportCases = (shape: Shape): ReadonlyArray<ReadCase> => {
  const day = (daysBeforeEnd: number) => new Date(shape.endsAt - daysBeforeEnd * dayMs).toISOString().slice(0, 10)
  return [1, 31, 366].map((days) => ({
    name: `GGR report over ${days === 1 ? "a day" : `${days} days`}`,
    target_ms: reportTarget_ms,
    uris: [`${base}/reports/ggr?${query({ from: day(days - 1), to: day(0) })}`]
  }))
}

interface StaffRead {
  readonly path: string
  readonly fields: ReadonlySet<string>
}

/** Reading actions of the staff API, with the fields of their queries. */
const staffReads = new Map<string, StaffRead>()
HttpApi.reflect(BackofficeApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    if (endpoint.method !== "GET") return
    const ast = endpoint.query?.ast
    const fields = ast !== undefined && SchemaAST.isObjects(ast)
      ? ast.propertySignatures.map(({ name }) => String(name))
      : []
    staffReads.set(`${group.identifier}.${endpoint.identifier}`, { path: endpoint.path, fields: new Set(fields) })
  }
})

/** Rows that the pages read at once. */
const rowsAtOnce = 100

/** How the pages begin a list. */
const beginningOf = ({ fields }: StaffRead): Readonly<Record<string, string | number>> =>
  fields.has("cursor") ? fields.has("limit") ? { limit: rowsAtOnce } : { cursor: "", per_page: rowsAtOnce } : {}

/** An action, and its request of these fields: of the path, of the query. */
const reading = (action: string, given: Readonly<Record<string, string | number>> = {}): readonly [string, string] => {
  const read = staffReads.get(action)
  if (read === undefined) throw new Error(`the staff API has no ${action}`)
  const rest = { ...beginningOf(read), ...given }
  const path = read.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest[name] ?? ""
    delete rest[name]
    return encodeURIComponent(value)
  })
  const unknown = Object.keys(rest).find((name) => !read.fields.has(name))
  if (unknown !== undefined) throw new Error(`${action} has no ${unknown}`)
  return [action, `${path}?${query(rest)}`]
}

/** Why the figures leave out a reading action of the staff API. */
const withoutFigures: ReadonlyMap<string, string> = new Map([
  ["figures.live", "an open connection"],
  ["ledger.export", "as long as the ledger"],
  ["ledger.verify", "the whole ledger: measured by reads --verify"],
  ["provider.reconcile", "asks the vendor"],
  ["secret.list", "opens all that is encrypted, when it is asked for"],
  ["sign_in.show", "before signing in"],
  ["session.show", "of browsers alone"],
  ["session.list", "of browsers alone"],
  // of rows that a generated casino has none of
  ["alert.show", "no alerts"],
  ["alert.evidence", "no alerts"],
  ["licensee.list", "a handful of rows"],
  ["profile.show", "a handful of rows"],
  ["obligation.list", "of players under a jurisdiction alone"],
  ["data.retention", "a walk over the players, for a page that is opened once a day"],
  ["data.requests", "a handful of rows"],
  ["case.list", "a handful of rows"],
  ["case.show", "a handful of rows"],
  ["import_run.list", "a handful of rows"],
  ["import_run.show", "a handful of rows"],
  ["import_run.chunks", "no imports"],
  ["import_run.export", "as long as the players: measured by docs/moving.md"],
  ["register.show", "a handful of rows"],
  ["register.list", "a handful of rows"],
  ["register.checks", "no checks"],
  ["bonus.granted", "ids of the generator's own"],
  ["payment.show", "ids of the generator's own"],
  ["delivery.show", "no webhooks"],
  ["delivery.undelivered", "no webhooks"]
])

/** Requests of the back office's pages, 100 rows at a time, for all operators and for one. */
export const staffCases = (
  shape: Shape,
  usual: ReadonlyArray<number>
): ReadonlyArray<ReadCase & { readonly action: string }> => {
  const heavy = playerId(shape, heavyPlayer(shape).number)
  const [someone = heavy] = usual
  const operator = String(shape.operatorIds[0])
  const small = String(shape.operatorIds.at(-1))
  const at = (daysBeforeEnd: number) => new Date(shape.endsAt - daysBeforeEnd * dayMs).toISOString()
  const day = (daysBeforeEnd: number) => at(daysBeforeEnd).slice(0, 10)
  const year = { from: day(365), to: day(0) }
  // the bet of the player's first round
  const played = gameOfRound(heavyPlayer(shape).number, 1)
  const message = { provider: played.provider, transaction: `t${heavy}-2` }
  const round = `r${heavy}-1`
  const player = heavy
  const bonus = offeredBonus(shape)
  const named: ReadonlyArray<readonly [name: string, ...requests: ReadonlyArray<readonly [string, string]>]> = [
    ["home, all operators", reading("figures.overview")],
    ["home, one operator", reading("figures.overview", { operator })],
    ["palette: a round", reading("search.find", { q: round })],
    ["palette: a message", reading("search.find", { q: `t${heavy}-2` })],
    ["palette: a player's id", reading("search.find", { q: someone })],
    [
      "palette: the beginning of a name",
      reading("search.find", { q: "mar" }),
      reading("search.find", { q: "featherst" })
    ],
    ["palette: what nobody has", reading("search.find", { q: "zqx-nothing" })],
    ["players", reading("player.list")],
    [
      "players, from the middle",
      reading("player.list", { cursor: playerId(shape, Math.ceil(shape.players / 2)).toString(36) })
    ],
    [
      "players, as one types",
      ...["m", "ma", "mar", "maria", "qu", "zzq"].map((starting_with) => reading("player.list", { starting_with }))
    ],
    [
      "players, by words",
      ...["maria", "featherstone", "mar smith"].map((search) => reading("player.list", { search }))
    ],
    ["players, locked, of a small operator", reading("player.list", { operator: small, status: "locked" })],
    ["player: overview", reading("player.show", { player })],
    ["player: standing", reading("player.standing", { player })],
    ["player: wallet", reading("player.wallet", { player })],
    ["player: limits", reading("player.limits", { player })],
    ["player: compliance", reading("player.compliance", { player })],
    ["player: consents", reading("player.consents", { player })],
    ["player: notes", reading("player.notes", { player })],
    ["player: timeline", reading("player.timeline", { player })],
    ["player: timelines, each another", ...usual.map((one) => reading("player.timeline", { player: one }))],
    ["player: transactions", reading("player.transactions", { player, page: 1, per_page: rowsAtOnce })],
    [
      "player: transactions, in the middle",
      reading("player.transactions", { player, page: 500, per_page: rowsAtOnce })
    ],
    ["player: statement of some days", reading("player.statement", { player, from: day(2), to: day(1) })],
    ["player: rounds", reading("round.search", { player })],
    ["player: bonuses", reading("player.bonuses", { player })],
    ["player: sessions", reading("player.sessions", { player })],
    ["player: payments", reading("payment.list", { player })],
    ["player: audit log", reading("audit.list", { player })],
    ["player: free rounds", reading("free_rounds.list", { player })],
    ["ledger", reading("ledger.entries")],
    ["ledger, of a small operator", reading("ledger.entries", { operator: small })],
    [
      "ledger, deposits of a month half a year ago",
      reading("ledger.entries", { type: "deposit", from: at(180), to: at(150) })
    ],
    ["ledger, a type that nobody has", reading("ledger.entries", { type: "tournament_prize" })],
    ["ledger, of a round", reading("ledger.entries", { round })],
    ["ledger, of a message", reading("ledger.entries", message)],
    ["ledger, large amounts of a player", reading("ledger.entries", { player, min_amount: 1_000_000 })],
    ["rounds", reading("round.search")],
    ["rounds, open", reading("round.search", { state: "open" })],
    ["rounds, left open", reading("round.list")],
    [
      "rounds, of a provider and a small operator",
      reading("round.search", { provider: "generated-1", operator: small })
    ],
    ["round", reading("round.show", { ...played, round })],
    ["rounds, of a message", reading("round.search", message)],
    ["message", reading("round.message", { ...message, player })],
    ["calls that were refused or replayed", reading("round.calls")],
    ["payments", reading("payment.list")],
    ["payments, the queue", reading("payment.list", { status: "waiting", sort: "oldest" })],
    [
      "payments, the queue of a small operator",
      reading("payment.list", { status: "waiting", sort: "oldest", operator: small })
    ],
    [
      "payments, of a small operator by amount",
      reading("payment.list", { operator: small, sort: "amount", currency: "EUR" })
    ],
    ["payment methods", reading("payment_method.list")],
    ["corrections", reading("correction.list")],
    ["alerts, the queue", reading("alert.list", { status: "waiting", sort: "severity" })],
    ["alert rules", reading("alert.rules", { operator })],
    ["audit log", reading("audit.list")],
    ["games", reading("game.list")],
    ["providers", reading("provider.list"), reading("provider.show", { provider: "generated-1" })],
    ["provider: calls", reading("provider.calls", { provider: "generated-1" })],
    ["bonuses", reading("bonus.list")],
    ["bonus: its grants", reading("bonus.show", { bonus }), reading("bonus.grants", { bonus })],
    ["promo codes", reading("promo.list")],
    ["webhooks", reading("webhook.list")],
    ["deliveries", reading("delivery.list")],
    ["report: GGR of a year", reading("report.ggr", { operator, ...year })],
    ["report: GGR of a year, by day", reading("report.breakdown", { operator, by: "day", ...year })],
    ["report: GGR of a year, by provider", reading("report.breakdown", { operator, by: "provider", ...year })],
    ["report: series of a year", reading("report.series", { operator, metric: "ggr", step: "day", ...year })],
    ["report: operators, a year", reading("report.operators", year)],
    ["report: days of the operator's zone", reading("report.local_days", { operator, from: day(30), to: day(0) })],
    ["report: all sections of a year", reading("report.sections", { operator, ...year })],
    ["report: player funds", reading("report.funds")],
    ["report: player funds of a past day", reading("report.funds", { operator, at: day(30) })],
    ["report: dormant accounts", reading("report.dormant")],
    ["report: bonus cost of a year", reading("report.bonuses", { operator, ...year })],
    ["exchange rates", reading("rate.list")],
    ["operators", reading("operator.list")],
    ["operator: set-up", reading("operator.setup", { operator })],
    ["keys", reading("key.list")],
    ["staff", reading("staff.list"), reading("staff.colleagues")],
    ["profiles", reading("profile.list")],
    ["jobs", reading("job.list"), reading("node.list")]
  ]
  return named.filter(([, ...requests]) => requests.length > 0).map(([name, ...requests]) => ({
    name,
    action: requests.map(([action]) => action).join(" "),
    target_ms: pageTarget_ms,
    uris: requests.map(([, uri]) => uri)
  }))
}

/** Reading actions of the staff API that neither cases nor {@link withoutFigures} name. */
export const unmeasured = (cases: ReadonlyArray<{ readonly action: string }>): ReadonlyArray<string> => {
  const measured = new Set(cases.flatMap(({ action }) => action.split(" ")))
  return [...staffReads.keys()].filter((action) => !measured.has(action) && !withoutFigures.has(action))
}
