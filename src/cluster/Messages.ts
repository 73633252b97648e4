/**
 * Byte format of the messages between nodes. The first message of each side is JSON. Calls and answers have four forms: 1 is JSON with an array per
 * field; 2 is packed, because JSON escapes and parses texts that are JSON themselves a second time; 3 adds a status for a lost answer; 4 adds marks,
 * which tell a node the newest of its ownership epochs (numbers that rise whenever it gains players) that the caller knew. Each side announces the
 * newest form that it reads, and receives that form. Form 1 can be removed once every node that may run beside this one announces its form.
 */
import { Option, Schema } from "effect"

/** A call in transit. `key` is {@link noKey} for a call to the node itself, independent of ownership. */
export interface SentCall {
  readonly id: number
  readonly key: number
  readonly channel: string
  readonly head: string
  readonly body: string
}

/** Key of a call to the node itself. */
export const noKey = -1

/** Statuses beside those of the channel: key not owned by this node, unknown channel. The call had no effect. */
export const notOwnedStatus = -1
export const noChannelStatus = -2

/** Status of a call without an answer that can be sent; the call may have had its effect. */
export const lostStatus = -3

export interface SentAnswer {
  readonly id: number
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Newest form of calls and answers that this node reads and writes. */
export const newestForm = 4

/** The form since which a mark is returned. */
export const markForm = 4

const Integers = Schema.Array(Schema.Int)
const Texts = Schema.Array(Schema.String)
const Form = Schema.optionalKey(Schema.Int)

/** First message of the caller, and of the answering node: its id, or null for a caller with another master key. */
const Hello = Schema.Struct({ kind: Schema.Literal("hello"), node: Schema.String, proofs: Texts, form: Form })
const Welcome = Schema.Struct({ kind: Schema.Literal("welcome"), node: Schema.NullOr(Schema.String), form: Form })

/** Sent by the answering node with its newest epoch, and returned by the caller: what the caller sends afterwards, it sent knowing that epoch. */
const Mark = Schema.Struct({ kind: Schema.Literal("mark"), epoch: Schema.Int })

/** `texts`: channel, head and body of each call. */
const CallColumns = Schema.Struct({ kind: Schema.Literal("calls"), ids: Integers, keys: Integers, texts: Texts })

/** `texts`: head and body of each answer. */
const AnswerColumns = Schema.Struct({
  kind: Schema.Literal("answers"),
  ids: Integers,
  statuses: Integers,
  texts: Texts
})

const Json = Schema.fromJsonString(Schema.Union([CallColumns, AnswerColumns, Hello, Welcome, Mark]))
const readJson = Schema.decodeUnknownOption(Json)

export type Message =
  | typeof Hello.Type
  | typeof Welcome.Type
  | typeof Mark.Type
  | { readonly kind: "calls"; readonly calls: ReadonlyArray<SentCall> }
  | { readonly kind: "answers"; readonly answers: ReadonlyArray<SentAnswer> }

/** Bytes of the length prefix. */
export const lengthBytes = 4

const framed = (length: number): Buffer => {
  const bytes = Buffer.allocUnsafe(lengthBytes + length)
  bytes.writeUInt32BE(length, 0)
  return bytes
}

const writeJson = (message: typeof Json.Type): Buffer => {
  const text = JSON.stringify(message)
  const bytes = framed(Buffer.byteLength(text))
  bytes.write(text, lengthBytes, "utf8")
  return bytes
}

/** Encodes a first message or a mark with its length prefix. */
export const writeWord = (word: typeof Hello.Type | typeof Welcome.Type | typeof Mark.Type): Buffer => writeJson(word)

/** First byte of a packed message; JSON begins with a brace. */
const packedCalls = 1
const packedAnswers = 2

/**
 * Header of each call or answer: its id and its key or status (64-bit floats), bytes of the text, characters of the channel and of the head
 * (32 bits each). The text is channel, head and body. A lone surrogate becomes a replacement character: texts come from UTF-8 or JSON.
 */
const recordBytes = 28

const pack = <Item extends { readonly id: number; readonly head: string; readonly body: string }>(
  kindByte: number,
  items: ReadonlyArray<Item>,
  numberOf: (item: Item) => number,
  channelOf: (item: Item) => string
): Buffer => {
  const texts: Array<string> = []
  const lengths: Array<number> = []
  let length = 1 + items.length * recordBytes
  for (const item of items) {
    const text = channelOf(item) + item.head + item.body
    const bytes = Buffer.byteLength(text)
    texts.push(text)
    lengths.push(bytes)
    length += bytes
  }
  const bytes = framed(length)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  bytes[lengthBytes] = kindByte
  let at = lengthBytes + 1
  for (let index = 0; index < items.length; index++) {
    const [item, text, textBytes] = [items[index], texts[index], lengths[index]]
    if (item === undefined || text === undefined || textBytes === undefined) continue
    view.setFloat64(at, item.id)
    view.setFloat64(at + 8, numberOf(item))
    view.setUint32(at + 16, textBytes)
    view.setUint32(at + 20, channelOf(item).length)
    view.setUint32(at + 24, item.head.length)
    at += recordBytes
    // most texts are ASCII, whose bytes are the same in Latin-1 without encoding
    bytes.write(text, at, textBytes === text.length ? "latin1" : "utf8")
    at += textBytes
  }
  return bytes
}

/** Returns undefined when malformed. */
const unpack = <Item>(
  bytes: Buffer,
  make: (id: number, number: number, channel: string, head: string, body: string) => Item
): ReadonlyArray<Item> | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const items: Array<Item> = []
  let at = 1
  while (at < bytes.length) {
    const start = at + recordBytes
    if (start > bytes.length) return undefined
    const id = view.getFloat64(at)
    const number = view.getFloat64(at + 8)
    const end = start + view.getUint32(at + 16)
    if (end > bytes.length || !Number.isSafeInteger(id) || !Number.isSafeInteger(number)) return undefined
    const text = bytes.toString("utf8", start, end)
    const headAt = view.getUint32(at + 20)
    const bodyAt = headAt + view.getUint32(at + 24)
    if (bodyAt > text.length) return undefined
    items.push(make(id, number, text.slice(0, headAt), text.slice(headAt, bodyAt), text.slice(bodyAt)))
    at = end
  }
  return items
}

/** Encodes calls for a peer that reads `form`, with the length prefix. */
export const writeCalls = (calls: ReadonlyArray<SentCall>, form: number): Buffer => {
  if (form >= 2) return pack(packedCalls, calls, ({ key }) => key, ({ channel }) => channel)
  return writeJson({
    kind: "calls",
    ids: calls.map(({ id }) => id),
    keys: calls.map(({ key }) => key),
    texts: calls.flatMap(({ body, channel, head }) => [channel, head, body])
  })
}

/** As {@link writeCalls}. */
export const writeAnswers = (answers: ReadonlyArray<SentAnswer>, form: number): Buffer => {
  if (form >= 2) return pack(packedAnswers, answers, ({ status }) => status, () => "")
  return writeJson({
    kind: "answers",
    ids: answers.map(({ id }) => id),
    statuses: answers.map(({ status }) => status),
    texts: answers.flatMap(({ body, head }) => [head, body])
  })
}

/** The form since which {@link lostStatus} is read; older peers are not answered, and take the call as lost at its deadline. */
const lostForm = 3

/** Maximum characters of a message of several answers. */
export const maxAnswersLength = 1024 * 1024

/** Bytes of an answer's numbers and punctuation in a message of its own, at most. */
const frameBytes = 256

/** Whether an answer fits into a message of its own, without counting the bytes of a text that is short or too long anyway. */
const isWithin = ({ body, head }: SentAnswer, form: number, maxBytes: number): boolean => {
  const length = head.length + body.length
  const most = maxBytes - frameBytes
  // at most 6 bytes per character in JSON, as an escape, and 3 in UTF-8
  return length * (form >= 2 ? 3 : 6) <= most ||
    form >= 2 && length <= most && Buffer.byteLength(head) + Buffer.byteLength(body) <= most
}

/**
 * Encodes answers for a peer that reads `form`, each message with its length prefix and at most {@link maxAnswersLength} characters, or one answer.
 * An answer that the peer would refuse, being longer than `maxBytes` or with another status than a safe integer, is lost, alone.
 */
export const answerMessages = (
  answers: ReadonlyArray<SentAnswer>,
  form: number,
  maxBytes: number
): ReadonlyArray<Buffer> => {
  const messages: Array<Buffer> = []
  let together: Array<SentAnswer> = []
  let length = 0
  const end = (): void => {
    if (together.length > 0) messages.push(writeAnswers(together, form))
    together = []
    length = 0
  }
  for (const given of answers) {
    const isSendable = Number.isSafeInteger(given.status) && isWithin(given, form, maxBytes)
    const answer = isSendable ? given : { id: given.id, status: lostStatus, head: "", body: "" }
    if (answer.status === lostStatus && form < lostForm) continue
    const added = answer.head.length + answer.body.length
    if (length + added > maxAnswersLength) end()
    together.push(answer)
    length += added
  }
  end()
  return messages
}

const unpackCalls = (bytes: Buffer): Message | undefined => {
  const calls = unpack(bytes, (id, key, channel, head, body): SentCall => ({ id, key, channel, head, body }))
  return calls === undefined ? undefined : { kind: "calls", calls }
}

const unpackAnswers = (bytes: Buffer): Message | undefined => {
  const answers = unpack(bytes, (id, status, _, head, body): SentAnswer => ({ id, status, head, body }))
  return answers === undefined ? undefined : { kind: "answers", answers }
}

const fromJson = (message: typeof Json.Type): Message => {
  if (message.kind === "calls") {
    const { ids, keys, texts } = message
    const calls = ids.map((id, index): SentCall => ({
      id,
      key: keys[index] ?? noKey,
      channel: texts[index * 3] ?? "",
      head: texts[index * 3 + 1] ?? "",
      body: texts[index * 3 + 2] ?? ""
    }))
    return { kind: "calls", calls }
  }
  if (message.kind === "answers") {
    const { ids, statuses, texts } = message
    const answers = ids.map((id, index): SentAnswer => ({
      id,
      status: statuses[index] ?? noChannelStatus,
      head: texts[index * 2] ?? "",
      body: texts[index * 2 + 1] ?? ""
    }))
    return { kind: "answers", answers }
  }
  return message
}

/** Decodes a message without its length, in any form; undefined when malformed. */
export const readMessage = (bytes: Buffer): Message | undefined => {
  const [kindByte] = bytes
  if (kindByte === packedCalls) return unpackCalls(bytes)
  if (kindByte === packedAnswers) return unpackAnswers(bytes)
  return Option.getOrUndefined(Option.map(readJson(bytes.toString("utf8")), fromJson))
}
