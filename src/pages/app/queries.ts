/** Answers of the staff API as queries: cached by action and request, read again after every change. */
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

/** How long an answer is shown without being asked for again. */
const freshMs = 5_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMs,
      retry: (count, error) =>
        count < 2 && error instanceof Refused && (error.code === "TRY_AGAIN" || error.status === 0)
    }
  }
})

/** Parts of a list that are read again at once. Those after them are read as one comes to them. */
const partsAgain = 20

/** Reads all answers of the named nouns again; of all nouns without names. Of a long list its beginning, which it is cut to. */
export const readAgain = (...nouns: ReadonlyArray<string>): void => {
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

/** The answer of a reading action. `refetchMs`: reads it again so often while it is shown. */
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

/** How a list is continued: by `cursor` (`walk`: from an empty one), by `page`, or not at all. */
export type Paging = "walk" | "cursor" | "page" | "whole"

interface ListAnswer {
  readonly data: ReadonlyArray<unknown>
  readonly meta?: {
    readonly next_cursor?: string | null
    readonly current_page?: number
    readonly last_page?: number
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
  page: { page: 1, per_page: rowsAtATime },
  whole: {}
}

const nextOf = (paging: Paging, { meta }: ListAnswer): object | undefined => {
  if (paging === "page") {
    return meta?.current_page !== undefined && meta.current_page < (meta.last_page ?? 0)
      ? { page: meta.current_page + 1, per_page: rowsAtATime }
      : undefined
  }
  const cursor = meta?.next_cursor
  return paging === "whole" || cursor === undefined || cursor === null ? undefined : { ...firstOf[paging], cursor }
}

/** The rows of a list, read part by part. */
export const useRows = (action: Action, request: AnyRequest, paging: Paging) =>
  useInfiniteQuery({
    queryKey: [action, request, "rows"],
    queryFn: async ({ pageParam, signal }) =>
      listed(await callAny(action, { ...request, query: { ...request.query, ...pageParam } }, signal)),
    initialPageParam: firstOf[paging],
    getNextPageParam: (last) => nextOf(paging, last),
    // many parts would be read at each return to the window
    refetchOnWindowFocus: false,
    placeholderData: keepPreviousData
  })

/** Rows of a part of {@link useStretch}; at most 100. */
const rowsOfPart = 100

/** A stretch of a list of known length. */
export interface Stretch {
  /** Length of the list; undefined while it is looked up. */
  readonly total: number | undefined
  /** The row at an index; undefined until it is read. */
  readonly rowAt: (index: number) => unknown
  readonly error: Error | null
  readonly refetch: () => void
}

/**
 * The rows of a paged list between two indexes, wherever they are in it: parts near them are read, others are not. When the list has grown, the
 * parts are read again, so that all that is shown is of one moment.
 */
export const useStretch = (action: Action, request: AnyRequest, from: number, to: number): Stretch => {
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

/** A change. What is shown is read again when it is done. */
export const useChange = (action: Action) =>
  useMutation<unknown, Error, AnyRequest>({
    mutationFn: (request) => callAny(action, request),
    onSuccess: () => readAgain()
  })
