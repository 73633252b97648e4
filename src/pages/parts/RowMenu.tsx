/** Actions of table rows: the next step as a button, the others in one menu per table, created when opened. */
import { Button, Group, Menu } from "@mantine/core"
import { useMemo, useRef, useState } from "react"
import type { Action } from "../app/api.ts"
import { usePermission } from "../app/session.tsx"

/**
 * Menu item. `action`: hidden when the role may not take it; absent for all roles. `dialog`: the dialog that it opens. `isNext`: the next step of the
 * row, with a button of its own beside the menu; of several, the first.
 */
export interface RowAction {
  readonly label: string
  readonly action?: Action
  readonly danger?: boolean | undefined
  readonly isNext?: boolean | undefined
  readonly dialog: (close: () => void) => React.ReactElement
}

/** `nameOf`: accessible name of a row, used by its button and menu: `payment 12`. */
export interface RowActions<R> {
  readonly nameOf: (row: R) => string
  readonly of: (row: R) => ReadonlyArray<RowAction>
}

/** Three dots, drawn: not every font has them. */
function Dots() {
  return (
    <svg width="14" height="4" viewBox="0 0 14 4" fill="currentColor" aria-hidden>
      <circle cx="2" cy="2" r="1.5" />
      <circle cx="7" cy="2" r="1.5" />
      <circle cx="12" cy="2" r="1.5" />
    </svg>
  )
}

/** Button in a row: a plain element, since a list renders hundreds of them. */
export function RowButton(
  { danger, ...props }: React.ComponentProps<"button"> & { readonly danger?: boolean | undefined }
) {
  return <button type="button" className="row-button mantine-focus-auto" data-danger={danger} {...props} />
}

interface Opened {
  readonly button: HTMLButtonElement
  readonly name: string
  readonly items: ReadonlyArray<RowAction>
  readonly chosen?: RowAction
}

/** Menu of the button that opened it. A second button covers that one, indicates that the menu is open, and closes it. */
function RowMenu(
  { choose, close, opened: { button, items, name } }: {
    readonly opened: Opened
    readonly choose: (item: RowAction) => void
    readonly close: () => void
  }
) {
  const [place] = useState(() => {
    const { height, left, top, width } = button.getBoundingClientRect()
    const frame = button.closest(".table-frame")?.getBoundingClientRect() ?? new DOMRect()
    return { position: "absolute", height, width, left: left - frame.left, top: top - frame.top } as const
  })
  return (
    <Menu
      opened
      onChange={close}
      position="bottom-end"
      closeOnItemClick={false}
      menuItemTabIndex={0}
      transitionProps={{ duration: 0 }}
      withInitialFocusPlaceholder={false}
      withinPortal={false}
    >
      <Menu.Target>
        <RowButton style={place} tabIndex={-1} aria-label={`Actions of ${name}`}>
          <Dots />
        </RowButton>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map((item) => (
          <Menu.Item
            key={item.label}
            onClick={() => choose(item)}
            {...(item.danger === true ? { c: "var(--mantine-color-error)" } : {})}
          >
            {item.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** All actions of one row as buttons, beside its details. */
export function ActionsOf<R extends object>({ actions, row }: { readonly actions: RowActions<R>; readonly row: R }) {
  const may = usePermission()
  const [dialog, setDialog] = useState<React.ReactNode>()
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setDialog(undefined)
    button.current?.focus({ preventScroll: true })
  }
  return (
    <Group gap="xs">
      {actions.of(row).filter(({ action }) => action === undefined || may(action)).map((item) => (
        <Button
          key={item.label}
          size="compact-sm"
          variant={item.isNext === true ? "filled" : "default"}
          {...(item.danger === true ? { c: "var(--mantine-color-error)" } : {})}
          onClick={({ currentTarget }) => {
            button.current = currentTarget
            setDialog(item.dialog(close))
          }}
        >
          {item.label}
        </Button>
      ))}
      {dialog}
    </Group>
  )
}

/** Buttons of a row, and the open menu or dialog. The focus returns to the button of the row. */
export const useRowMenu = <R extends object>(
  actions: RowActions<R> | undefined
): { readonly buttons: ((row: R) => React.ReactNode) | undefined; readonly menu: React.ReactNode } => {
  const may = usePermission()
  const [opened, setOpened] = useState<Opened>()
  const buttons = useMemo(() =>
    actions && ((row: R) => {
      const name = actions.nameOf(row)
      const items = actions.of(row).filter(({ action }) => action === undefined || may(action))
      const [only, ...others] = items
      // a menu of one harmless action is a detour
      const isAlone = others.length === 0 && only?.danger !== true
      const next = items.find(({ isNext }) => isNext === true) ?? (isAlone ? only : undefined)
      const rest = items.filter((item) => item !== next)
      return (
        <>
          {/* one element for every next step, so that the focus is on the following one afterwards */}
          {next !== undefined && (
            <RowButton
              onClick={({ currentTarget: button }) => setOpened({ button, name, items, chosen: next })}
            >
              {next.label}
            </RowButton>
          )}
          {rest.length > 0 && (
            <RowButton
              aria-haspopup="menu"
              aria-label={`Actions of ${name}`}
              onClick={({ currentTarget: button }) => {
                // the focus stays on it while the table scrolls away below: a menu of what is out of sight is hidden
                button.scrollIntoView({ block: "nearest", inline: "nearest" })
                setOpened({ button, name, items: rest })
              }}
            >
              <Dots />
            </RowButton>
          )}
        </>
      )
    }), [actions, may])
  if (opened === undefined) return { buttons, menu: null }
  const close = () => {
    setOpened(undefined)
    opened.button.focus({ preventScroll: true })
  }
  return {
    buttons,
    menu: opened.chosen === undefined
      ? (
        <RowMenu
          key={opened.name}
          opened={opened}
          close={close}
          choose={(chosen) => setOpened({ ...opened, chosen })}
        />
      )
      : opened.chosen.dialog(close)
  }
}
