import { assert, describe, it } from "@effect/vitest"
import {
  answerMessages,
  lengthBytes,
  lostStatus,
  maxAnswersLength,
  type Message,
  newestForm,
  readMessage,
  type SentAnswer,
  type SentCall,
  writeAnswers,
  writeCalls
} from "../../src/cluster/Messages.ts"

// Goal: messages are compatible between releases that run side by side. Method: each form there and back; bytes of the packed form as they were
// first written, so that a change of them fails; and damaged messages.

const calls: ReadonlyArray<SentCall> = [
  { id: 1, key: 7, channel: "lane", head: "a\nb", body: "{\"a\":\"b\"}" },
  { id: Number.MAX_SAFE_INTEGER, key: -1, channel: "", head: "", body: "" },
  { id: 2 ** 31, key: 2 ** 40, channel: "ü", head: "ä\u0000😀", body: "x".repeat(70_000) }
]
const answers: ReadonlyArray<SentAnswer> = [
  { id: 1, status: 200, head: "", body: "{}" },
  { id: 3, status: -2, head: "😀", body: "ö" }
]

const read = (bytes: Buffer): Message | undefined => readMessage(bytes.subarray(lengthBytes))

describe("messages with calls and answers", () => {
  it("are decoded as they were sent, in every version of the wire format", () => {
    for (let form = 1; form <= newestForm; form++) {
      for (
        const [bytes, message] of [
          [writeCalls(calls, form), { kind: "calls", calls }],
          [writeAnswers(answers, form), { kind: "answers", answers }]
        ] as const
      ) {
        assert.strictEqual(bytes.readUInt32BE(0), bytes.length - lengthBytes)
        assert.deepStrictEqual(read(bytes), message)
      }
    }
  })

  it("have a fixed byte sequence in the packed (binary) wire format", () => {
    assert.strictEqual(
      writeCalls([{ id: 1, key: 7, channel: "d", head: "ä", body: "b" }], 2).toString("hex"),
      ["0000002101", "3ff0000000000000", "401c000000000000", "00000004", "00000001", "00000001", "64c3a462"].join("")
    )
    assert.strictEqual(
      writeAnswers([{ id: 2, status: -1, head: "", body: "b" }], 2).toString("hex"),
      ["0000001e02", "4000000000000000", "bff0000000000000", "00000001", "00000000", "00000000", "62"].join("")
    )
  })

  it("do not join halves of a surrogate pair from two neighbouring texts", () => {
    const [call] = calls
    assert.isDefined(call)
    const bytes = writeCalls([{ ...call, channel: "d\ud83d", head: "\ude00h", body: "b" }, call], 2)
    assert.deepStrictEqual(read(bytes), {
      kind: "calls",
      calls: [{ ...call, channel: "d\ud83d", head: "\ude00h", body: "b" }, call]
    })
    assert.deepStrictEqual(read(writeCalls([{ ...call, body: "\ud83d" }, call], 2)), {
      kind: "calls",
      calls: [{ ...call, body: "\ufffd" }, call]
    })
  })

  it("are split to the size that the peer accepts; an answer above that size is reported as lost, and no other", () => {
    const half = "x".repeat(maxAnswersLength / 2)
    const given = ["", half, half, "y", `${half}${half}z`, ""].map((body, id): SentAnswer => ({
      id,
      status: 200,
      head: "",
      body
    }))
    const ids = answerMessages(given, newestForm, 2 ** 28).map((bytes) => {
      const message = read(bytes)
      return message?.kind === "answers" ? message.answers.map(({ id }) => id) : message
    })
    assert.deepStrictEqual(ids, [[0, 1, 2], [3], [4], [5]])

    const maxBytes = 4096
    const lost = { status: lostStatus, head: "", body: "" }
    for (let form = 1; form <= newestForm; form++) {
      for (const letter of ["x", "ä", "€", "\u0000"]) {
        const fates = new Set<boolean>()
        for (let length = 500; length <= 4200; length += 50) {
          const answer = { id: 1, status: 200, head: letter.repeat(length / 2), body: letter.repeat(length / 2) }
          const messages = answerMessages([answer, { ...answer, id: 2, status: 0.5 }], form, maxBytes)
          for (const bytes of messages) assert.isAtMost(bytes.length - lengthBytes, maxBytes)
          const answered = messages.map(read).flatMap((message) => message?.kind === "answers" ? message.answers : [])
          const [first] = answered
          const isSent = first !== undefined && first.status === 200
          fates.add(isSent)
          const expected = [isSent ? answer : { id: 1, ...lost }, { id: 2, ...lost }]
          // older releases do not know the status
          assert.deepStrictEqual(answered, form < 3 ? expected.filter(({ status }) => status === 200) : expected)
          const room = Buffer.byteLength(letter) * length
          if (form >= 2) assert.strictEqual(isSent, room <= maxBytes - 256)
        }
        assert.strictEqual(fates.size, 2)
      }
    }
  })

  it("cannot be decoded when they are truncated, or hold non-integers or wrong text lengths", () => {
    const whole = writeCalls(calls.slice(0, 2), 2).subarray(lengthBytes)
    const first = writeCalls(calls.slice(0, 1), 2).subarray(lengthBytes)
    for (let length = 2; length < whole.length; length++) {
      if (length !== first.length) assert.isUndefined(readMessage(whole.subarray(0, length)), `${length} bytes`)
    }
    const spoilt = (spoil: (view: DataView) => void): Buffer => {
      const bytes = Buffer.from(first)
      spoil(new DataView(bytes.buffer, bytes.byteOffset, bytes.length))
      return bytes
    }
    assert.isDefined(readMessage(spoilt(() => {})))
    for (
      const spoil of [
        (view: DataView) => view.setFloat64(1, 1.5),
        (view: DataView) => view.setFloat64(1, NaN),
        (view: DataView) => view.setFloat64(9, 2 ** 60),
        (view: DataView) => view.setUint32(17, 0xffffffff),
        (view: DataView) => view.setUint32(21, 1000),
        (view: DataView) => view.setUint32(25, 0xffffffff)
      ]
    ) assert.isUndefined(readMessage(spoilt(spoil)))
    for (const text of ["", "\u0003", "{", "{\"kind\":\"calls\"}"]) assert.isUndefined(readMessage(Buffer.from(text)))
  })
})
