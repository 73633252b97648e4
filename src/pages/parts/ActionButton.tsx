/** Action button: opens a dialog with the action's fields and explanation, and shows a refusal in it. */
import { Button, type ButtonProps, Group, Modal, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useDisclosure } from "@mantine/hooks"
import { notifications } from "@mantine/notifications"
import { useContext, useRef, useState } from "react"
import {
  type Action,
  type Answer,
  type AnyRequest,
  asAnswer,
  callAny,
  fieldMessages,
  Refused,
  type Request
} from "../app/api.ts"
import { useTimeZone } from "../app/preferences.tsx"
import { refetchNouns, useChange } from "../app/queries.ts"
import { useOperators, usePermission } from "../app/session.tsx"
import { DiscardQuestion, ResultDialog, useBeforeLeaving } from "./Closing.tsx"
import { InTable } from "./DataTable.tsx"
import { type FieldList, Fields, type Inputs, inputsOf, payloadOf, problemsIn, settledFields } from "./Fields.tsx"
import { Refusal } from "./Refusal.tsx"
import { type RowAction, RowButton } from "./RowMenu.tsx"

/** Action that reverses another one. */
interface Undo {
  readonly action: Action
  readonly request: AnyRequest
}

export interface ActionProps<A extends Action> {
  readonly action: A
  /** Label of the button, the dialog and its confirmation. */
  readonly label: string
  readonly params?: Request<A>["params"]
  readonly query?: Request<A>["query"]
  /** Fields of the form; as a function, depending on the other inputs. */
  readonly fields?: FieldList | ((inputs: Inputs) => FieldList)
  /** Constant values added to the fields. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** Converts the fields to the payload, if different. */
  readonly toPayload?: (values: Record<string, unknown>) => Record<string, unknown>
  /** Update of an existing resource: only changed fields are sent. */
  readonly isUpdate?: boolean
  /** Effect of the action, in a sentence. */
  readonly explanation?: React.ReactNode
  /** Text to type for confirmation of an irreversible action. */
  readonly typed?: string
  readonly danger?: boolean
  /** Sent under an idempotency key: confirmed again after an answer was lost, it happens once. */
  readonly isOnce?: boolean
  /** Message on completion; as a function, undefined where nothing came of it. */
  readonly done?: string | ((answer: Answer<A>) => string | undefined)
  /** As a function, of the payload that was sent too. */
  readonly undo?: Undo | ((answer: Answer<A>, sent: Record<string, unknown>) => Undo | undefined)
  /** Shown in the dialog on completion: values shown once, such as a secret. Undefined closes the dialog. */
  readonly result?: (answer: Answer<A>) => React.ReactNode
  readonly onDone?: (answer: Answer<A>) => void
  /** Shown below the fields, depending on their values. */
  readonly preview?: (values: Record<string, unknown>) => React.ReactNode
  readonly button?: ButtonProps
  readonly size?: "md" | "lg" | "xl"
}

const takeBack = ({ action, request }: Undo): void => {
  void callAny(action, request).then(
    () => {
      refetchNouns()
      notifications.show({ message: "Taken back" })
    },
    (error: Error) => notifications.show({ color: "red", title: "Not taken back", message: error.message })
  )
}

let announced = 0

const announce = (message: string, undo: Undo | undefined): void => {
  // unique: reusing a visible message would keep the undo of the earlier action
  const id = `done-${++announced}`
  notifications.show({
    id,
    autoClose: 10_000,
    message: undo === undefined ? message : (
      <Group justify="space-between">
        {message}
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            notifications.hide(id)
            takeBack(undo)
          }}
        >
          Undo
        </Button>
      </Group>
    )
  })
}

/** Idempotency keys of a dialog: one for each request, the same when it is sent again. */
const useIdempotencyKey = (): (request: string) => string => {
  const last = useRef({ request: "", key: "" })
  return (request) => {
    if (last.current.key === "" || last.current.request !== request) {
      last.current = { request, key: [...crypto.getRandomValues(new Uint32Array(4))].join("-") }
    }
    return last.current.key
  }
}

/** Dialog of an action, on the record as it was when the dialog was opened. */
function ActionDialog<A extends Action>(
  { close, ...current }: ActionProps<A> & { readonly close: () => void }
) {
  // else a field that a colleague changes meanwhile would be sent back as it was, and another record at this address acted on
  const [props] = useState(current)
  const { action, explanation, fixed, label, result, typed } = props
  const operators = useOperators()
  const [zone] = useTimeZone()
  const fieldsFor = (given: ActionProps<A>["fields"] = [], inputs: Inputs) => {
    const fields = typeof given === "function" ? given(inputs) : given
    return settledFields(fields.filter((field) => field !== false), inputs, operators, zone)
  }
  const change = useChange(action)
  const [confirmation, setConfirmation] = useState("")
  const [shown, setShown] = useState<React.ReactNode>()
  const [isAsking, setAsking] = useState(false)
  const keyOf = useIdempotencyKey()
  const form = useForm<Inputs>({ initialValues: inputsOf(fieldsFor(props.fields, {})) })
  // what there is to choose from may be loaded after the opening
  const fields = fieldsFor(current.fields, form.values)
  const isFilled = form.isDirty() || confirmation !== ""
  // an action that is done may open another page
  const isDone = useRef(false)
  useBeforeLeaving(() => !isDone.current && (change.isPending || isFilled), () => setAsking(isFilled))

  const submit = form.onSubmit((inputs) => {
    const sent = props.isUpdate === true ? fieldsFor(props.fields, inputs) : fields
    const problems = problemsIn(sent, inputs)
    if (Object.keys(problems).length > 0) return form.setErrors(problems)
    const values = { ...payloadOf(sent, inputs, props.isUpdate ?? false), ...fixed }
    const payload = (props.toPayload ?? ((own) => own))(values)
    const hasPayload = sent.length > 0 || fixed !== undefined || props.toPayload !== undefined
    change.mutate({
      ...(props.isOnce === true ? { idempotencyKey: keyOf(JSON.stringify(payload)) } : {}),
      ...(props.params === undefined ? {} : { params: props.params }),
      ...(props.query === undefined ? {} : { query: props.query }),
      ...(hasPayload ? { payload } : {})
    }, {
      onSuccess: (body) => {
        isDone.current = true
        const answer = asAnswer(action, body)
        const undo = typeof props.undo === "function" ? props.undo(answer, payload) : props.undo
        const message = typeof props.done === "function" ? props.done(answer) : props.done ?? `${label}: done`
        if (message !== undefined) announce(message, undo)
        props.onDone?.(answer)
        const after = result?.(answer)
        if (after === undefined) close()
        else setShown(after)
      },
      onError: (error) => {
        if (error instanceof Refused) form.setErrors(fieldMessages(error))
      }
    })
  })

  if (shown !== undefined) {
    return <ResultDialog close={close} title={label} size={props.size ?? "md"}>{shown}</ResultDialog>
  }
  return (
    <Modal
      opened
      // closing does not cancel a running request: wait for it. A second Escape takes back the first
      onClose={() => change.isPending || (isFilled ? setAsking((asking) => !asking) : close())}
      title={label}
      size={props.size ?? "md"}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          {explanation !== undefined && <Text size="sm" component="div">{explanation}</Text>}
          <Fields fields={fields} form={form} />
          {current.preview?.(payloadOf(fields, form.values))}
          {typed !== undefined && (
            <TextInput
              label={`Type ${typed} to confirm`}
              value={confirmation}
              onChange={(event) => setConfirmation(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
          {change.error !== null && <Refusal error={change.error} />}
          {isAsking && <DiscardQuestion discard={close} keep={() => setAsking(false)} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} disabled={change.isPending}>Cancel</Button>
            <Button
              type="submit"
              loading={change.isPending}
              disabled={typed !== undefined && confirmation !== typed}
              {...(props.danger === true ? { color: "red" } : {})}
            >
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

/** Button of an action. Hidden without permission. */
export function ActionButton<A extends Action>(props: ActionProps<A>) {
  const button = useRef<HTMLButtonElement>(null)
  // the dialog is unmounted on closing: it cannot restore the focus itself
  const [opened, { close, open }] = useDisclosure(false, {
    onClose: () => button.current?.focus({ preventScroll: true })
  })
  const isInTable = useContext(InTable)
  const may = usePermission()
  if (!may(props.action)) return null
  return (
    <>
      {isInTable ? <RowButton ref={button} danger={props.danger} onClick={open}>{props.label}</RowButton> : (
        <Button
          ref={button}
          size="compact-sm"
          variant="default"
          {...(props.danger === true ? { c: "var(--mantine-color-error)" } : {})}
          {...props.button}
          onClick={open}
        >
          {props.label}
        </Button>
      )}
      {opened && <ActionDialog {...props} close={close} />}
    </>
  )
}

/** Action of a row, for the menu of its table. */
export const rowAction = <A extends Action>(
  { isNext, ...props }: ActionProps<A> & { readonly isNext?: boolean }
): RowAction => ({
  label: props.label,
  action: props.action,
  danger: props.danger,
  isNext,
  dialog: (close) => <ActionDialog {...props} close={close} />
})
