/** Feed of finished game rounds (Data Feeds): CSV below a line with the next timepoint. */
import { parseDecimal } from "../Decimal.ts"
import type { FeedRound } from "../Protocol.ts"

/** One answer of the feed. */
export interface FeedPage {
  /** Start of the next request, epoch milliseconds. */
  readonly timepoint: number
  readonly rounds: ReadonlyArray<FeedRound & { readonly endedAt: number }>
}

/** Values of a CSV line; quoted ones may contain commas and doubled quotes. */
const valuesOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "").trim() : quoted.replaceAll("\"\"", "\"")
  )

/** Instants are in UTC without a zone designator. */
const instantOf = (text: string): number => Date.parse(`${text.replace(" ", "T")}Z`)

/** Parses an answer; undefined when malformed. */
export const readFeedPage = (text: string): FeedPage | undefined => {
  const [first = "", header = "", ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "")
  const timepoint = /^timepoint=(\d{1,16})$/.exec(first.trim())?.[1]
  if (timepoint === undefined) return undefined
  const columns = valuesOf(header)
  const rounds: Array<FeedRound & { readonly endedAt: number }> = []
  for (const line of lines) {
    const values = valuesOf(line)
    const valueOf = (column: string): string => values[columns.indexOf(column)] ?? ""
    const [bet, win] = [parseDecimal(valueOf("bet")), parseDecimal(valueOf("win"))]
    const endedAt = instantOf(valueOf("endDate"))
    const roundId = valueOf("playSessionID")
    if (bet === undefined || win === undefined || Number.isNaN(endedAt) || roundId === "") return undefined
    rounds.push({
      roundId,
      gameId: valueOf("gameID"),
      playerRef: valueOf("extPlayerID"),
      bet,
      win,
      currency: valueOf("currency"),
      endedAt
    })
  }
  return { timepoint: Number(timepoint), rounds }
}
