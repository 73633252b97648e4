/**
 * SQL of the GGR report: a single statement, so that all of its figures are of the same moment.
 *
 * Parameters: the operator, the first and the last day, and whether test players count.
 */

export const amounts = ["bets", "bonus_bets", "wins", "bonus_conversions", "deposits", "chargebacks", "withdrawals"]

const safe = "9007199254740991"

/** A figure is rounded once, half away from zero. One that JSON's integers do not reach is the largest that they do. */
export const rounded = (sum: string): string => `least(greatest(round(coalesce(${sum}, 0)), -${safe}), ${safe})`

const each = (form: (name: string) => string): string => amounts.map(form).join(", ")

/** Sums by the report's dimensions, not converted yet; days, shards and test players are summed up. */
const groups = `SELECT s.provider_id, s.is_live, s.currency, s.exchange_rate_id, sum(s.entries) AS entries,
    sum(s.rounds) AS rounds, ${each((name) => `sum(s.${name}) AS ${name}`)}
  FROM daily_sums s
  WHERE s.operator_id = $1::bigint AND s.day BETWEEN $2::date AND $3::date AND (NOT s.is_test OR $4::boolean)
  GROUP BY s.provider_id, s.is_live, s.currency, s.exchange_rate_id`

/**
 * Ignores rates to a former currency of the operator; sums in the operator's current currency need no rate, whatever it was when they were
 * written.
 */
const converted = `SELECT g.*, CASE WHEN g.currency = o.currency THEN 1
      WHEN r.base = o.currency THEN r.factor END AS factor
  FROM groups g CROSS JOIN operator o LEFT JOIN exchange_rates r ON r.id = g.exchange_rate_id`

const figures = `'rounds', sum(rounds), ${each((name) => `'${name}', ${rounded(`sum(${name} * factor)`)}`)}`

/** counts a player once: on the active day whose previous active day is before the range */
const visits = `SELECT v.kind, sum(v.players) AS players FROM daily_players v
  WHERE v.operator_id = $1::bigint AND v.day BETWEEN $2::date AND $3::date AND v.previous_day < $2::date
    AND (NOT v.is_test OR $4::boolean)
  GROUP BY v.kind`

/** who came with an import registered elsewhere */
const registered = `SELECT count(*) FROM players p
  WHERE p.operator_id = $1::bigint AND p.registration_source <> 'import' AND p.created_at >= $2::date::timestamp AT TIME ZONE 'UTC'
    AND p.created_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC' AND (NOT p.is_test OR $4::boolean)`

export const reportText = `WITH operator AS (SELECT currency FROM operators WHERE id = $1::bigint),
groups AS MATERIALIZED (${groups}),
converted AS MATERIALIZED (${converted})
SELECT o.currency,
  (SELECT jsonb_agg(t.figures) FROM (SELECT jsonb_build_object(${figures}) AS figures FROM converted
    HAVING count(*) > 0) t) AS totals,
  (SELECT jsonb_agg(t.figures) FROM (SELECT jsonb_build_object('isLive', is_live, ${figures}) AS figures FROM converted
    WHERE provider_id <> 0 GROUP BY is_live) t) AS types,
  (SELECT jsonb_agg(t.figures ORDER BY t.name, t.provider_id)
    FROM (SELECT c.provider_id, coalesce(p.name, '') AS name, jsonb_build_object('providerId', c.provider_id,
        'provider', coalesce(p.name, ''), ${figures}) AS figures
      FROM converted c LEFT JOIN providers p ON p.id = c.provider_id
      WHERE c.provider_id <> 0 GROUP BY c.provider_id, p.name) t) AS providers,
  (SELECT jsonb_agg(t.figures ORDER BY t.currency) FROM (SELECT currency, jsonb_build_object('currency', currency,
      'entries', sum(entries), ${each((name) => `'${name}', ${rounded(`sum(${name})`)}`)}) AS figures FROM converted
    WHERE factor IS NULL GROUP BY currency HAVING sum(entries) > 0) t) AS unconverted,
  (SELECT jsonb_agg(jsonb_build_object('kind', v.kind, 'players', v.players)) FROM (${visits}) v) AS players,
  (${registered})::float8 AS registered
FROM operator o`
