/**
 * Standard output and standard error of the process. A failed write, as on a full disk, a closed pipe or a stuck reader, loses its text, which is
 * counted, but neither ends the process nor fills its memory.
 */
import * as Fs from "node:fs"

/** Maximum characters that wait for a slow reader. */
const maxUnread = 1024 * 1024

/** The part of a stream of the process that is used. */
interface OutputStream {
  readonly fd?: number
  readonly isTTY?: boolean
  readonly destroyed: boolean
  readonly writableLength: number
  readonly on: (event: "error", listener: (error: NodeJS.ErrnoException) => void) => unknown
  readonly write: (text: string, done: (error?: Error | null) => void) => boolean
}

export interface Output {
  readonly isTerminal: boolean
  /** Writes a text unless that fails or too much waits for the reader already: then drops and counts it. */
  readonly offer: (text: string) => void
  /** Writes a text, however slow the reader is; `onFailure` gets the system's code of a failure, such as `ENOSPC`. */
  readonly print: (text: string, onFailure: (code: string) => void) => void
  /** Texts dropped since the start. */
  readonly dropped: () => number
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EIO"

/** Whether it is a file or a device: a stream of Node.js cannot be written to again after a failure there, although the disk has room again. */
const isFile = ({ fd, isTTY }: OutputStream): boolean => {
  if (fd === undefined || isTTY === true) return false
  try {
    const stat = Fs.fstatSync(fd)
    return stat.isFile() || stat.isCharacterDevice()
  } catch {
    return false
  }
}

const makeOutput = (stream: OutputStream): Output => {
  // unhandled, it would end the process, whoever wrote: Node.js and libraries write there as well
  stream.on("error", () => {})
  const descriptor = isFile(stream) ? stream.fd : undefined
  // Kept: dropped, isTorn. Lines that could not be written, and whether the last one is whole. Several nodes: its own.
  let dropped = 0
  /** Whether the last text is there in part only: the next one begins a line. */
  let isTorn = false

  const writeFile = (descriptor: number, text: string): string | undefined => {
    let rest = Buffer.from(isTorn ? `\n${text}` : text)
    try {
      while (rest.length > 0) {
        const written = Fs.writeSync(descriptor, rest)
        isTorn = true
        rest = rest.subarray(written)
      }
      isTorn = false
      return undefined
    } catch (error) {
      return codeOf(error)
    }
  }

  const write = (text: string, onFailure: (code: string) => void): void => {
    if (descriptor !== undefined) {
      const failure = writeFile(descriptor, text)
      if (failure !== undefined) onFailure(failure)
      return
    }
    stream.write(text, (error) => {
      if (error !== undefined && error !== null) onFailure(codeOf(error))
    })
  }

  const drop = (): void => {
    dropped++
  }

  return {
    isTerminal: stream.isTTY === true,
    offer: (text) => {
      if (stream.destroyed || stream.writableLength + text.length > maxUnread) drop()
      else write(text, drop)
    },
    print: write,
    dropped: () => dropped
  }
}

export const standardOutput = makeOutput(process.stdout)
export const standardError = makeOutput(process.stderr)
