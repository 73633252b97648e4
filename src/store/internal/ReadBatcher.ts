import { Effect, Exit } from "effect"

interface Pending<out Request, in A, in E> {
  readonly request: Request
  readonly resume: (exit: Exit.Exit<A, E>) => void
}

export interface ReadBatcherOptions<in Request, out A, in out E> {
  /** Answers all requests, in their order. */
  readonly answer: (requests: ReadonlyArray<Request>) => Effect.Effect<ReadonlyArray<A>, E>
  /** Whether a single request may have caused the failure: each is then sent alone. */
  readonly mayBeCausedByOne: (failure: E) => boolean
  readonly maxBatch: number
  /** Maximum concurrent queries. */
  readonly maxRunning: number
}

/** Batches concurrent requests: those of one turn of the event loop, and those that arrive while the maximum of queries is running. */
export const makeReadBatcher = Effect.fnUntraced(function*<Request, A, E>(options: ReadBatcherOptions<Request, A, E>) {
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  let waiting: Array<Pending<Request, A, E>> = []
  let running = 0

  const deliver = (group: ReadonlyArray<Pending<Request, A, E>>, exit: Exit.Exit<ReadonlyArray<A>, E>): void => {
    for (const [index, { resume }] of group.entries()) {
      const answer = Exit.isSuccess(exit) ? exit.value[index] : undefined
      resume(Exit.isFailure(exit) ? Exit.failCause(exit.cause) : answer === undefined ? missing : Exit.succeed(answer))
    }
  }

  const ask = (group: ReadonlyArray<Pending<Request, A, E>>): Effect.Effect<void> =>
    Effect.flatMap(Effect.exit(options.answer(group.map(({ request }) => request))), (exit) => {
      const failure = Exit.findErrorOption(exit)
      return group.length > 1 && failure._tag === "Some" && options.mayBeCausedByOne(failure.value)
        ? Effect.forEach(group, (one) => ask([one]), { discard: true })
        : Effect.sync(() => deliver(group, exit))
    })

  const next = Effect.suspend(() => {
    const group = waiting.slice(0, options.maxBatch)
    waiting = waiting.slice(options.maxBatch)
    return group.length === 0 ? Effect.void : ask(group)
  })

  const start = (): void => {
    if (waiting.length === 0 || running >= options.maxRunning) return
    running++
    fork(Effect.andThen(Effect.yieldNow, next), { uninterruptible: true }).addObserver(() => {
      running--
      start()
    })
  }

  return (request: Request): Effect.Effect<A, E> =>
    Effect.callback<A, E>((resume) => {
      waiting.push({ request, resume })
      start()
    })
})

const missing = Exit.die(new Error("an answer is missing"))
