import { assert, describe, it } from "@effect/vitest"
import { createServer, request } from "node:http"
import * as Net from "node:net"
import { makeAdmission } from "../../src/http/Admission.ts"

// Goal: a crowd of new callers takes no more of a turn than the open connections do, and is served all the same. Method: turns that the test ends, with
// sockets that are never connected; then real connections, paused as the listener pauses them.

/** Admission with turns ended by hand, and the sockets it admitted. */
const byHand = () => {
  const due: Array<() => void> = []
  const admitted: Array<Net.Socket> = []
  const admission = makeAdmission((socket) => void admitted.push(socket), (act) => void due.push(act))
  return {
    admission,
    admitted,
    endTurn: () => {
      for (const act of due.splice(0)) act()
    },
    isDue: () => due.length > 0
  }
}

const crowd = (count: number) => Array.from({ length: count }, () => new Net.Socket())

describe("admission of new connections", () => {
  it("admits in order, per event-loop turn, as many connections as requests came on open ones, but at least eight", () => {
    const { admission, admitted, endTurn } = byHand()
    const sockets = crowd(100)
    const open = new Net.Socket()
    for (const socket of sockets) admission.offer(socket)
    assert.lengthOf(admitted, 0)
    endTurn()
    assert.lengthOf(admitted, 8)
    for (let count = 0; count < 20; count++) admission.noteRequest(open)
    endTurn()
    assert.lengthOf(admitted, 28)
    endTurn()
    assert.deepStrictEqual(admitted, sockets.slice(0, 36))
  })

  it("does not count a new connection's first request, so that a burst of connections does not speed up its own admission", () => {
    const { admission, admitted, endTurn } = byHand()
    for (const socket of crowd(100)) admission.offer(socket)
    for (let turn = 1; turn <= 5; turn++) {
      endTurn()
      assert.lengthOf(admitted, 8 * turn)
      for (const socket of admitted.slice(-8)) admission.noteRequest(socket)
    }
    // their second ones are requests of open connections
    for (const socket of admitted) admission.noteRequest(socket)
    endTurn()
    assert.lengthOf(admitted, 80)
  })

  it("ignores requests that came while no connection waited, and stops when none waits", () => {
    const { admission, admitted, endTurn, isDue } = byHand()
    const open = new Net.Socket()
    for (let count = 0; count < 1000; count++) admission.noteRequest(open)
    for (const socket of crowd(9)) admission.offer(socket)
    endTurn()
    assert.lengthOf(admitted, 8)
    endTurn()
    assert.isFalse(isDue())
    assert.lengthOf(admitted, 9)
  })

  it("skips connections that closed while they waited, and admits all others at shutdown", () => {
    const { admission, admitted } = byHand()
    const sockets = crowd(50)
    for (const socket of sockets) admission.offer(socket)
    sockets[3]?.destroy()
    admission.admitAll()
    assert.deepStrictEqual([admitted.length, admission.waiting()], [49, 0])
  })

  it("serves paused connections, including what they sent while they waited", async () => {
    const server = createServer((_, response) => response.end("served"))
    const admission = makeAdmission((socket) => {
      server.emit("connection", socket)
      socket.resume()
    })
    const listener = Net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, admission.offer)
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve))
    const address = listener.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const answers = await Promise.all(Array.from({ length: 60 }, () =>
      new Promise<string>((resolve, reject) => {
        request({ host: "127.0.0.1", port, agent: false }, (response) => {
          let text = ""
          response.on("data", (chunk) => (text += String(chunk))).on("end", () => resolve(text))
        }).on("error", reject).end()
      })))
    assert.deepStrictEqual(answers, answers.map(() => "served"))
    listener.close()
  })
})
