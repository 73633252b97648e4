/** Routes, made from the list of pages. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet } from "@tanstack/react-router"
import { Refusal } from "../parts/Refusal.tsx"
import { innerPages, pages } from "./pages.ts"
import { Shell } from "./Shell.tsx"

const root = createRootRoute({ component: Outlet })

const framed = createRoute({ getParentRoute: () => root, id: "framed", component: Shell })

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("../session/SignInPage.tsx"))
})

const routeTree = root.addChildren([
  signIn,
  framed.addChildren(
    [...pages, ...innerPages, { path: "$", load: () => import("../session/UnknownPage.tsx") }].map(({ load, path }) =>
      createRoute({ getParentRoute: () => framed, path, component: lazyRouteComponent(load) })
    )
  )
])

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  // plain text: an id of twenty digits must not become a number
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const pairs = Object.entries(search).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]])
    const text = new URLSearchParams(pairs).toString()
    return text === "" ? "" : `?${text}`
  },
  defaultErrorComponent: ({ error }) => <Refusal error={error instanceof Error ? error : new Error(String(error))} />,
  scrollRestoration: true
})
