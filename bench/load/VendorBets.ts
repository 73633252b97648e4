import { Effect } from "effect"
import { fromUnits } from "../../src/protocols/Decimal.ts"
import { minorDigits } from "../../src/domain/Standards.ts"
import { makeDialect } from "../../scripts/simulators/Dialects.ts"
import type { BetMessage } from "../../scripts/simulators/Dialect.ts"
import type { Job, JobVendor } from "./Job.ts"
import type { PlayerPicker } from "./PlayerPicker.ts"
import type { Request, Traffic } from "./Requests.ts"

const nothing = (): void => {}

/**
 * Bets in the protocol of a vendor, each in a round of its own, as the vendor's dialect writes them. Where signing costs the generator more than
 * checking costs the service, requests are made before the clock runs.
 */
export const vendorBets = (job: Job, vendor: JobVendor, players: PlayerPicker): Traffic => {
  const dialect = Effect.runSync(makeDialect(vendor.protocol, vendor.settings))
  const amount = fromUnits(job.stake, minorDigits(job.currency))
  let count = 0
  const make = (): Request => {
    const player = players.next()
    const { playerRef = "", sessionToken: token } = job.players[player] ?? { sessionToken: "" }
    const id = `${job.idPrefix}-${(count++).toString(36).padStart(7, "0")}`
    const message: BetMessage = { kind: "bet", id, roundId: `r-${id}`, gameId: job.gameId, amount, grant: null }
    const session = { token, playerRef, currency: job.currency, gameId: job.gameId }
    const { body, headers, method, path, query } = dialect.request(message, session, {
      callId: id,
      now: Date.now(),
      damage: "none"
    })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
    return {
      player,
      operation: "bet",
      bytes: `${method} ${vendor.path}${path}${query === undefined ? "" : `?${query}`} HTTP/1.1\r\n` +
        `Host: ${job.host}:${job.port}\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      status: 200,
      marks: [vendor.mark],
      change: -job.stake,
      least: -job.stake,
      most: 0,
      id
    }
  }
  const ready = Array.from({ length: vendor.ahead }, make).toReversed()
  return { next: () => ready.pop() ?? make(), ended: nothing }
}
