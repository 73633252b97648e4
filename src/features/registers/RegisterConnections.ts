/** Operators' connections to exclusion registers: settings decrypted and bound to the register's protocol, each with an HTTP client of its own. */
import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import { makeKeyDirectory } from "../../auth/KeyDirectory.ts"
import { Notices } from "../../cluster/Notices.ts"
import { type ConnectionKind, connectionKinds } from "../../domain/register/Register.ts"
import { type Refusal, refuse } from "../../domain/Refusal.ts"
import { ServingClient } from "../../platform/Database.ts"
import { makeLogThrottle } from "../../platform/LogThrottle.ts"
import { Secrets } from "../../platform/Secrets.ts"
import type { BoundRegister } from "../../registers/Register.ts"
import { registers } from "../../registers/Registers.ts"
import { simulatedRegister } from "../../registers/Simulated.ts"
import { oneOf, orTryAgain, rowsOf } from "../../store/Rows.ts"
import { type RegisterClient, RegisterHttp } from "./RegisterHttp.ts"

export interface RegisterConnection {
  readonly id: number
  readonly bound: BoundRegister
  readonly send: RegisterClient["send"]
}

const Row = Schema.Struct({
  /** Operator and kind. */
  key: Schema.String,
  id: Schema.Number,
  kind: Schema.Literals(connectionKinds),
  isSandbox: Schema.Boolean,
  settings: Schema.Record(Schema.String, Schema.Unknown),
  sealed: Schema.NullOr(Schema.Uint8Array)
})

const rows = rowsOf(Row)
const versions = rowsOf(Schema.Struct({ version: Schema.String }))

const SecretPart = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const readSecretPart = Schema.decodeUnknownEffect(SecretPart)

/** Purpose of the sealed settings of a connection. */
export const registerSettingsPurpose = (connectionId: number): string => `register-settings:${connectionId}`

/** All settings of a connection, the sealed ones opened. */
export const openRegisterSettings = Effect.fnUntraced(function*(
  secrets: Secrets["Service"],
  { id, sealed, settings }: Pick<typeof Row.Type, "id" | "sealed" | "settings">
) {
  if (sealed === null) return settings
  const secret = yield* Effect.orDie(readSecretPart(yield* secrets.openText(registerSettingsPurpose(id), sealed)))
  return { ...settings, ...secret }
})

const keyOf = (operatorId: number, kind: ConnectionKind): string => `${operatorId} ${kind}`

const unusable = refuse(
  "TRY_AGAIN",
  "The stored settings of the register cannot be read. Staff have to enter them again; then send the same request again."
)

/** Connection of a sandbox, which sends nothing. */
const simulated = (id: number, kind: ConnectionKind): RegisterConnection => ({
  id,
  bound: simulatedRegister(kind),
  send: () => Effect.succeed({ status: 200, header: () => undefined, body: "" })
})

/** A client and what it was made for. */
interface Client {
  readonly madeFor: string
  readonly scope: Scope.Closeable
  readonly send: RegisterClient["send"]
}

export class RegisterConnections extends Context.Service<RegisterConnections, {
  /** Active connection of an operator to a register of a kind; undefined when there is none, or when it cannot be used. */
  readonly find: (operatorId: number, kind: ConnectionKind) => Effect.Effect<RegisterConnection | undefined>
  /** Forgets one: to be called after every committed change of it. */
  readonly invalidate: (operatorId: number, kind: ConnectionKind) => Effect.Effect<void>
}>()("pitboss/registers/RegisterConnections") {
  static readonly layer = Layer.effect(
    RegisterConnections,
    Effect.gen(function*() {
      const sql = yield* ServingClient
      const secrets = yield* Secrets
      const http = yield* RegisterHttp
      const scope = yield* Scope.Scope
      const throttle = yield* makeLogThrottle(5000)
      // Kept: clients. Clients of registers, each with its certificates and connections. Several nodes: its own.
      const clients = new Map<number, Client>()

      /** The client of a connection: another one when its certificates change, since they belong to its pool. */
      const clientFor = Effect.fnUntraced(function*(id: number, tls: Parameters<typeof http.open>[0]) {
        const madeFor = JSON.stringify(tls)
        const earlier = clients.get(id)
        if (earlier?.madeFor === madeFor) return earlier.send
        if (earlier !== undefined) yield* Scope.close(earlier.scope, Exit.void)
        const own = yield* Scope.fork(scope)
        const { send } = yield* Scope.provide(http.open(tls), own)
        clients.set(id, { madeFor, scope: own, send })
        return send
      })

      const directory = yield* makeKeyDirectory<typeof Row.Type, RegisterConnection>({
        version: orTryAgain(Effect.map(
          oneOf(versions(sql`SELECT md5(coalesce(string_agg(id || ' ' || xmin, ',' ORDER BY id), '')) AS version
            FROM register_connections WHERE active`)),
          (row) => row?.version ?? ""
        )),
        rows: orTryAgain(
          rows(sql`SELECT c.operator_id || ' ' || c.kind AS key, c.id, c.kind, c.settings, c.settings_sealed AS sealed,
            o.is_sandbox AS "isSandbox"
          FROM register_connections c JOIN operators o ON o.id = c.operator_id WHERE c.active`)
        ),
        open: (row): Effect.Effect<RegisterConnection, Refusal<"TRY_AGAIN">> =>
          row.isSandbox ? Effect.succeed(simulated(row.id, row.kind)) : Effect.gen(function*() {
            const bound = yield* Effect.fromResult(
              registers[row.kind].bind(yield* openRegisterSettings(secrets, row))
            )
            return { id: row.id, bound: bound.register, send: yield* clientFor(row.id, bound.tls) }
          }).pipe(
            Effect.catch(() =>
              Effect.andThen(
                throttle((others) =>
                  Effect.annotateLogs(Effect.logError("register settings cannot be used"), {
                    register_id: row.id,
                    others,
                    remedy: "set the register's settings again"
                  })
                ),
                Effect.fail(unusable)
              )
            )
          )
      })
      const invalidate = (yield* Notices).define("register", (key) => Effect.sync(() => directory.invalidate(key)))
      return RegisterConnections.of({
        find: (operatorId, kind) => Effect.orElseSucceed(directory.get(keyOf(operatorId, kind)), () => undefined),
        invalidate: (operatorId, kind) => invalidate(keyOf(operatorId, kind))
      })
    })
  )
}
