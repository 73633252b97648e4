/** One line that is redrawn on a terminal, and stays out of a log. */
export const showProgress = (text: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${text}`)
}

export const endProgress = (): void => {
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K")
}
