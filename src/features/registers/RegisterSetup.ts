/** Register connections in the back office: settings, test queries, and the result of the latest query. */
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { settingsIssues } from "../../contract/providers/SettingsResource.ts"
import {
  type RefreshReport,
  type RegisterDetails,
  type RegisterInput,
  type RegisterUpdate,
  StaffRegister,
  StaffRegisterCheck
} from "../../contract/registers/StaffApi.ts"
import { type ConnectionKind, keptVerdicts, type RegisterKind } from "../../domain/register/Register.ts"
import { type Refusal, refuse, refuseFields, temporarilyUnavailable } from "../../domain/Refusal.ts"
import type { Actor } from "../../office/Actor.ts"
import { AuditLog } from "../../office/AuditLog.ts"
import {
  addressIssues,
  dividedSettings,
  movedIssues,
  secretsAmong,
  type SettingsObject,
  withoutNulls
} from "../../office/OutgoingSettings.ts"
import { makeReferences, orTaken } from "../../office/References.ts"
import { applyUpdate } from "../../platform/ApplyUpdate.ts"
import { Secrets } from "../../platform/Secrets.ts"
import { Settings } from "../../platform/Settings.ts"
import { iso } from "../../platform/Time.ts"
import { registers as wires } from "../../registers/Registers.ts"
import { recordsOf } from "../../store/Records.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { openRegisterSettings, RegisterConnections, registerSettingsPurpose } from "./RegisterConnections.ts"
import { RegisterRefresh } from "./RegisterRefresh.ts"
import { Registers } from "./Registers.ts"

type Unavailable = Refusal<"TRY_AGAIN">

const notFound = refuse("NOT_FOUND", "There is no such register.")

const noSuchPlayer = refuseFields({ player: ["must be the id of a player of the register's operator"] })

const sealedRows = rowsOf(Schema.Struct({ sealed: Schema.NullOr(Schema.Uint8Array) }))

const lastRows = rowsOf(Schema.Struct({
  verdict: Schema.Literals(keptVerdicts),
  answeredAt: Schema.Date,
  fault: Schema.NullOr(Schema.String)
}))

/** A connection to make: of a register, or of the operator's screening. */
type Connecting = Omit<RegisterInput, "kind"> & { readonly kind: ConnectionKind }

const nounOf = (kind: ConnectionKind) => kind === "screening" ? "screening" as const : "register" as const

const kindTaken = orTaken({ register_connections_operator_id_kind_key: "kind" })

export class RegisterSetup extends Context.Service<RegisterSetup, {
  /** Connects an operator to a register or a screening; one of each kind. It is asked from now on. */
  readonly create: (
    actor: Actor,
    input: Connecting
  ) => Effect.Effect<StaffRegister, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Changes a register, or a screening, for every question from now on. */
  readonly update: (
    actor: Actor,
    id: number,
    input: RegisterUpdate,
    of?: "screening"
  ) => Effect.Effect<StaffRegister, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  readonly show: (id: number) => Effect.Effect<RegisterDetails, Refusal<"NOT_FOUND"> | Unavailable>
  /** Registers of one operator or of all that the actor may see. */
  readonly list: (
    actor: Pick<Actor, "operators">,
    operator: string | undefined
  ) => Effect.Effect<ReadonlyArray<RegisterDetails>, Refusal<"NOT_FOUND"> | Unavailable>
  /** Asks a register about a player of its operator. The answer counts like any other. */
  readonly test: (
    actor: Actor,
    id: number,
    playerId: number
  ) => Effect.Effect<StaffRegisterCheck, Refusal<"VALIDATION_FAILED" | "NOT_FOUND"> | Unavailable>
  /** Asks an operator's register about players whose answer is older than a day; a bounded number, `has_more` when there are others. */
  readonly refresh: (
    actor: Actor,
    operator: string,
    kind: RegisterKind
  ) => Effect.Effect<RefreshReport, Refusal<"NOT_FOUND"> | Unavailable>
}>()("pitboss/registers/RegisterSetup") {
  static readonly layer = Layer.effect(
    RegisterSetup,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const auditLog = yield* AuditLog
      const connections = yield* RegisterConnections
      const registers = yield* Registers
      const renewing = yield* RegisterRefresh
      const secrets = yield* Secrets
      const references = yield* makeReferences
      const { registerAllowInsecure } = yield* Settings
      const records = yield* recordsOf("register_connections", StaffRegister)
      const ofStaff = yield* recordsOf("register_checks", StaffRegisterCheck)

      /** The columns of settings that the wire takes, or everything that is wrong with them. */
      const judged = (
        id: number,
        kind: ConnectionKind,
        settings: SettingsObject
      ): Effect.Effect<
        { readonly settings: SettingsObject; readonly settings_sealed: Uint8Array | null },
        Refusal<"VALIDATION_FAILED">
      > => {
        const wire = wires[kind]
        const bound = wire.bind(settings)
        const issues = {
          ...addressIssues(settings, registerAllowInsecure),
          ...(Result.isFailure(bound) ? settingsIssues(bound.failure) : {})
        }
        if (Object.keys(issues).length > 0) return Effect.fail(refuseFields(issues))
        const { secret, shown } = dividedSettings(wire.secrets, settings)
        return Effect.succeed({
          settings: shown,
          settings_sealed: Object.keys(secret).length === 0
            ? null
            : secrets.seal(registerSettingsPurpose(id), JSON.stringify(secret))
        })
      }

      /** All settings; without the secret ones where they cannot be opened any more, so that they can be given anew. */
      const opened = Effect.fnUntraced(function*({ id, settings }: StaffRegister) {
        const row = yield* oneOf(sealedRows(
          sql`SELECT settings_sealed AS sealed FROM register_connections WHERE id = ${id}::float8::bigint`
        ))
        return yield* Effect.orElseSucceed(
          openRegisterSettings(secrets, { id, settings, sealed: row?.sealed ?? null }),
          () => settings
        )
      })

      const create = Effect.fn("RegisterSetup.create")(function*(actor: Actor, input: Connecting) {
        const made = yield* auditLog.change(actor, ({ newId, now, recordChange }) =>
          Effect.gen(function*() {
            const operatorId = yield* references.operatorId(input.operator)
            const { settings, settings_sealed } = yield* judged(newId, input.kind, withoutNulls(input.settings))
            const register: StaffRegister = {
              id: newId,
              operator_id: operatorId,
              kind: input.kind,
              active: true,
              settings,
              created_at: iso(now),
              updated_at: iso(now)
            }
            yield* records.insert(register, { settings_sealed })
            return yield* recordChange(`${nounOf(input.kind)}.create`, null, register)
          }).pipe(kindTaken))
        yield* connections.invalidate(made.operator_id, made.kind)
        return made
      })

      const find = Effect.fnUntraced(function*(id: number) {
        const found = yield* records.find(sql`id = ${id}::float8::bigint`)
        return found ?? (yield* Effect.fail(notFound))
      })

      const update = Effect.fn("RegisterSetup.update")(
        function*(actor: Actor, id: number, input: RegisterUpdate, of?: "screening") {
          const { settings: given, ...fields } = input
          const changed = yield* auditLog.change(actor, ({ now, record }) =>
            Effect.gen(function*() {
              const before = yield* records.find(sql`id = ${id}::float8::bigint FOR NO KEY UPDATE`)
              if (before === undefined || (before.kind === "screening") !== (of === "screening")) {
                return yield* Effect.fail(notFound)
              }
              const known = given === undefined ? {} : yield* opened(before)
              const moved = movedIssues(wires[before.kind].secrets, known, given ?? {})
              if (Object.keys(moved).length > 0) return yield* Effect.fail(refuseFields(moved))
              const replaced = given === undefined
                ? undefined
                : yield* judged(id, before.kind, withoutNulls({ ...known, ...given }))
              const different = applyUpdate<StaffRegister, RegisterUpdate>(before, {
                ...fields,
                ...(replaced === undefined ? {} : { settings: replaced.settings })
              })
              const secretsSet = secretsAmong(wires[before.kind].secrets, given ?? {})
              if (different === before && secretsSet.length === 0) return before
              const after = { ...different, updated_at: iso(now) }
              yield* records.update(
                before,
                after,
                replaced === undefined ? {} : { settings_sealed: replaced.settings_sealed }
              )
              yield* record({
                action: `${nounOf(before.kind)}.update`,
                operatorId: before.operator_id,
                subject: `${nounOf(before.kind)}:${id}`,
                before,
                after: secretsSet.length === 0 ? after : { ...after, secrets_set: secretsSet }
              })
              return after
            }))
          yield* connections.invalidate(changed.operator_id, changed.kind)
          return changed
        }
      )

      const described = Effect.fnUntraced(function*(register: StaffRegister) {
        const { kind, operator_id: operatorId } = register
        const last = yield* oneOf(lastRows(
          sql`SELECT verdict, answered_at AS "answeredAt", fault FROM register_checks
            WHERE operator_id = ${operatorId} AND kind = ${kind} ORDER BY asked_at DESC, id DESC LIMIT 1`
        ))
        return {
          ...register,
          secret_settings: secretsAmong(wires[kind].secrets, yield* opened(register)),
          last_check: last === undefined
            ? null
            : { verdict: last.verdict, answered_at: iso(last.answeredAt.getTime()), fault: last.fault }
        }
      })

      const test = Effect.fn("RegisterSetup.test")(function*(actor: Actor, id: number, playerId: number) {
        const { kind, operator_id: operatorId } = yield* orTryAgain(find(id))
        if (kind === "screening") return yield* Effect.fail(notFound)
        const since = yield* Clock.currentTimeMillis
        const [owned] = yield* orTryAgain(sql`SELECT 1 FROM players
          WHERE id = ${playerId}::float8::bigint AND operator_id = ${operatorId}`)
        if (owned === undefined) return yield* Effect.fail(noSuchPlayer)
        yield* Effect.mapError(registers.askAnywhere(playerId, kind), () => temporarilyUnavailable)
        const [check] = yield* orTryAgain(ofStaff.all(
          sql`player_id = ${playerId}::float8::bigint AND kind = ${kind} AND operator_id = ${operatorId} ORDER BY answered_at DESC LIMIT 1`
        ))
        if (check === undefined || Date.parse(check.answered_at) < since) {
          return yield* Effect.fail(temporarilyUnavailable)
        }
        const { request_id, verdict } = check
        yield* auditLog.change(actor, ({ record }) =>
          record({
            action: "register.test",
            operatorId,
            playerId,
            subject: `register:${id}`,
            before: null,
            after: { kind, request_id, verdict }
          }))
        return check
      })

      const refresh = Effect.fn("RegisterSetup.refresh")(function*(actor: Actor, operator: string, kind: RegisterKind) {
        const operatorId = yield* orTryAgain(references.operatorId(operator))
        const report = yield* renewing.now(operatorId, kind)
        yield* auditLog.change(actor, ({ record }) =>
          record({
            action: "register.refresh",
            operatorId,
            subject: `operator:${operatorId}`,
            before: null,
            after: { kind, ...report }
          }))
        return report
      })

      return RegisterSetup.of({
        create,
        update,
        refresh,
        show: Effect.fn("RegisterSetup.show")((id) => Effect.flatMap(find(id), described), orTryAgain),
        list: Effect.fn("RegisterSetup.list")(function*(actor, operator) {
          const found = yield* records.all(
            sql`${yield* references.ofScope(actor, operator)} ORDER BY operator_id, kind LIMIT 1000`
          )
          return yield* Effect.forEach(found, described)
        }, orTryAgain),
        test
      })
    })
  )
}
