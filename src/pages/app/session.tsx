/** Session: the user and their permissions; sign-in and second factor as dialogs, without leaving the page. */
import { Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { createContext, useContext, useEffect, useMemo, useRef, useState } from "react"
import { Refusal } from "../parts/Refusal.tsx"
import { type Action, call, type Data, onInterrupt } from "./api.ts"
import { queryClient, useAnswer } from "./queries.ts"

export type Session = Data<"session.show">

const CurrentSession = createContext<Session | undefined>(undefined)

/** The session; undefined while loading. */
export const useSession = (): Session | undefined => useContext(CurrentSession)

/** Permission of the role by action; other actions are hidden. */
export const usePermission = (): (action: Action) => boolean => {
  const session = useSession()
  return useMemo(() => {
    const actions = new Set(session?.actions)
    return (action) => actions.has(action)
  }, [session])
}

/** Operators visible to the user. */
export const useOperators = (): ReadonlyArray<Data<"operator.list">[number]> => {
  const may = usePermission()
  return useAnswer("operator.list", {}, { enabled: may("operator.list") }).data?.data ?? []
}

/** Whether lists show an operator column: only when the user sees several. */
export const useSeveralOperators = (): boolean => useOperators().length > 1

/** Slug and currency of operators by id. */
export const useOperatorOf = (): (
  id: number | null | undefined
) => { readonly slug: string; readonly name: string; readonly currency: string } => {
  const operators = useOperators()
  return useMemo(() => {
    const byId = new Map(operators.map((operator) => [operator.id, operator]))
    return (id) => byId.get(id ?? 0) ?? { slug: String(id ?? "–"), name: String(id ?? "–"), currency: "EUR" }
  }, [operators])
}

/** Name, password and code. `done` is called with the new session. */
export function SignInForm({ done, name }: { readonly done: () => void; readonly name?: string | undefined }) {
  const [error, setError] = useState<Error>()
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (isDone) done()
  }, [isDone, done])
  const form = useForm({ initialValues: { name: name ?? "", password: "", code: "" } })
  const submit = form.onSubmit(({ code, ...values }) => {
    setBusy(true)
    call("sign_in.create", { payload: { ...values, ...(code.trim() === "" ? {} : { code: code.trim() }) } }).then(
      () => {
        setBusy(false)
        setDone(true)
      },
      (refused: Error) => {
        setBusy(false)
        setError(refused)
      }
    )
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          autoComplete="username"
          {...(name === undefined ? { "data-autofocus": true } : {})}
          {...form.getInputProps("name")}
        />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps("password")} />
        <TextInput
          label="Code"
          description="Of the second factor, or a recovery code. Empty where none is set up."
          autoComplete="one-time-code"
          inputMode="numeric"
          {...form.getInputProps("code")}
        />
        {error !== undefined && <Refusal error={error} />}
        <Button type="submit" loading={isBusy}>Sign in</Button>
      </Stack>
    </form>
  )
}

type Answer = (repeats: boolean) => void

/** One dialog for all calls that wait for it: closing it continues or fails each of them. */
const useGate = () => {
  const waiting = useRef<Array<Answer>>([])
  const [isOpen, setOpen] = useState(false)
  return useMemo(() => ({
    ask: () =>
      new Promise<boolean>((resolve) => {
        waiting.current.push(resolve)
        setOpen(true)
      }),
    close: (repeats: boolean) => {
      setOpen(false)
      for (const answer of waiting.current.splice(0)) answer(repeats)
    },
    isOpen
  }), [isOpen])
}

function StepUp({ close }: { readonly close: (repeats: boolean) => void }) {
  const [code, setCode] = useState("")
  const [error, setError] = useState<Error>()
  const submit = (event: React.FormEvent) => {
    event.preventDefault()
    call("session.step_up", { payload: { code: code.trim() } }).then(() => {
      void queryClient.invalidateQueries({ queryKey: ["session.show"] })
      close(true)
    }, setError)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">This moves money or changes what somebody may do. Enter a code of your second factor.</Text>
        <TextInput
          label="Code"
          data-autofocus
          autoComplete="one-time-code"
          inputMode="numeric"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {error !== undefined && <Refusal error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => close(false)}>Cancel</Button>
          <Button type="submit">Confirm</Button>
        </Group>
      </Stack>
    </form>
  )
}

/** Provides the session, and prompts when it has ended or an action exceeds it. */
export function WithSession({ children }: { readonly children: React.ReactNode }) {
  const session = useAnswer("session.show", {}, { refetchMs: 60_000 })
  const signIn = useGate()
  const stepUp = useGate()
  useEffect(() => onInterrupt({ signIn: signIn.ask, stepUp: stepUp.ask }), [signIn, stepUp])
  const name = session.data?.data.staff.name
  const isLost = session.error !== null && "status" in session.error && session.error.status === 401
  return (
    <CurrentSession value={session.data?.data}>
      {children}
      <Modal
        opened={signIn.isOpen || isLost}
        onClose={() => signIn.close(false)}
        title="Sign in again"
        zIndex={400}
      >
        <Text size="sm" mb="sm">
          Your session has ended. What you were doing is still here, and goes on when you are back.
        </Text>
        <SignInForm
          name={name}
          done={() => {
            const before = session.data?.data.staff.id
            void session.refetch().then(({ data }) => {
              const isSame = before === undefined || data?.data.staff.id === before
              signIn.close(isSame)
              // signed in as another user: pending calls and cached data of the first are dropped
              if (!isSame) location.assign("/")
            })
          }}
        />
      </Modal>
      <Modal opened={stepUp.isOpen} onClose={() => stepUp.close(false)} title="Second factor" zIndex={400}>
        <StepUp close={stepUp.close} />
      </Modal>
    </CurrentSession>
  )
}
