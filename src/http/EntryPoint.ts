/** Addresses of the service below which game providers call, and the way from a call to its provider and protocol. */
import type { Effect } from "effect"
import type { Answer, Call } from "../cluster/Forwarder.ts"
import type { Refusal } from "../domain/Refusal.ts"
import type { CallHead, Received, VendorAnswer, WalletCall } from "../protocols/Protocol.ts"

/** A call whose provider was found: its body may be read. */
export interface Admitted<Provider> {
  readonly _tag: "Admitted"
  readonly provider: Provider
  /** Names the provider in the log of failed authentications. */
  readonly name: string
  readonly receive: (body: Buffer) => Received
}

/** A call that is refused before its body is read. */
export interface TurnedAway {
  readonly _tag: "TurnedAway"
  readonly refusal: Refusal
  /** Who the caller claims to be, undefined for nobody; null when there is no such call, whoever makes it. */
  readonly name: string | undefined | null
}

export type Admission<Provider> = Admitted<Provider> | TurnedAway

/** A call as a node of the version before forwards it. */
interface FormerCall<Provider> {
  readonly head: CallHead
  readonly id: string
  readonly body: Buffer
  /** Finds the provider; undefined for an unknown one. */
  readonly admit: Effect.Effect<Admitted<Provider> | undefined, Refusal>
}

/** Form in which nodes of the version before forward calls to each other. */
export interface FormerForm<Provider> {
  /** Channel that calls in this form are sent to. */
  readonly channel: string
  readonly write: (head: CallHead, headers: { readonly [name: string]: string }, id: string, body: Buffer) => Call
  readonly answerOf: (answer: Answer) => VendorAnswer
  readonly served: ReadonlyArray<{
    readonly channel: string
    /** Undefined for a call of another entry point. */
    readonly read: (call: Call, now: number) => FormerCall<Provider> | undefined
    /** Head of the answer to a call. */
    readonly headOf: (answer: VendorAnswer) => string
  }>
}

/** A call at an entry point, whose head was read. */
export interface IncomingCall<Provider> {
  /** Label in metrics and logs. */
  readonly route: string
  /** Decided from memory, or by a look-up of the provider. */
  readonly admission: Admission<Provider> | Effect.Effect<Admission<Provider>, Refusal>
  /** Answers the call where it is refused before its body is read. */
  readonly refuse: (refusal: Refusal) => VendorAnswer
}

/** An address of the service below which providers call, and the way from a call to its provider and protocol. */
export interface EntryPoint<Provider> {
  /** Every request whose target begins with it is this entry point's. */
  readonly path: string
  readonly open: (head: CallHead) => IncomingCall<Provider>
  /** Name of a call in traces. */
  readonly spanOf: (route: string, call: WalletCall) => string
  readonly formerForm: FormerForm<Provider>
}

/** A call with its entry point. */
export interface OpenedCall<Provider> {
  readonly entry: EntryPoint<Provider>
  readonly head: CallHead
  readonly incoming: IncomingCall<Provider>
}

export const openCall = <Provider>(entry: EntryPoint<Provider>, head: CallHead): OpenedCall<Provider> => ({
  entry,
  head,
  incoming: entry.open(head)
})
