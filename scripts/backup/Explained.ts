/** How a program ends that people run: a failure is one line with its reason. */
import { Effect } from "effect"
import { standardError } from "../../src/platform/Output.ts"

/** Tells the reason of a failure on standard error and ends with 1. */
export const explained = <A, R>(program: Effect.Effect<A, { readonly message: string }, R>) =>
  program.pipe(Effect.catch(({ message }) =>
    Effect.sync(() => {
      standardError.offer(`pitboss: ${message}\n`)
      process.exitCode = 1
    })
  ))
