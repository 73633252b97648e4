/** Methods of a path, for 405: the router only finds a path with its method. */
import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"

/** A path may hold a provider's transaction id with every byte escaped. */
export const routerConfig = { caseSensitive: true, ignoreDuplicateSlashes: false, maxParamLength: 1024 }

type Path = `/${string}`

export const isPath = (path: string): path is Path => path.startsWith("/")

/** Methods of a path; undefined for an unknown path. */
export type MethodsOf = (url: string) => ReadonlyArray<string> | undefined

/** Collects the methods of an API's paths and of additional read-only paths. */
export const methodsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  readPaths: ReadonlyArray<Path>
): MethodsOf => {
  const methods = new Map<Path, Set<string>>(readPaths.map((path) => [path, new Set(["GET"])]))
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      if (isPath(path)) methods.set(path, (methods.get(path) ?? new Set()).add(method))
    }
  })
  const paths = FindMyWay.make<ReadonlyArray<string>>(routerConfig)
  for (const [path, known] of methods) {
    paths.on("GET", path, known.has("GET") ? [...known, "HEAD"] : [...known])
  }
  return (url) => paths.find("GET", url)?.handler
}
