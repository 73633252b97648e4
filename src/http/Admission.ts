/**
 * Admits new connections gradually. When a thousand callers connect at once, as after a restart, each event-loop turn admits as many of them as it
 * serves requests of other connections: those wait at most twice as long, and the new callers are still served soon
 * (`docs/decisions/0054-listening-sockets.md`).
 */
import type { Socket } from "node:net"

/** Connections that a turn admits at least: a service without load serves new callers without delay. */
const minPerTurn = 8

export interface Admission {
  /** Takes a paused connection, which is admitted at the end of this turn or a later one. */
  readonly offer: (socket: Socket) => void
  /** Notes a request: the first of a new connection counts for nothing. */
  readonly noteRequest: (socket: Socket) => void
  /** Admits all that wait. */
  readonly admitAll: () => void
  readonly waiting: () => number
}

/** `admit` serves a connection; `atTurnEnd` runs a function once, at the end of a turn of the event loop. */
export const makeAdmission = (
  admit: (socket: Socket) => void,
  atTurnEnd: (act: () => void) => void = setImmediate
): Admission => {
  // Kept: waiting, fresh, requests, isDue. Connections not admitted yet, admitted ones without a request, and requests of others in this turn. Several
  // nodes: its own connections.
  let waiting: Array<Socket> = []
  const fresh = new WeakSet<Socket>()
  let requests = 0
  let isDue = false

  const admitSome = (most: number): void => {
    const next = waiting.slice(0, most)
    waiting = waiting.slice(most)
    for (const socket of next) {
      if (socket.destroyed) continue
      fresh.add(socket)
      admit(socket)
    }
  }
  const endTurn = (): void => {
    admitSome(Math.max(minPerTurn, requests))
    requests = 0
    isDue = waiting.length > 0
    if (isDue) atTurnEnd(endTurn)
  }
  return {
    offer: (socket) => {
      waiting.push(socket)
      if (isDue) return
      isDue = true
      requests = 0
      atTurnEnd(endTurn)
    },
    noteRequest: (socket) => {
      if (!fresh.delete(socket)) requests++
    },
    admitAll: () => admitSome(waiting.length),
    waiting: () => waiting.length
  }
}
