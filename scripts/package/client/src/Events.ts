/** Events as they come. */
import type { Event, OperatorCalls } from "./generated/Contract.ts"
import { PitbossError } from "./Errors.ts"
import { type CallOptions, isTransient, pause } from "./Transport.ts"

type List = OperatorCalls["events"]["list"]

/** Filters, and where to begin: without `cursor` with the oldest event that is kept. */
export type FollowQuery = NonNullable<Parameters<List>[0]>

/**
 * Events in their order. Store `cursor` after an event was handled, and begin there after a restart: it lies behind the last page of which every event
 * was handled, so none is missed, and those of the page at hand come again. Its signal ends it behind the event at hand.
 *
 *     const feed = client.events.follow({ cursor: await load() })
 *     for await (const event of feed) {
 *       await handle(event)
 *       await store(feed.cursor)
 *     }
 */
export interface EventFeed extends AsyncIterable<Event> {
  readonly cursor: string | undefined
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

export const makeFeed =
  (list: List, longestPauseMs = 60_000) => (query: FollowQuery = {}, options: CallOptions = {}): EventFeed => {
    const { signal } = options
    let cursor = query.cursor
    async function* events() {
      let failures = 0
      while (!isAborted(signal)) {
        const began = Date.now()
        try {
          const page = await list({ wait: 20, per_page: 100, ...query, cursor }, options)
          failures = 0
          for (const event of page.data) {
            yield event
            // before the cursor moves: the rest of the page was not handled
            if (isAborted(signal) && event !== page.data.at(-1)) return
          }
          const isMoved = cursor !== page.meta.next_cursor
          cursor = page.meta.next_cursor
          // a call that was not held, since as many as the key may have are
          if (!isMoved && Date.now() - began < 1000) await pause(1000, signal)
        } catch (error) {
          if (isAborted(signal)) return
          if (!(error instanceof PitbossError) || !isTransient(error)) throw error
          await pause(Math.min(longestPauseMs, 1000 * 2 ** failures++), signal).catch(() => {})
        }
      }
    }
    return {
      get cursor() {
        return cursor
      },
      [Symbol.asyncIterator]: events
    }
  }
