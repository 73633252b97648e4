/** Reads, checks and writes the marketing consents stored in player rows. */
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { AuditLine } from "../../chain/Lines.ts"
import { noRules } from "../../domain/jurisdiction/Rules.ts"
import { changes, everything, flagsOf, registeredConsents, withStatement } from "../../domain/player/Consents.ts"
import { ConsentStatement } from "../../domain/state/ConsentStatement.ts"
import { Instant } from "../../domain/Instant.ts"
import { refuseFields } from "../../domain/Refusal.ts"
import type { answeredBy } from "../../domain/state/Obligation.ts"
import { toDate } from "../../platform/Time.ts"
import { ProfileBook } from "../../store/ProfileBook.ts"
import { columnsOf } from "../../store/Rows.ts"

/** Columns of a player that its consents are made of. */
export const ConsentRow = Schema.Struct({
  id: Schema.Number,
  operator_id: Schema.Number,
  jurisdiction: Schema.String,
  consents: Schema.NullOr(Schema.Array(ConsentStatement)),
  marketing_email: Schema.Boolean,
  marketing_sms: Schema.Boolean,
  marketing_newsletter: Schema.Boolean,
  created_at: Instant
})

export type ConsentRow = typeof ConsentRow.Type

export const consentColumns = columnsOf(ConsentRow)

/** What a player has said, as the row has it. */
export const statementsOf = (row: ConsentRow): ReadonlyArray<ConsentStatement> =>
  row.consents ?? registeredConsents({
    email: row.marketing_email,
    sms: row.marketing_sms,
    newsletter: row.marketing_newsletter
  }, row.created_at)

export interface ConsentChange {
  readonly channel: string
  /** Absent: all products. */
  readonly product?: string | undefined
  readonly granted: boolean
  readonly text_version?: string | undefined
}

/** Who changes consents: `actor` as the audit log names who acts. */
export interface ConsentAuthor {
  readonly by: (typeof answeredBy)[number]
  readonly actor: string
  readonly reason: string | null
}

/** Ids that the writing of some changes takes. */
export const idsOfConsents = (count: number): number => 2 * count

/** Channels and products of a jurisdiction, with the version that says so. */
export const makeConsentRules = Effect.map(ProfileBook, (book) => (jurisdiction: string, now: number) => {
  const counting = book.current(jurisdiction, now)
  return {
    ...counting?.profile.consents ?? noRules.consents,
    profile: `${jurisdiction} ${counting?.version ?? noRules.version}`
  }
})

/** Why changes are none of a jurisdiction, by field of a request for many or for one; undefined when they are. */
export const refuseChanges = (
  given: ReadonlyArray<ConsentChange>,
  isOne: boolean,
  { channels, products }: { readonly channels: ReadonlyArray<string>; readonly products: ReadonlyArray<string> }
) => {
  const problems = given.flatMap(({ channel, product }, index) => {
    const path = isOne ? "" : `consents.${index}.`
    return [
      ...(channels.includes(channel) ? [] : [[`${path}channel`, [`must be one of: ${channels.join(", ")}`]]]),
      ...(product === undefined || products.includes(product)
        ? []
        : [[`${path}product`, [`must be one of: ${products.join(", ")}`]]])
    ]
  })
  return problems.length === 0 ? undefined : refuseFields(Object.fromEntries(problems))
}

/**
 * Writes changes of a player's consents in the open transaction, in which the row is locked: each that changes something with its acknowledgement. Gives the
 * lines of the audit log, which are to be written last, and what counts from now on.
 */
export const makeWriteConsents = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rulesOf = yield* makeConsentRules
  return Effect.fnUntraced(function*(
    row: ConsentRow,
    given: ReadonlyArray<ConsentChange>,
    { actor, by, reason }: ConsentAuthor,
    firstId: number,
    now: number
  ): Effect.fn.Return<
    { readonly statements: ReadonlyArray<ConsentStatement>; readonly lines: ReadonlyArray<AuditLine> },
    SqlError.SqlError
  > {
    const { id: playerId, jurisdiction, operator_id: operatorId } = row
    const rules = rulesOf(jurisdiction, now)
    const before = statementsOf(row)
    let statements = before
    const lines: Array<AuditLine> = []
    for (const { channel, granted, product = everything, text_version: textVersion = null } of given) {
      const said = { channel, product, granted, at: now, source: by, text_version: textVersion }
      if (!changes(statements, said, rules)) continue
      statements = withStatement(statements, said)
      const id = firstId + idsOfConsents(lines.length)
      const answer = granted ? "accept" : "decline"
      const field = `${channel}.${product}`
      yield* sql`INSERT INTO acknowledgements ${
        sql.insert({
          id,
          operator_id: operatorId,
          player_id: playerId,
          kind: "consent",
          answer,
          field,
          obligation_id: null,
          text_version: textVersion,
          channel: null,
          by,
          at: toDate(now)
        })
      }`
      lines.push({
        id: id + 1,
        at: now,
        actor,
        action: "player.consent",
        operatorId,
        playerId,
        subject: `player:${playerId}`,
        before: null,
        after: {
          acknowledgement_id: id,
          kind: "consent",
          answer,
          field,
          text_version: textVersion,
          channel: null,
          profile: rules.profile
        },
        reason
      })
    }
    if (lines.length > 0) {
      const { email, newsletter, sms } = flagsOf(statements, rules)
      yield* sql`UPDATE players SET consents = ${JSON.stringify(statements)}::text::jsonb, marketing_email = ${email},
          marketing_sms = ${sms}, marketing_newsletter = ${newsletter}, updated_at = ${toDate(now)}
        WHERE id = ${playerId} AND operator_id = ${operatorId}`
    }
    return { statements, lines }
  })
})
