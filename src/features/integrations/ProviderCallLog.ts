/**
 * The latest vendor calls (request, answer and latency), kept in memory by the node that answered them and read from all nodes. Only calls with a
 * valid signature are kept: others are not the vendor's, and would push its own out.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type Answered, Forwarder } from "../../cluster/Forwarder.ts"
import type { RefusalCode } from "../../domain/Refusal.ts"

/** Calls of a provider that are kept by each node, and shown. */
const keptCalls = 500

/** A call of a vendor that was answered. Holds no secrets and no personal data. */
const ProviderCall = Schema.Struct({
  /** Epoch milliseconds. */
  at: Schema.Number,
  /** As the protocol calls it. */
  method: Schema.String,
  /** The player's reference; null when unknown. */
  player: Schema.NullOr(Schema.String),
  /** Of its first message, as the provider names it. */
  transaction: Schema.NullOr(Schema.String),
  round: Schema.NullOr(Schema.String),
  /** As the vendor wrote it, with its sign; null where the call has none. */
  amount: Schema.NullOr(Schema.String),
  /** HTTP status of the answer. */
  status: Schema.Number,
  /** Why it was refused; null for a good answer. `form` is refused before the wallet is asked. */
  refusal: Schema.NullOr(Schema.String),
  latencyMs: Schema.Number
})
export type ProviderCall = typeof ProviderCall.Type

/** A call as it is noted: its refusal is one of those that there are. */
export interface NotedCall extends ProviderCall {
  readonly refusal: RefusalCode | "form" | null
}

/** Calls of a provider by result, since the start of the nodes. */
const ProviderCallTotals = Schema.Struct({
  /** Epoch milliseconds; null when it did not call. */
  lastCalledAt: Schema.NullOr(Schema.Number),
  /** Refused calls by reason. */
  refusals: Schema.Record(Schema.String, Schema.Number)
})
export type ProviderCallTotals = typeof ProviderCallTotals.Type

/** Channels between nodes; the body is the provider's id. */
const callsChannel = "provider-calls"
const totalsChannel = "provider-call-totals"

const CallsText = Schema.fromJsonString(Schema.Array(ProviderCall))
const TotalsText = Schema.fromJsonString(ProviderCallTotals)
const encodeCalls = Schema.encodeSync(CallsText)
const encodeTotals = Schema.encodeSync(TotalsText)
const decodeCalls = Schema.decodeOption(CallsText)
const decodeTotals = Schema.decodeOption(TotalsText)

/** A node that does not answer in time is left out. */
const askOptions = { isRepeatable: true, timeoutMs: 2000 }

interface RingBuffer {
  readonly calls: Array<NotedCall>
  /** Where the next call goes: the oldest one's place when the ring is full. */
  next: number
  lastCalledAt: number
  readonly refusals: Map<string, number>
}

/** The calls of a ring, the newest first. */
const callsOf = (ring: RingBuffer | undefined): ReadonlyArray<ProviderCall> =>
  ring === undefined ? [] : [...ring.calls.slice(ring.next), ...ring.calls.slice(0, ring.next)].reverse()

const totalsOf = (ring: RingBuffer | undefined): ProviderCallTotals => ({
  lastCalledAt: ring?.lastCalledAt ?? null,
  refusals: Object.fromEntries(ring?.refusals ?? [])
})

const addTotals = (totals: ProviderCallTotals, more: ProviderCallTotals): ProviderCallTotals => {
  const refusals = new Map(Object.entries(totals.refusals))
  for (const [reason, count] of Object.entries(more.refusals)) refusals.set(reason, (refusals.get(reason) ?? 0) + count)
  return {
    lastCalledAt: Math.max(totals.lastCalledAt ?? 0, more.lastCalledAt ?? 0) || null,
    refusals: Object.fromEntries(refusals)
  }
}

/** Notes are made at every call: synchronous, and without a copy. */
export class ProviderCallLog extends Context.Service<ProviderCallLog, {
  readonly note: (providerId: number, call: NotedCall) => void
  /** The last calls of a provider at any node, the newest first. */
  readonly recent: (providerId: number) => Effect.Effect<ReadonlyArray<ProviderCall>>
  /** Totals of all nodes. */
  readonly totals: (providerId: number) => Effect.Effect<ProviderCallTotals>
}>()("pitboss/integrations/ProviderCallLog") {
  static readonly layer = Layer.effect(
    ProviderCallLog,
    Effect.gen(function*() {
      const forwarder = yield* Forwarder
      // Kept: rings. The last calls of vendors. Several nodes: its own; who asks is told those of all nodes.
      // as many rings as there are providers, which staff make
      const rings = new Map<number, RingBuffer>()

      const note = (providerId: number, call: NotedCall): void => {
        let ring = rings.get(providerId)
        if (ring === undefined) {
          rings.set(providerId, ring = { calls: [], next: 0, lastCalledAt: 0, refusals: new Map() })
        }
        ring.calls[ring.next] = call
        ring.next = (ring.next + 1) % keptCalls
        ring.lastCalledAt = Math.max(ring.lastCalledAt, call.at)
        if (call.refusal !== null) ring.refusals.set(call.refusal, (ring.refusals.get(call.refusal) ?? 0) + 1)
      }

      const serve = (channel: string, show: (ring: RingBuffer | undefined) => string) =>
        forwarder.serve(
          channel,
          ({ body }, done) => done({ status: 200, head: "", body: show(rings.get(Number(body))) })
        )
      serve(callsChannel, (ring) => encodeCalls(callsOf(ring)))
      serve(totalsChannel, (ring) => encodeTotals(totalsOf(ring)))

      /** Answers of all nodes; forms of other versions are skipped. */
      const ask = <A>(channel: string, providerId: number, decode: (text: string) => Option.Option<A>) =>
        Effect.map(
          forwarder.sendToAll(channel, { head: "", body: String(providerId) }, askOptions),
          (answers: ReadonlyArray<Answered>) => answers.flatMap(({ body }) => Option.toArray(decode(body)))
        )

      return ProviderCallLog.of({
        note,
        recent: (providerId) =>
          Effect.map(
            ask(callsChannel, providerId, decodeCalls),
            // sorting is stable: those of one node keep their order
            (all) => all.flat().toSorted((a, b) => b.at - a.at).slice(0, keptCalls)
          ),
        totals: (providerId) =>
          Effect.map(
            ask(totalsChannel, providerId, decodeTotals),
            (all) => all.reduce(addTotals, totalsOf(undefined))
          )
      })
    })
  )
}
