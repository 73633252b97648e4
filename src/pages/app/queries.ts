/** Staff API queries: cached by action and request, refetched after every change. */
import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery
} from "@tanstack/react-query"
import { type Action, type Answer, type AnyRequest, call, callAny, Refused, type Request } from "./api.ts"

/** Time for which an answer is not refetched. */
const freshMs = 5_000

export const queryClient = new QueryClient({
  defaultOptions: {
    // without a network a query or a change fails with words. TanStack would pause both, and send the change whenever the network is back
    mutations: { networkMode: "always", retry: false },
    queries: {
      networkMode: "always",
      refetchOnReconnect: true,
      staleTime: freshMs,
      retry: (count, error) =>
        count < 2 && error instanceof Refused && (error.code === "TRY_AGAIN" || error.code === "UNREACHABLE")
    }
  }
})

/** Maximum parts of a list refetched at once. Later ones are loaded on scrolling. */
const partsAgain = 20

/** Refetches all answers of the nouns, or of all nouns when none are given. A long list is truncated to its beginning. */
export const refetchNouns = (...nouns: ReadonlyArray<string>): void => {
  const predicate = ({ queryKey: [action] }: { readonly queryKey: ReadonlyArray<unknown> }): boolean =>
    nouns.length === 0 || nouns.some((noun) => String(action).startsWith(`${noun}.`))
  queryClient.setQueriesData<InfiniteData<ListAnswer>>(
    { predicate: (query) => predicate(query) && query.queryKey[2] === "rows" },
    (list) =>
      list === undefined || list.pages.length <= partsAgain ? list : {
        pages: list.pages.slice(0, partsAgain),
        pageParams: list.pageParams.slice(0, partsAgain)
      }
  )
  void queryClient.invalidateQueries({ predicate })
}

/** Answer of a reading action. `refetchMs`: refetch interval while shown. */
export const useAnswer = <A extends Action>(
  action: A,
  request: Request<A> = {},
  options: { readonly enabled?: boolean; readonly refetchMs?: number } = {}
) =>
  useQuery<Answer<A>, Error>({
    queryKey: [action, request],
    queryFn: ({ signal }) => call(action, request, signal),
    enabled: options.enabled ?? true,
    ...(options.refetchMs === undefined ? {} : { refetchInterval: options.refetchMs }),
    placeholderData: keepPreviousData
  })

/** Pagination of a list: by `cursor` with a `limit`, by `cursor` with `per_page` (`walk`), or none. */
export type Paging = "walk" | "cursor" | "whole"

interface ListAnswer {
  readonly data: ReadonlyArray<unknown>
  readonly meta?: {
    readonly next_cursor?: string | null
    readonly total?: number
    readonly total_is_lower_bound?: boolean
  }
}

const isListAnswer = (body: unknown): body is ListAnswer =>
  typeof body === "object" && body !== null && "data" in body && Array.isArray(body.data)

const listed = (body: unknown): ListAnswer => isListAnswer(body) ? body : { data: [] }

const rowsAtATime = 100

const firstOf: Readonly<Record<Paging, object>> = {
  walk: { cursor: "", per_page: rowsAtATime },
  cursor: { limit: rowsAtATime },
  whole: {}
}

const nextOf = (paging: Paging, { meta }: ListAnswer): object | undefined => {
  const cursor = meta?.next_cursor
  return paging === "whole" || cursor === undefined || cursor === null ? undefined : { ...firstOf[paging], cursor }
}

/** Rows of a list, loaded part by part. */
export const useRows = (action: Action, request: AnyRequest, paging: Paging) =>
  useInfiniteQuery({
    queryKey: [action, request, "rows"],
    queryFn: async ({ pageParam, signal }) =>
      listed(await callAny(action, { ...request, query: { ...request.query, ...pageParam } }, signal)),
    initialPageParam: firstOf[paging],
    getNextPageParam: (last) => nextOf(paging, last),
    // every return to the window would refetch many parts
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData
  })

/** Rows per part of {@link useRowWindow}; at most 100. */
const rowsOfPart = 100

/** Window of a list of known length. */
export interface RowWindow {
  /** Length of the list; undefined while loading. */
  readonly total: number | undefined
  /** Row at an index; undefined while loading. */
  readonly rowAt: (index: number) => unknown
  readonly error: Error | null
  readonly refetch: () => void
}

/**
 * Rows of a paged list between two indexes: only the parts near them are loaded. When the list has grown, the parts are refetched, so that all
 * visible rows are of the same state.
 */
export const useRowWindow = (action: Action, request: AnyRequest, from: number, to: number): RowWindow => {
  const read = async (page: number, signal: AbortSignal) =>
    listed(await callAny(action, { ...request, query: { ...request.query, page, per_page: rowsOfPart } }, signal))
  const first = useQuery({
    queryKey: [action, request, "first"],
    queryFn: ({ signal }) => read(1, signal),
    placeholderData: keepPreviousData
  })
  const total = first.data?.meta?.total
  const firstPart = Math.floor(from / rowsOfPart)
  const count = total === undefined || total === 0
    ? 0
    : Math.floor(Math.min(to, total - 1) / rowsOfPart) - firstPart + 1
  const parts = useQueries({
    queries: Array.from({ length: Math.max(0, count) }, (_, index) => ({
      queryKey: [action, request, "part", firstPart + index, total],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const part = await read(firstPart + index + 1, signal)
        if (part.meta?.total !== total) void first.refetch()
        return part
      },
      enabled: !first.isPlaceholderData,
      staleTime: Infinity
    }))
  })
  return {
    total,
    rowAt: (index) => parts[Math.floor(index / rowsOfPart) - firstPart]?.data?.data[index % rowsOfPart],
    error: first.error ?? parts.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      void first.refetch()
      for (const part of parts) if (part.isError) void part.refetch()
    }
  }
}

/** Mutation. Visible queries are refetched on completion. */
export const useChange = (action: Action) =>
  useMutation<unknown, Error, AnyRequest>({
    mutationFn: (request) => callAny(action, request),
    onSuccess: () => refetchNouns()
  })
