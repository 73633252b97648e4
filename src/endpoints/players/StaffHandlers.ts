/** Staff API handlers for players. */
import { Clock, Effect, Record, Schema, Struct } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { CurrentStaff } from "../../contract/common/StaffMiddleware.ts"
import { rolesFor } from "../../office/Authorisation.ts"
import { Corrections } from "../../features/corrections/Corrections.ts"
import { Operators } from "../../features/operators/Operators.ts"
import { PlayerNotes } from "../../features/players/PlayerNotes.ts"
import { Bonuses } from "../../features/bonuses/Bonuses.ts"
import type { Role } from "../../domain/staff/Staff.ts"
import { Restrictions } from "../../domain/state/Player.ts"
import { Originals } from "../../features/originals/Originals.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { readLimitChanges } from "../../domain/limit/LimitChanges.ts"
import { wire } from "../../domain/WireNames.ts"
import { ResponsibleGaming } from "../../features/responsibleGaming/ResponsibleGaming.ts"
import { parseIso, periodOf } from "../../platform/Time.ts"
import { PlayerAccounts } from "../../features/players/PlayerAccounts.ts"
import { CurrentSession, secondFactorRefusal } from "../../features/staffSessions/CurrentSession.ts"
import { PlayerCompliance } from "../../features/obligations/PlayerCompliance.ts"
import { PlayerHistory } from "../../features/players/PlayerHistory.ts"
import { filtersOf } from "./Handlers.ts"
import { Players } from "../../features/players/Players.ts"
import { PlayerWalk } from "../../features/players/PlayerWalk.ts"
import { timelineKinds } from "../../contract/players/StaffApi.ts"
import { Ledger } from "../../features/wallet/Ledger.ts"
import { Wallet } from "../../features/wallet/Wallet.ts"
import { ownedBonusFields } from "../bonuses/Handlers.ts"
import { entryFields } from "../../features/wallet/Entries.ts"
import { jsonResponse } from "../../http/Refusals.ts"
import { mapPart } from "../../store/Cursors.ts"
import { cursorPaged, walked } from "../../http/Page.ts"
import { staffReadTerms } from "../../http/StaffReadTerms.ts"
import { ledgerPage, walletFields } from "../wallet/Handlers.ts"
import { statementAnswer } from "../statements/Handlers.ts"
import { Consents } from "../../features/consents/Consents.ts"
import { Statements } from "../../features/statements/Statements.ts"
import { asStaff, enveloped } from "../../http/StaffEnvelope.ts"

const noSuchPlayer = refuse("NOT_FOUND", "There is no such player.")

/** Roles that close alerts also lift their holds; no other role does. */
const closesAlerts = rolesFor("alert.update")

/** Whether a role sees lines of this kind in a timeline. */
const isSeen = (kind: (typeof timelineKinds)[number], role: Role): boolean =>
  kind === "alert"
    ? rolesFor("alert.list").includes(role)
    : kind === "audit"
    ? rolesFor("audit.list").includes(role)
    : true

const liftRefusal = refuse(
  "INSUFFICIENT_SCOPE",
  `An alert holds the player's withdrawals. Lifting that requires one of the roles ${closesAlerts.join(", ")}.`,
  { required_roles: closesAlerts }
)

/** The one cause that a refusal's details name: the limit, or the reason. */
const causeOf = (refusal: Refusal | undefined): string | null => {
  const cause = refusal?.details.limit ?? refusal?.details.reason
  return typeof cause === "string" ? cause : null
}

/** The midnight that ends a day, UTC, epoch milliseconds. */
export const dayAfter = (day: string | null): number | null => day === null ? null : (parseIso(day) ?? 0) + 86_400_000

/** The abilities that staff name, under the names that the rules know. */
const restrictionsOf = Schema.decodeSync(wire(Restrictions.mapFields(Struct.map(Schema.optionalKey))))

export const PlayerHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "player",
  Effect.fnUntraced(function*(handlers) {
    const players = yield* Players
    const corrections = yield* Corrections
    const operators = yield* Operators
    const wallet = yield* Wallet
    const accounts = yield* PlayerAccounts
    const originals = yield* Originals
    const notes = yield* PlayerNotes
    const ledger = yield* Ledger
    const bonuses = yield* Bonuses
    const gaming = yield* ResponsibleGaming
    const compliance = yield* PlayerCompliance
    const history = yield* PlayerHistory
    const walk = yield* PlayerWalk
    const statements = yield* Statements
    const consents = yield* Consents
    const ofConsents = Effect.fnUntraced(
      function*<E>(playerId: number, found: Effect.Effect<Effect.Success<ReturnType<typeof consents.list>>, E>) {
        const { operator_id } = yield* players.staffGet(playerId)
        return { player_id: playerId, operator_id, consents: yield* found }
      }
    )
    return handlers
      .handle("show", ({ params, query }) =>
        enveloped(Effect.gen(function*() {
          const player = yield* players.staffGet(params.player)
          return query.operator === undefined || (yield* operators.resolve(query.operator)) === player.operator_id
            ? player
            : yield* Effect.fail(noSuchPlayer)
        })))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const scope = yield* operators.scope(yield* CurrentStaff, query.operator)
          const filters = filtersOf(query)
          const { cursor, per_page: limit, sort, starting_with: startingWith } = query
          return yield* walked(limit, yield* walk.walk(scope, { ...filters, limit, cursor, sort, startingWith }))
        }))
      .handle("wallet", ({ params }) => enveloped(Effect.map(wallet.staffView(params.player), walletFields)))
      .handle("transactions", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator_id: operatorId } = yield* players.staffGet(params.player)
          const page = yield* ledgerPage(ledger, operatorId, params.player, query)
          const names = yield* history.gameNames(page.data.flatMap(({ game_id: id }) => id ?? []))
          return {
            ...page,
            data: page.data.map((entry) => ({ ...entry, game: names.get(entry.game_id ?? 0) ?? null }))
          }
        }))
      .handle("statement", ({ params, query }) =>
        Effect.flatMap(
          players.staffGet(params.player),
          ({ operator_id: operatorId }) => statementAnswer(statements, operatorId, params.player, query)
        ))
      .handle("consents", ({ params: { player } }) => enveloped(ofConsents(player, consents.list(null, player))))
      .handle(
        "consent",
        ({ params: { player }, payload: { reason, ...change } }) =>
          asStaff(({ label: actor }) =>
            ofConsents(player, consents.change(null, player, [change], { by: "staff", actor, reason }))
          )
      )
      .handle("bonuses", ({ params, query }) =>
        Effect.gen(function*() {
          const { operator_id: operatorId } = yield* players.staffGet(params.player)
          const { cursor, per_page: limit, state } = query
          const part = yield* bonuses.walk(operatorId, params.player, { state, limit, cursor, ...periodOf(query) })
          return yield* walked(limit, mapPart(part, ownedBonusFields))
        }))
      .handle(
        "limits",
        ({ params }) =>
          enveloped(
            Effect.map(
              gaming.staffGet(params.player),
              ({ limits, rules: { breaks, code, limits: { raise }, name } }) => ({
                ...limits,
                rules: { code, name, breaks, raise }
              })
            )
          )
      )
      .handle("standing", ({ params }) =>
        enveloped(Effect.map(
          accounts.standing(params.player),
          Record.map(({ refusal, until }) => ({
            is_allowed: refusal === undefined,
            code: refusal?.code ?? null,
            cause: causeOf(refusal),
            message: refusal?.message ?? null,
            until
          }))
        )))
      .handle("compliance", ({ params }) => enveloped(compliance.show(params.player)))
      .handle(
        "jurisdiction",
        ({ params, payload: { reason, to } }) =>
          asStaff(({ label }) => compliance.move(params.player, to, { reason, actor: label }))
      )
      .handle("exclude", ({ params, payload }) =>
        asStaff(({ label }) => {
          const { channel, period = null, reason, scope, type = null, until } = payload
          return gaming.staffExclude(params.player, {
            period,
            until: until === undefined ? null : parseIso(until) ?? null,
            type,
            scope,
            source: "staff",
            actor: label,
            request: { channel, reason }
          })
        }))
      .handle("limit", ({ params, payload: { reason, set } }) =>
        asStaff(({ label }) =>
          Effect.flatMap(
            Effect.suspend(() => {
              const changes = readLimitChanges(set, "set")
              return "_tag" in changes ? Effect.fail(changes) : Effect.succeed(changes)
            }),
            (changes) => gaming.staffSetLimits(params.player, { changes, actor: label, reason })
          )
        ))
      .handle("sessions", ({ params, query }) =>
        Effect.gen(function*() {
          yield* players.staffGet(params.player)
          return cursorPaged(
            query.limit,
            yield* history.sessions(params.player, { limit: query.limit, cursor: query.cursor, ...periodOf(query) })
          )
        }))
      .handle("timeline", ({ params, query }) =>
        Effect.gen(function*() {
          const { role } = yield* CurrentStaff
          const { cursor, kind, limit } = query
          yield* players.staffGet(params.player)
          const kinds = timelineKinds.filter((name) => (kind === undefined || name === kind) && isSeen(name, role))
          const period = periodOf(query)
          const numbers = query.from === undefined && query.to === undefined
            ? undefined
            : yield* ledger.numbersWithin(params.player, period)
          const shown = { kinds, withoutActions: [...staffReadTerms.keys()], ...period, numbers }
          return cursorPaged(limit, yield* history.timeline(params.player, shown, { limit, cursor }))
        }))
      .handle("status", ({ params, payload }) =>
        asStaff(({ label }) =>
          Effect.andThen(
            accounts.setStatus(null, params.player, {
              status: payload.status,
              reason: payload.reason ?? null,
              actor: label
            }),
            players.staffGet(params.player)
          )
        ))
      .handle("kyc", ({ params, payload }) =>
        asStaff(({ label }) =>
          Effect.andThen(
            accounts.moveKyc(params.player, {
              status: payload.status,
              documentExpiresAt: dayAfter(payload.document_expires_on ?? null),
              reason: payload.reason ?? null,
              actor: label
            }),
            players.staffGet(params.player)
          )
        ))
      .handle(
        "restrict",
        ({ params, payload: { reason = null, ...abilities } }) =>
          asStaff(({ label, role }) =>
            Effect.gen(function*() {
              yield* accounts.restrict(params.player, {
                restrictions: restrictionsOf(abilities),
                reason,
                actor: label,
                liftRefusal: closesAlerts.includes(role)
                  ? secondFactorRefusal(yield* CurrentSession, yield* Clock.currentTimeMillis)
                  : liftRefusal
              })
              return yield* players.staffGet(params.player)
            })
          )
      )
      .handle("sign_out", ({ params, payload }) =>
        asStaff(({ label }) =>
          Effect.andThen(
            accounts.signOut(null, params.player, { actor: label, reason: payload.reason ?? null }),
            players.staffGet(params.player)
          )
        ))
      .handle("correct", ({ params, payload }) =>
        Effect.gen(function*() {
          const { amount, reason, wallet: kind = "real" } = payload
          const done = yield* corrections.correct(yield* CurrentStaff, params.player, { wallet: kind, amount, reason })
          return done._tag === "Posted"
            ? jsonResponse(201, JSON.stringify({ data: entryFields(done.entry) }))
            : jsonResponse(202, JSON.stringify({ data: done.correction }))
        }))
      .handle("retire_seeds", ({ params, payload }) =>
        asStaff(({ label }) =>
          Effect.map(
            originals.retireLost(params.player, { reason: payload.reason, actor: label }),
            ({ retired, seeds }) => ({
              player_id: params.player,
              retired,
              server_seed_hash: seeds?.current.serverSeedHash ?? null,
              next_server_seed_hash: seeds?.next.serverSeedHash ?? null
            })
          )
        ))
      .handle("note", ({ params, payload }) => asStaff((actor) => notes.add(actor, params.player, payload.text)))
      .handle("notes", ({ params, query }) =>
        Effect.gen(function*() {
          const { cursor, per_page: limit } = query
          return yield* walked(limit, yield* notes.list(params.player, { cursor, limit, ...periodOf(query) }))
        }))
  })
)
