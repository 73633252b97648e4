/** SQL statements for key figures over time and by group. They read `daily_sums`, converted as in the GGR report (`ReportQuery.ts`). */
import { amounts, rounded } from "./ReportQuery.ts"

const figure = (name: string): string => `${rounded(`sum(c.${name} * c.factor)`)}::float8 AS ${name}`

/** Sums of an operator ($1) and a range of days ($2, $3) with their factor; null where there was no rate. */
const converted = (provider: string) =>
  `SELECT s.*, CASE WHEN s.currency = o.currency THEN 1 WHEN r.base = o.currency THEN r.factor END AS factor
  FROM daily_sums s JOIN operators o ON o.id = s.operator_id LEFT JOIN exchange_rates r ON r.id = s.exchange_rate_id
  WHERE s.operator_id = $1::bigint AND s.day BETWEEN $2::date AND $3::date AND (NOT s.is_test OR $4::boolean) ${provider}`

const figures = `${amounts.map(figure).join(", ")}, coalesce(sum(c.rounds), 0)::float8 AS rounds,
  coalesce(array_agg(DISTINCT c.currency) FILTER (WHERE c.factor IS NULL AND c.entries > 0), '{}') AS unconverted`

const byDate = (form: string): string =>
  `SELECT to_char(c.day, '${form}') AS key, to_char(c.day, '${form}') AS name, ${figures}
  FROM (${converted("AND ($5::bigint IS NULL OR s.provider_id = $5::bigint)")}) c GROUP BY 1 ORDER BY 1`

/** Sums of rows `s` of operators, in the currency of each. */
export const operatorSums = `${
  amounts.map((name) => `${rounded(`sum(s.${name} * s.factor)`)}::float8 AS ${name}`).join(", ")
}, sum(s.rounds)::float8 AS rounds,
  array_agg(DISTINCT s.currency) FILTER (WHERE s.factor IS NULL AND s.entries > 0) AS unconverted`

/** The same of an operator that may have none. */
export const operatorFigures = [...amounts, "rounds"].map((name) => `coalesce(s.${name}, 0) AS ${name}`).join(", ")

/** By day; parameter $5: a provider, or null for all. */
export const sumsByDay = byDate("YYYY-MM-DD")

/** As by day. */
export const sumsByMonth = byDate("YYYY-MM")

/** By provider, the one with the most bets first. */
export const sumsByProvider = `SELECT c.provider_id::text AS key, coalesce(p.name, '') AS name, ${figures}
  FROM (${converted("AND s.provider_id <> 0")}) c LEFT JOIN providers p ON p.id = c.provider_id
  GROUP BY c.provider_id, p.name ORDER BY bets DESC, c.provider_id`

/** Whole range. */
export const sumsOfRange = `SELECT 'total' AS key, 'Total' AS name, ${figures} FROM (${converted("")}) c`

/** By type of game. */
export const sumsByType =
  `SELECT CASE WHEN c.is_live THEN 'live' ELSE 'rng' END AS key, CASE WHEN c.is_live THEN 'Live' ELSE 'RNG' END AS name, ${figures}
  FROM (${converted("AND s.provider_id <> 0")}) c GROUP BY c.is_live ORDER BY c.is_live`

/** Distinct active players per day. */
export const playersByDay =
  `SELECT to_char(v.day, 'YYYY-MM-DD') AS key, sum(v.players)::float8 AS value FROM daily_players v
  WHERE v.operator_id = $1::bigint AND v.day BETWEEN $2::date AND $3::date AND v.kind = 'casino' AND (NOT v.is_test OR $4::boolean)
  GROUP BY v.day`

/** Registrations of each day, by the index on them. */
export const registrationsByDay =
  `SELECT to_char((p.created_at AT TIME ZONE 'UTC')::date, 'YYYY-MM-DD') AS key, count(*)::float8 AS value
  FROM players p
  WHERE p.operator_id = $1::bigint AND p.created_at >= $2::date::timestamp AT TIME ZONE 'UTC'
    AND p.created_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC' AND (NOT p.is_test OR $4::boolean)
  GROUP BY 1`
