/** Entry point of the back-office pages. */
import { MantineProvider } from "@mantine/core"
import "@mantine/core/styles.css"
import "@mantine/notifications/styles.css"
import { Notifications } from "@mantine/notifications"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { installCopying } from "./app/copying.ts"
import { installLocale } from "./app/locale.ts"
import "./app/pages.css"
import { ZoneProvider } from "./app/preferences.tsx"
import { queryClient } from "./app/queries.ts"
import { router } from "./app/router.tsx"
import { theme, variables } from "./app/theme.ts"

const nonce = document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? ""

// read by Mantine's scroll lock, which adds a style of its own
Object.assign(globalThis, { __webpack_nonce__: nonce })

installCopying()
installLocale()

const root = document.getElementById("root")
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <Notifications position="bottom-right" />
        <QueryClientProvider client={queryClient}>
          <ZoneProvider>
            <RouterProvider router={router} />
          </ZoneProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>
  )
}
