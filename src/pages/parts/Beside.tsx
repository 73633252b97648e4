/** Detail panel beside a list that stays visible, so that the next row is one key press away. */
import { Button, CloseButton, Group, Kbd, Stack, Title } from "@mantine/core"
import { useRouter } from "@tanstack/react-router"
import { useEffect, useRef } from "react"

/** Details beside a list. */
export interface Details<R> {
  /** Field of the address with the row's key. */
  readonly param: string
  /** Heading of the details; `row` is undefined for one that the list does not have. */
  readonly headingOf: (key: string, row: R | undefined) => string
  readonly draw: (key: string, row: R | undefined) => React.ReactNode
}

/** Link that opens details beside the list; the address of the link itself opens the page with them. */
export function DetailsLink({ children, param, value }: {
  readonly param: string
  readonly value: string | number
  readonly children: React.ReactNode
}) {
  const { history } = useRouter()
  const follow = (event: React.MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    const { pathname, search } = history.location
    const next = new URLSearchParams(search)
    next.set(param, String(value))
    history.push(`${pathname}?${next.toString()}`)
  }
  return <a className="link mantine-focus-auto" href={`?${param}=${value}`} onClick={follow}>{children}</a>
}

/** What the keys of open details do. Undefined: there is nothing to do. */
export interface Steps {
  readonly close: () => void
  readonly next: (() => void) | undefined
  readonly previous: (() => void) | undefined
  /** Marks the row, and goes on to the next. */
  readonly mark: (() => void) | undefined
  readonly isMarked: boolean
}

/** Keys of the list and its details: `j` and `k` go to the next row and back, `x` marks and goes on, Escape closes. */
export const onStepKey = (event: React.KeyboardEvent, { close, mark, next, previous }: Steps): void => {
  const { target } = event
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || !(target instanceof Element)) return
  // React takes a dialog for a part of what opened it; in a field the keys are letters
  if (!event.currentTarget.contains(target)) return
  if (target.closest("input:not([type=checkbox]), textarea, [contenteditable], [role=menu], [role=dialog]") !== null) {
    return
  }
  const step = event.key === "j" ? next : event.key === "k" ? previous : event.key === "x" ? mark : undefined
  if (event.key === "Escape") close()
  else if (step === undefined) return
  else step()
  event.preventDefault()
}

/** A button without a step is switched off, yet keeps the focus that it may have. */
const unless = (step: (() => void) | undefined) =>
  step === undefined ? { "data-disabled": true, "aria-disabled": true } : { onClick: step }

/** Panel of details. The focus goes to its heading when a person opens it, not with the page. */
export function Beside({ children, heading, steps, takesFocus }: {
  readonly takesFocus: () => boolean
  readonly heading: string
  readonly steps: Steps
  readonly children: React.ReactNode
}) {
  const title = useRef<HTMLHeadingElement>(null)
  const panel = useRef<HTMLElement>(null)
  const mayFocus = useRef(takesFocus)
  useEffect(() => {
    if (mayFocus.current()) title.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => {
    if (panel.current !== null) panel.current.scrollTop = 0
  }, [heading])
  return (
    <aside className="details" aria-label={heading} ref={panel}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Title order={2} size="h4" ref={title} tabIndex={-1} aria-live="polite" style={{ outline: "none" }}>
            {heading}
          </Title>
          <CloseButton aria-label="Close details" onClick={steps.close} />
        </Group>
        <Group gap={6}>
          <Button
            size="compact-sm"
            variant="default"
            {...unless(steps.previous)}
            aria-keyshortcuts="k"
          >
            Previous <Kbd size="xs" ml={6} aria-hidden>k</Kbd>
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            {...unless(steps.next)}
            aria-keyshortcuts="j"
          >
            Next <Kbd size="xs" ml={6} aria-hidden>j</Kbd>
          </Button>
          {steps.mark !== undefined && (
            <Button
              size="compact-sm"
              variant={steps.isMarked ? "light" : "default"}
              onClick={steps.mark}
              aria-keyshortcuts="x"
            >
              {steps.isMarked ? "Selected" : "Select, next"} <Kbd size="xs" ml={6} aria-hidden>x</Kbd>
            </Button>
          )}
        </Group>
        {children}
      </Stack>
    </aside>
  )
}
