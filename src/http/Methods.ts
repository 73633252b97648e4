/**
 * Finds the route of a request target as the router reads it: escapes decoded, a trailing slash ignored. The router itself matches a path only
 * together with its method, and only after the outermost middleware has run.
 */
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

export const routerConfig = { caseSensitive: true, ignoreDuplicateSlashes: false, maxParamLength: 1024 }

type Path = `/${string}`

export const isPath = (path: string): path is Path => path.startsWith("/")

/** A known path. */
interface KnownRoute {
  /** Template of the path; of an unknown path below an audience's own, that path with `*`. */
  readonly path: string
  /** Empty for an unknown path. */
  readonly methods: ReadonlyArray<string>
}

/** Route of a target; undefined for an unknown path. What depends on a path asks here, or the matched route, never the target's text. */
export type RouteOf = (url: string) => KnownRoute | undefined

/** Paths of players, whose pages are of other origins. */
export const playerPaths = "/api/v1/player/" as const

/** Collects the routes of an API and of additional read-only paths. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  readPaths: ReadonlyArray<Path>
): RouteOf => {
  const methods = new Map<Path, Set<string>>(readPaths.map((path) => [path, new Set(["GET"])]))
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      if (isPath(path)) methods.set(path, (methods.get(path) ?? new Set()).add(method))
    }
  })
  const paths = FindMyWay.make<KnownRoute>(routerConfig)
  for (const [path, known] of methods) {
    paths.on("GET", path, { path, methods: known.has("GET") ? [...known, "HEAD"] : [...known] })
  }
  const unknown = { path: `${playerPaths}*`, methods: [] } as const
  paths.on("GET", unknown.path, unknown)
  // the router does not read broken escapes and long names; nothing is there, and its beginning says for whom
  return (url) => paths.find("GET", url)?.handler ?? (url.startsWith(playerPaths) ? unknown : undefined)
}
