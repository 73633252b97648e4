const logEveryMs = 15_000
let loggedAt = 0

/** One line that is redrawn on a terminal; in a log, a line now and then. */
export const showProgress = (text: string): void => {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\x1b[2K${text}`)
    return
  }
  const now = performance.now()
  if (now - loggedAt < logEveryMs) return
  loggedAt = now
  process.stderr.write(`… ${text}\n`)
}

export const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K")
}
