/** Frame of every page: navigation, palette, account. */
import {
  AppShell,
  Burger,
  Button,
  Divider,
  Group,
  Kbd,
  NavLink,
  Popover,
  ScrollArea,
  Select,
  Text,
  useMantineColorScheme
} from "@mantine/core"
import { useDisclosure, useHotkeys } from "@mantine/hooks"
import { Link, Outlet, useLocation } from "@tanstack/react-router"
import { lazy, Suspense, useEffect, useRef, useState } from "react"
import { call } from "./api.ts"
import { useLive } from "./live.ts"
import { useVisiblePages } from "./visiblePages.ts"
import { ownZone, useTimeZone } from "./preferences.tsx"
import { useAnswer } from "./queries.ts"
import { Count, PageLink } from "../parts/Values.tsx"
import { usePermission, useSession, WithSession } from "./session.tsx"

const Palette = lazy(() => import("./Palette.tsx"))

const groups = ["Play", "Money", "Offers", "Watch", "Setup"] as const

const isWithin = (pathname: string, path: string): boolean =>
  path === "/" ? pathname === "/" : pathname === path || pathname.startsWith(`${path}/`)

/** How much waits behind pages, by address, where it is known. */
const useWaiting = (): Readonly<Record<string, Waiting>> => {
  const may = usePermission()
  const overview = useAnswer("figures.overview", {}, { enabled: may("figures.overview") }).data?.data
  return overview === undefined ? {} : {
    "/payments": overview.pending_withdrawals,
    "/alerts": overview.open_alerts,
    ...(overview.open_cases === null ? {} : { "/cases": overview.open_cases })
  }
}

interface Waiting {
  readonly count: number
  readonly is_lower_bound: boolean
}

/** How much waits, as a link to the list of it. */
function WaitingCount({ close, path, waiting: { count, is_lower_bound: isMore } }: {
  readonly path: string
  readonly waiting: Waiting
  readonly close: () => void
}) {
  return (
    <span className="waiting-count" onClick={close}>
      <PageLink to={`${path}?status=waiting`}>
        <Count of={count} />
        {isMore ? "+" : ""} <span className="visually-hidden">waiting</span>
      </PageLink>
    </span>
  )
}

function Navigation({ close }: { readonly close: () => void }) {
  const visible = useVisiblePages()
  const waiting = useWaiting()
  const { pathname } = useLocation()
  return groups.map((group) => {
    const own = visible.filter((page) => page.group === group)
    return own.length > 0 && (
      <div key={group}>
        <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={4}>{group}</Text>
        {own.map(({ heading, path }) => (
          <div key={path} className="page-link">
            <NavLink
              component={Link}
              to={path}
              label={heading}
              active={isWithin(pathname, path)}
              {...(isWithin(pathname, path) ? { "aria-current": "page" } : {})}
              onClick={close}
              py={5}
            />
            {waiting[path] !== undefined && waiting[path].count > 0 && (
              <WaitingCount path={path} waiting={waiting[path]} close={close} />
            )}
          </div>
        ))}
      </div>
    )
  })
}

const zones = [...new Set([ownZone, "UTC", ...Intl.supportedValuesOf("timeZone")])]

const menuItem = { role: "menuitem", tabIndex: -1, py: 5 } as const
const menuLabel = { size: "xs", fw: 600, c: "dimmed", px: "sm", py: 4 } as const

/** The arrows go round the items of a menu. */
const goByArrows = (event: React.KeyboardEvent<HTMLElement>): void => {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")]
  const place = items.findIndex((item) => item === document.activeElement)
  const next = place === -1 && step === -1 ? items.length - 1 : place + step
  items.at(next % items.length)?.focus()
}

function Account() {
  const session = useSession()
  const [isOpen, { close, toggle }] = useDisclosure(false)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [zone, setZone] = useTimeZone()
  const leave = () => {
    const go = () => location.assign("/sign-in")
    void call("session.end").then(go, go)
  }
  return (
    <Popover
      width={260}
      position="bottom-end"
      trapFocus
      returnFocus
      opened={isOpen}
      onChange={(opens) => opens || close()}
    >
      <Popover.Target>
        <Button variant="default" size="xs" aria-haspopup="dialog" onClick={toggle}>
          {session?.staff.name ?? "…"}
        </Button>
      </Popover.Target>
      {/* a list of time zones is no item of a menu: it stands below it */}
      <Popover.Dropdown p={4} aria-label="Account">
        <div
          role="menu"
          aria-label="Account"
          tabIndex={-1}
          data-autofocus
          style={{ outline: "none" }}
          onKeyDown={goByArrows}
        >
          <Text {...menuLabel}>{session === undefined ? "" : `Role: ${session.staff.role}`}</Text>
          <NavLink
            {...menuItem}
            component={Link}
            to="/account"
            label="Account and second factor"
            active={false}
            onClick={close}
          />
          <Text {...menuLabel}>Colours</Text>
          {(["auto", "light", "dark"] as const).map((scheme) => (
            <NavLink
              {...menuItem}
              key={scheme}
              component="button"
              label={scheme === "auto" ? "As the system" : scheme === "light" ? "Light" : "Dark"}
              onClick={() => setColorScheme(scheme)}
              {...(colorScheme === scheme ? { "aria-current": true, fw: 600 } : {})}
            />
          ))}
          <Divider my={4} />
          <NavLink {...menuItem} component="button" label="Sign out" onClick={leave} />
        </div>
        <Divider my={4} />
        <Select
          px="sm"
          pb="xs"
          label="Times are shown in"
          data={zones}
          searchable
          limit={30}
          value={zone}
          onChange={(chosen) => chosen !== null && setZone(chosen)}
          comboboxProps={{ withinPortal: false }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function Frame() {
  const [isOpen, { close, toggle }] = useDisclosure(false)
  const [hasPalette, setPalette] = useState(false)
  const open = useRef<() => void>(undefined)
  const may = usePermission()
  useLive(may("figures.overview"))
  const openPalette = () => {
    // what it finds opens another page: a dialog would be lost with what was entered in it. The palette itself may still be closing
    if (document.querySelector("[aria-modal]:not([aria-label=Find])") !== null) return
    setPalette(true)
    open.current?.()
  }
  useHotkeys([["mod+K", openPalette]], [])
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  // focus moves to the heading after navigation, for keyboard and screen-reader users
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
  }, [pathname])
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 196, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
            <Text fw={700} component={Link} to="/" c="inherit" td="none">Pitboss</Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Button variant="default" size="xs" onClick={openPalette} aria-keyshortcuts="Control+K">
              Find <Kbd size="xs" ml="xs" aria-hidden>Ctrl K</Kbd>
            </Button>
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <ScrollArea component="nav" aria-label="Pages" viewportProps={{ tabIndex: -1 }}>
          <Navigation close={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} style={{ outline: "none" }}>
        <Outlet />
      </AppShell.Main>
      {hasPalette && (
        <Suspense fallback={null}>
          <Palette opener={open} />
        </Suspense>
      )}
    </AppShell>
  )
}

/** Frame of every page except the sign-in. */
export function Shell() {
  return (
    <WithSession>
      <Frame />
    </WithSession>
  )
}
