/** Entry points for game provider calls: the path below which a provider calls, and the look-up of a call's provider and protocol. */
import type { Effect } from "effect"
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
