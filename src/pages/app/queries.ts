/** Answers of the staff API as queries: cached by action and request, read again after every change. */
import { keepPreviousData, QueryClient, useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query"
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

/** Reads all answers of the named nouns again; of all nouns without names. */
export const readAgain = (...nouns: ReadonlyArray<string>): void => {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [action] }) =>
      nouns.length === 0 || nouns.some((noun) => String(action).startsWith(`${noun}.`))
  })
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

const rowsAtATime = 50

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
    placeholderData: keepPreviousData
  })

/** A change. What is shown is read again when it is done. */
export const useChange = (action: Action) =>
  useMutation<unknown, Error, AnyRequest>({
    mutationFn: (request) => callAny(action, request),
    onSuccess: () => readAgain()
  })
