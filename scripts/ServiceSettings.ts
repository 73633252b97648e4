/** Settings of the service by which other programs find it, as the environment gives them. */
import { Config, Effect, Option } from "effect"
import { resolve } from "node:path"
import { reachable } from "../src/platform/Loopback.ts"
import { StartupError } from "../src/platform/StartupError.ts"

/** Setting of the service; undefined when it is not given. */
export const setting = (name: string) =>
  Config.option(Config.String(name)).pipe(
    Effect.map((given) => Option.getOrElse(given, () => "").trim() || undefined),
    Effect.mapError(() => new StartupError({ message: `${name} cannot be read` }))
  )

/** Absolute path of `DATA_DIR`. */
export const dataFolder = setting("DATA_DIR").pipe(
  Effect.orElseSucceed(() => undefined),
  Effect.map((folder) => resolve(folder ?? ".data"))
)

/** Address of the public API. */
export const publicAddress = Effect.gen(function*() {
  return `http://${reachable((yield* setting("HOST")) ?? "127.0.0.1")}:${(yield* setting("PORT")) ?? "8080"}`
})
