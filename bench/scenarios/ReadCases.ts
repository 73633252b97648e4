import { heavyPlayer, playerId, providerOfRound, type Shape } from "../data/GeneratorSql.ts"

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

const dayMs = 86_400_000
const base = "/api/v1/operator"
const staffBase = "/backoffice/v1"

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

/** Requests of the back office's pages: 50 rows, for all operators and for one. */
export const staffCases = (shape: Shape, usual: ReadonlyArray<number>): ReadonlyArray<ReadCase> => {
  const heavy = playerId(shape, heavyPlayer(shape).number)
  const [someone = heavy] = usual
  const operator = String(shape.operatorIds[0])
  const small = String(shape.operatorIds.at(-1))
  const at = (daysBeforeEnd: number) => new Date(shape.endsAt - daysBeforeEnd * dayMs).toISOString()
  const day = (daysBeforeEnd: number) => at(daysBeforeEnd).slice(0, 10)
  const year = { from: day(365), to: day(0) }
  const of = (path: string, fields: Readonly<Record<string, string | number>> = {}) =>
    `${staffBase}/${path}?${query(fields)}`
  const limited = (path: string, fields: Readonly<Record<string, string | number>> = {}) =>
    of(path, { ...fields, limit: 50 })
  const walked = (path: string, fields: Readonly<Record<string, string | number>> = {}) =>
    of(path, { ...fields, cursor: "", per_page: 50 })
  // the bet of the player's first round
  const message = { provider: providerOfRound(heavyPlayer(shape).number, 1), transaction: `t${heavy}-2` }
  const round = `r${heavy}-1`
  const named: ReadonlyArray<readonly [name: string, ...uris: ReadonlyArray<string>]> = [
    ["home, all operators", of("overview")],
    ["home, one operator", of("overview", { operator })],
    ["palette: a round", of("search", { q: round })],
    ["palette: a message", of("search", { q: `t${heavy}-2` })],
    ["palette: a player's id", of("search", { q: someone })],
    ["palette: the beginning of a name", of("search", { q: "mar" }), of("search", { q: "featherst" })],
    ["palette: what nobody has", of("search", { q: "zqx-nothing" })],
    ["players", walked("players")],
    [
      "players, from the middle",
      of("players", { cursor: playerId(shape, Math.ceil(shape.players / 2)).toString(36), per_page: 50 })
    ],
    [
      "players, as one types",
      ...["m", "ma", "mar", "maria", "qu", "zzq"].map((starting_with) => of("players", { starting_with, per_page: 50 }))
    ],
    ["players, locked, of a small operator", walked("players", { operator: small, status: "locked" })],
    ["player: overview", of(`players/${heavy}`)],
    ["player: wallet", of(`players/${heavy}/wallet`)],
    ["player: limits", of(`players/${heavy}/limits`)],
    ["player: timeline", limited(`players/${heavy}/timeline`)],
    ["player: timelines, each another", ...usual.map((player) => limited(`players/${player}/timeline`))],
    ["player: transactions, a part of 100", of(`players/${heavy}/transactions`, { page: 1, per_page: 100 })],
    ["player: transactions, in the middle", of(`players/${heavy}/transactions`, { page: 500, per_page: 100 })],
    ["player: rounds", limited("rounds", { player: heavy })],
    ["player: bonuses", of(`players/${heavy}/bonuses`, { page: 1, per_page: 50 })],
    ["player: payments", walked("payments", { player: heavy })],
    ["ledger", limited("ledger/entries")],
    ["ledger, of a small operator", limited("ledger/entries", { operator: small })],
    [
      "ledger, deposits of a month half a year ago",
      limited("ledger/entries", { type: "deposit", from: at(180), to: at(150) })
    ],
    ["ledger, a type that nobody has", limited("ledger/entries", { type: "tournament_prize" })],
    ["ledger, of a round", limited("ledger/entries", { round })],
    ["ledger, of a message", limited("ledger/entries", message)],
    ["ledger, large amounts of a player", limited("ledger/entries", { player: heavy, min_amount: 1_000_000 })],
    ["rounds", limited("rounds")],
    ["rounds, open", limited("rounds", { state: "open" })],
    ["rounds, of a provider and a small operator", limited("rounds", { provider: "generated-1", operator: small })],
    ["rounds, of a message", limited("rounds", message)],
    ["payments", walked("payments")],
    ["payments, waiting withdrawals", walked("payments", { type: "withdrawal", status: "new" })],
    ["payments, of a small operator by amount", walked("payments", { operator: small, sort: "amount" })],
    ["alerts", of("alerts", { page: 1, per_page: 50 })],
    ["audit log", of("audit", { page: 1, per_page: 50 })],
    ["report: GGR of a year, by day", of("reports/breakdown", { operator, by: "day", ...year })],
    ["report: GGR of a year, by provider", of("reports/breakdown", { operator, by: "provider", ...year })],
    ["report: series of a year", of("reports/series", { operator, metric: "ggr", step: "day", ...year })],
    ["report: player funds", of("reports/funds")],
    ["report: bonus cost of a year", of("reports/bonuses", { operator, ...year })],
    ["operators", of("operators")],
    ["jobs", of("jobs")]
  ]
  return readable(named.map(([name, ...uris]) => ({ name, target_ms: pageTarget_ms, uris })))
}
