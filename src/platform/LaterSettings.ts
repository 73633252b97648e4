/** Settings that a supervisor sends to a node after starting it, so that the node loads its modules while the database starts. */
import { Effect, Layer, Schema } from "effect"
import { StartupError } from "./StartupError.ts"

/** Variable of a process that is told further ones by a message before it reads its settings. */
export const laterSettings = "LATER_SETTINGS"

const decode = Schema.decodeUnknownEffect(Schema.Struct({ settings: Schema.Record(Schema.String, Schema.String) }))

const message = Effect.callback<unknown, StartupError>((resume) => {
  const take = (told: unknown) => resume(Effect.succeed(told))
  const lose = () =>
    resume(Effect.fail(new StartupError({ message: "the supervisor ended before it sent the settings" })))
  process.once("message", take).once("disconnect", lose)
  return Effect.sync(() => void process.off("message", take).off("disconnect", lose))
})

/** Where the message was announced waits for it, and does `meanwhile`. Needed before `Settings`. Fails when the supervisor ends before. */
export const layerLaterSettings = (meanwhile: Effect.Effect<unknown>) =>
  Layer.effectDiscard(
    Effect.suspend(() =>
      process.env[laterSettings] !== "on" ?
        Effect.void :
        Effect.all([message, meanwhile], { concurrency: "unbounded" }).pipe(
          Effect.flatMap(([told]) => decode(told)),
          Effect.catchTag(
            "SchemaError",
            () =>
              Effect.fail(
                new StartupError({
                  message: "the supervisor of the nodes sent this one no settings: start nodes with npm run cluster"
                })
              )
          ),
          Effect.map(({ settings }) => void Object.assign(process.env, settings))
        )
    )
  )
