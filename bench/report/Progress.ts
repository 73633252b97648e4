import { standardError } from "../../src/platform/Output.ts"

const logEveryMs = 15_000
let loggedAt = 0

/** One line that is redrawn on a terminal; in a log, a line now and then. */
export const showProgress = (text: string): void => {
  if (standardError.isTerminal) {
    standardError.offer(`\r\x1b[2K${text}`)
    return
  }
  const now = performance.now()
  if (now - loggedAt < logEveryMs) return
  loggedAt = now
  standardError.offer(`… ${text}\n`)
}

export const endProgress = (): void => {
  if (standardError.isTerminal) standardError.offer("\r\x1b[2K")
}
