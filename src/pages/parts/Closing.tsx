/** Closing of dialogs: the user is asked before input, or a secret shown once, is lost. */
import { Alert, Button, Group, Modal, type ModalProps, Stack, Text } from "@mantine/core"
import { useBlocker } from "@tanstack/react-router"
import { createContext, useContext, useEffect, useRef, useState } from "react"

/** Gives the focus back to the element that had it, when a question that took it is gone. */
const useFocusBack = (): void => {
  const [before] = useState(() => document.activeElement)
  useEffect(() => () => {
    if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
  }, [before])
}

/** Stays on the page, and asks, while Back would take a dialog with what is lost with it. */
export const useBeforeLeaving = (isLost: () => boolean, ask: () => void): void => {
  useBlocker({
    enableBeforeUnload: false,
    shouldBlockFn: () => {
      if (!isLost()) return false
      ask()
      return true
    }
  })
}

/** Question before input is dropped. The focus is on the answer that drops nothing. */
export function DiscardQuestion({ discard, keep }: { readonly discard: () => void; readonly keep: () => void }) {
  useFocusBack()
  return (
    <Alert color="orange" variant="light" title="Discard what you entered?" role="alertdialog">
      <Group mt="xs">
        <Button size="compact-sm" variant="default" onClick={keep} autoFocus>
          Keep editing
        </Button>
        <Button size="compact-sm" color="red" onClick={discard}>Discard</Button>
      </Group>
    </Alert>
  )
}

/** What a value shown once tells its dialog: whether it has been kept, and how it is copied. */
interface Shown {
  readonly isKept: boolean
  /** False where the browser refuses. */
  readonly copy: () => Promise<boolean>
}

const OneTime = createContext<(shown: Shown) => void>(() => undefined)

/** Tells the dialog around that a value is shown that cannot be shown again. */
export const useOneTime = (isKept: boolean, copy: () => Promise<boolean>): void => {
  const tell = useContext(OneTime)
  const copying = useRef(copy)
  copying.current = copy
  useEffect(() => tell({ isKept, copy: () => copying.current() }), [isKept, tell])
}

/** Dialog of a result. With a value shown once it is closed by its button alone, which asks when the value was neither copied nor saved. */
export function ResultDialog(
  { children, close, size, title }: {
    readonly title: string
    readonly close: () => void
    readonly children: React.ReactNode
    readonly size?: ModalProps["size"]
  }
) {
  // undefined: nothing that is shown once
  const [oneTime, setOneTime] = useState<Shown>()
  // false: asked, and answered by staying
  const [isAsking, setAsking] = useState<boolean>()
  const isOneTime = oneTime !== undefined
  const isLost = oneTime?.isKept === false
  useBeforeLeaving(() => isLost, () => setAsking(true))
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      {...(size === undefined ? {} : { size })}
      closeOnEscape={!isOneTime}
      closeOnClickOutside={!isOneTime}
      withCloseButton={!isOneTime}
    >
      <OneTime value={setOneTime}>
        <Stack>
          {children}
          {isAsking === true && isLost
            ? (
              <Alert color="orange" variant="light" title="Not copied yet" role="alertdialog">
                <Text size="sm">Once this is closed, nobody can see it again: a new one would have to be made.</Text>
                <Group mt="xs">
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => setAsking(false)}
                    autoFocus
                  >
                    Back
                  </Button>
                  <Button size="compact-sm" color="red" onClick={close}>Close without a copy</Button>
                </Group>
              </Alert>
            )
            : (
              <Group justify="flex-end">
                <Button
                  {...(isLost ? { variant: "default" } : {})}
                  autoFocus={isAsking === false}
                  onClick={() => isLost ? setAsking(true) : close()}
                >
                  Close
                </Button>
                {isLost && (
                  <Button
                    onClick={() => void oneTime.copy().then((isCopied) => isCopied ? close() : setAsking(false))}
                  >
                    Copy and close
                  </Button>
                )}
              </Group>
            )}
        </Stack>
      </OneTime>
    </Modal>
  )
}
