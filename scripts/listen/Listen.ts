/** Follows an operator's events and posts them to a local address, signed as webhooks are. */
import { Clock, DateTime, Effect, Option, Schedule } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import * as OperatorClient from "../../src/client/OperatorClient.ts"
import { plainHeaders, webhookSignature } from "../../src/features/webhooks/Attempts.ts"
import { standardHeaders } from "../../src/features/webhooks/StandardWebhooks.ts"
import { StartupError } from "../../src/platform/StartupError.ts"
import type { Credentials } from "./Credentials.ts"
import { openPosition, type Position } from "./Cursor.ts"

/** Time that a receiver has, as for webhooks. */
const answerTime = "5 seconds"

/** Seconds that a call waits for events. */
const waitSeconds = 20

/** Pause before the service is asked again that does not answer, as over its restart. */
const absentPause = "2 seconds"

interface Listener {
  readonly credentials: Credentials
  readonly dataDir: string
  readonly forwardTo: string
  /** All types where empty. */
  readonly types: ReadonlyArray<string>
  readonly say: (line: string) => void
}

/** Follows for ever. Says the secret first, then a line per event with the receiver's answer; goes on after an answer of any kind. */
export const listen = Effect.fnUntraced(function*({ credentials, dataDir, forwardTo, say, types }: Listener) {
  const http = yield* HttpClient.HttpClient
  const operator = yield* Effect.mapError(
    OperatorClient.make({ baseUrl: credentials.url, key: credentials.key, secret: credentials.secret }),
    ({ message }) => new StartupError({ message })
  )
  const name = `${credentials.url} ${credentials.name} ${forwardTo}`
  const { keep, position: begun } = yield* openPosition(dataDir, name)
  const saySecret = yield* Effect.cached(Effect.sync(() => say(begun.secret)))

  /** Asks until the service answers. */
  const asked = <A>(call: Effect.Effect<A, Effect.Error<ReturnType<typeof operator.events.list>>>) =>
    call.pipe(
      Effect.tapErrorTag("NoAnswer", ({ message }) =>
        Effect.andThen(saySecret, Effect.sync(() => say(`${message} Trying again.`)))),
      Effect.retry({
        while: ({ _tag }) =>
          _tag === "NoAnswer",
        schedule: Schedule.spaced(absentPause)
      }),
      Effect.mapError(({ message }) => new StartupError({ message: `the events cannot be read: ${message}` }))
    )
  const beginNow = Effect.map(
    asked(operator.account.me()),
    ({ data }): Position => ({ ...begun, cursor: null, since: data.server_time, posted: [] })
  )

  const post = Effect.fnUntraced(function*(event: { readonly id: string; readonly type: string }) {
    const now = yield* Clock.currentTimeMillis
    const timestamp = String(Math.floor(now / 1000))
    const body = JSON.stringify(event)
    const request = HttpClientRequest.post(forwardTo, {
      headers: {
        ...plainHeaders({ deliveryId: Number(event.id), eventId: Number(event.id), type: event.type }),
        "x-service-timestamp": timestamp,
        "x-service-signature": webhookSignature(begun.secret, timestamp, body),
        ...standardHeaders({ id: event.id, timestamp, body }, [begun.secret])
      },
      body: HttpBody.text(body, "application/json")
    })
    const answer = yield* http.execute(request).pipe(
      Effect.flatMap((response) => Effect.as(response.arrayBuffer, String(response.status))),
      Effect.timeoutOption(answerTime),
      Effect.map(Option.getOrElse(() => "no answer in 5 s")),
      Effect.catch(() => Effect.succeed("no connection"))
    )
    const took = (yield* Clock.currentTimeMillis) - now
    say(`${DateTime.formatIso(DateTime.makeUnsafe(now))}  ${event.type}  ${event.id}  ${answer}  ${took} ms`)
  })

  let position = begun.cursor === null && begun.since === null ? yield* beginNow : begun
  // by now no event is missed that comes after it
  yield* saySecret
  yield* keep(position)
  const pageAt = ({ cursor, since }: Position) =>
    asked(
      operator.events.list({
        query: { per_page: 100, wait: waitSeconds, ...(cursor === null ? { created_from: since ?? "" } : { cursor }) }
      }).pipe(
        // the cursor is the only field that can be wrong here: what it stands for is no longer kept
        Effect.catchIf(
          (error) => error._tag === "Refused" && error.code === "VALIDATION_FAILED" && cursor !== null,
          () => Effect.succeed(undefined)
        )
      )
    )
  for (;;) {
    const page = yield* pageAt(position)
    if (page === undefined) {
      say("Events between the last run and now are no longer kept. Going on from now.")
      position = yield* beginNow
      continue
    }
    const { data, meta } = page
    for (const event of data) {
      if (position.posted.includes(event.id)) continue
      if (types.length === 0 || types.includes(event.type)) yield* post(event)
      position = { ...position, posted: [...position.posted, event.id] }
      yield* keep(position)
    }
    position = { ...position, cursor: meta.next_cursor, posted: [] }
    yield* keep(position)
  }
})
