/** Parses Pragmatic Play's feed of finished game rounds (Data Feeds): CSV below a line with the next timepoint. */
import { Effect } from "effect"
import { parseDecimal } from "../Decimal.ts"
import type { FeedRound, LeftLine, VendorFailure } from "../Protocol.ts"
import { inSlices, unavailableVendor } from "../VendorCalls.ts"

/** One answer of the feed. */
export interface FeedPage {
  /** Start of the next request, epoch milliseconds. */
  readonly timepoint: number
  readonly rounds: ReadonlyArray<FeedRound & { readonly endedAt: number }>
  /** Lines that are not understood, as they came. */
  readonly odd: ReadonlyArray<LeftLine & { readonly line: string }>
}

/** Columns without which a round is not understood. */
const needed = ["endDate", "playSessionID", "gameID", "extPlayerID", "bet", "win", "currency"]

/** Values of a CSV line; quoted ones may contain commas and doubled quotes. */
const valuesOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? "").trim() : quoted.replaceAll("\"\"", "\"")
  )

/** Instants are in UTC without a zone designator. */
const instantOf = (text: string): number => Date.parse(`${text.replace(" ", "T")}Z`)

/** Lines of a text that are not blank. */
const linesOf = (text: string): ReadonlyArray<string> => text.split(/\r?\n/).filter((line) => line.trim() !== "")

const unreadable = unavailableVendor("the feed cannot be read")

/** Parses an answer, in slices. */
export const readFeedPage = Effect.fnUntraced(function*(text: string): Effect.fn.Return<FeedPage, VendorFailure> {
  const [first = "", header = "", ...lines] = linesOf(text)
  const timepoint = /^timepoint=(\d{1,16})$/.exec(first.trim())?.[1]
  if (timepoint === undefined) return yield* Effect.fail(unreadable)
  const columns = valuesOf(header)
  const places = new Map(columns.map((column, place) => [column, place]))
  const rounds: Array<FeedPage["rounds"][number]> = []
  const odd: Array<FeedPage["odd"][number]> = []
  const take = (line: string): void => {
    const values = valuesOf(line)
    const valueOf = (column: string): string => values[places.get(column) ?? -1] ?? ""
    const [bet, win] = [parseDecimal(valueOf("bet")), parseDecimal(valueOf("win"))]
    const endedAt = instantOf(valueOf("endDate"))
    const [gameId, roundId] = [valueOf("gameID"), valueOf("playSessionID")]
    const wrong = Number.isNaN(endedAt)
      ? "endDate"
      : needed.find((column) => valueOf(column) === "") ?? (bet === undefined ? "bet" : "win")
    if (bet === undefined || win === undefined || Number.isNaN(endedAt) || valueOf(wrong) === "") {
      const id = roundId === "" ? null : `${gameId}/${roundId}`
      odd.push({ line, id, reason: `${wrong}: ${valueOf(wrong) === "" ? "missing" : "malformed"}` })
    } else {
      rounds.push({
        roundId,
        gameId,
        playerRef: valueOf("extPlayerID"),
        bet,
        win,
        currency: valueOf("currency"),
        endedAt
      })
    }
  }
  yield* inSlices(lines, (slice) => Effect.sync(() => (slice.forEach(take), [])))
  return { timepoint: Number(timepoint), rounds, odd }
})
