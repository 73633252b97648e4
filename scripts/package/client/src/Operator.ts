/** Client of the operator's API: for servers, since the secret signs for the whole operator. */
import { makeCalls } from "./Calls.ts"
import { type EventFeed, type FollowQuery, makeFeed } from "./Events.ts"
import type { OperatorCalls } from "./generated/Contract.ts"
import { operatorEndpoints } from "./generated/OperatorEndpoints.ts"
import { signingWith } from "./Signing.ts"
import { type CallOptions, type ConnectionOptions, makeSend } from "./Transport.ts"

export interface ClientOptions extends ConnectionOptions {
  /** The public id of the key. */
  readonly key: string
  /** The secret of the key, shown once when it is made. */
  readonly secret: string
}

export type OperatorClient = Omit<OperatorCalls, "events"> & {
  readonly events: OperatorCalls["events"] & {
    /** Events from `cursor` on, as they come: ends with its `signal` only. */
    readonly follow: (query?: FollowQuery, options?: CallOptions) => EventFeed
  }
}

/** Makes a client. Requests are signed anew at each attempt; every POST carries an idempotency key. */
export const createClient = (options: ClientOptions): OperatorClient => {
  const calls = makeCalls<OperatorCalls>(makeSend(options, signingWith(options.key, options.secret)), operatorEndpoints)
  const follow = makeFeed(calls.events.list, options.longestPauseMs)
  return { ...calls, events: { ...calls.events, follow } }
}
