import { Effect, type Scope, Schema } from "effect"
import { type BenchError, failedAt } from "../BenchError.ts"
import { CpuProfile } from "../report/Profile.ts"
import { get } from "./Service.ts"

/** Profiler of a running Node.js, over its inspector; records between `begin` and `end`. */
export interface Profiler {
  readonly begin: Effect.Effect<void, BenchError>
  readonly end: Effect.Effect<CpuProfile, BenchError>
}

const Targets = Schema.fromJsonString(Schema.Tuple([Schema.Struct({ webSocketDebuggerUrl: Schema.String })]))
const Answer = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.Int,
    result: Schema.optionalKey(Schema.Unknown),
    error: Schema.optionalKey(Schema.Unknown)
  })
)
const Stopped = Schema.Struct({ profile: CpuProfile })

/** How often the stack is looked at, µs. */
const intervalMicros = 250

const failed = (what: string) => failedAt(`profiler: ${what}`)

/** Attaches to the inspector on `port` of this machine; lets go with the scope. */
export const startProfiler = (port: number): Effect.Effect<Profiler, BenchError, Scope.Scope> =>
  Effect.gen(function*() {
    const listed = yield* get(`http://127.0.0.1:${port}/json/list`)
    const [{ webSocketDebuggerUrl }] = yield* Effect.mapError(
      Schema.decodeUnknownEffect(Targets)(listed),
      failed("the inspector lists no target")
    )
    const socket = yield* Effect.acquireRelease(
      Effect.callback<WebSocket, BenchError>((resume) => {
        const opening = new WebSocket(webSocketDebuggerUrl)
        opening.addEventListener("open", () => resume(Effect.succeed(opening)))
        opening.addEventListener("error", () => resume(Effect.fail(failed("connection")("refused"))))
      }),
      (open) => Effect.sync(() => open.close())
    )
    let calls = 0
    const call = (method: string, params: object = {}) =>
      Effect.callback<unknown, BenchError>((resume) => {
        const id = ++calls
        const listen = (event: MessageEvent) => {
          const answer = Schema.decodeUnknownOption(Answer)(event.data)
          if (answer._tag === "None" || answer.value.id !== id) return
          socket.removeEventListener("message", listen)
          const { error, result } = answer.value
          resume(error === undefined ? Effect.succeed(result) : Effect.fail(failed(method)(JSON.stringify(error))))
        }
        socket.addEventListener("message", listen)
        socket.send(JSON.stringify({ id, method, params }))
      })
    yield* call("Profiler.enable")
    yield* call("Profiler.setSamplingInterval", { interval: intervalMicros })
    return {
      begin: Effect.asVoid(call("Profiler.start")),
      end: call("Profiler.stop").pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Stopped)),
        Effect.map(({ profile }) => profile),
        Effect.catchTag("SchemaError", (error) => Effect.fail(failed("the profile")(error)))
      )
    }
  })
