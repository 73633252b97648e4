/**
 * Folds the play in a timeline: successive entries of one game become one line, `21:12–21:58 Golden Reels, 96 rounds, staked …, won …`. Anything else
 * that happened in between, another game, or a pause ends a line.
 */
import type { CasinoEntryType } from "../state/Change.ts"

/** A ledger entry posted by a game. */
export interface PlayEntry {
  /** Epoch milliseconds. */
  readonly at: number
  readonly gameId: number
  readonly round: string | null
  readonly type: CasinoEntryType
  /** Signed, minor units. */
  readonly amount: number
}

/** Play at one game. Instants in epoch milliseconds, amounts in minor units. */
export interface Play {
  readonly from: number
  readonly to: number
  readonly gameId: number
  readonly rounds: number
  /** Of both wallets, less bets that were taken back. */
  readonly staked: number
  /** Of both wallets, less wins that were taken back. */
  readonly won: number
}

/** Lines that fold into one, newest first; `play` is undefined for a line that is no play. */
export interface Fold<Line> {
  readonly lines: readonly [Line, ...ReadonlyArray<Line>]
  readonly play: Play | undefined
}

/** A longer pause begins another line. */
export const pauseMs = 3_600_000

const playOf = (entries: ReadonlyArray<PlayEntry>, newest: PlayEntry): Play => {
  let staked = 0
  let won = 0
  for (const { amount, type } of entries) {
    // a rollback credits for a bet, and debits for a win
    if (type === "casino_bet" || (type === "casino_rollback" && amount > 0)) staked -= amount
    else won += amount
  }
  return {
    from: entries.at(-1)?.at ?? newest.at,
    to: newest.at,
    gameId: newest.gameId,
    rounds: new Set(entries.map(({ round }) => round)).size,
    staked,
    won
  }
}

/** Folds lines that are ordered newest first. `entryOf`: the play of a line; undefined for any other line, which stays as it is. */
export const foldPlay = <Line>(
  lines: ReadonlyArray<Line>,
  entryOf: (line: Line) => PlayEntry | undefined
): ReadonlyArray<Fold<Line>> => {
  const folds: Array<Fold<Line>> = []
  let open: { readonly lines: [Line, ...Array<Line>]; readonly entries: [PlayEntry, ...Array<PlayEntry>] } | undefined
  const close = () => {
    if (open !== undefined) folds.push({ lines: open.lines, play: playOf(open.entries, open.entries[0]) })
    open = undefined
  }
  for (const line of lines) {
    const entry = entryOf(line)
    const earlier = open?.entries.at(-1)
    if (
      open !== undefined && earlier !== undefined && entry?.gameId === earlier.gameId &&
      earlier.at - entry.at <= pauseMs
    ) {
      open.lines.push(line)
      open.entries.push(entry)
      continue
    }
    close()
    if (entry === undefined) folds.push({ lines: [line], play: undefined })
    else open = { lines: [line], entries: [entry] }
  }
  close()
  return folds
}
