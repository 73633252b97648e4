/** How a program ends that people run: a failure is one line with its reason, a requested stop no failure. */
import { Cause, Effect, Exit, type Runtime } from "effect"
import { standardError } from "../src/platform/Output.ts"

/** Tells the reason of a failure on standard error and ends with 1. */
export const explained = <A, R>(program: Effect.Effect<A, { readonly message: string }, R>) =>
  program.pipe(Effect.catch(({ message }) =>
    Effect.sync(() => {
      standardError.offer(`pitboss: ${message}\n`)
      process.exitCode = 1
    })
  ))

/** Ends with the exit code that the program has set, 0 otherwise, also when it was interrupted; with 1 after any other failure. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? Number(process.exitCode ?? 0) : 1)
