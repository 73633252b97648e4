/** Actions: a button that opens a dialog with what the action takes, says what it does, and shows why it was refused. */
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
import { readAgain, useChange } from "../app/queries.ts"
import { useMay } from "../app/session.tsx"
import { InTable } from "./DataTable.tsx"
import { type Field, Fields, type Inputs, inputsOf, missingIn, payloadOf } from "./Fields.tsx"
import { Refusal } from "./Refusal.tsx"
import { type RowAction, RowButton } from "./RowMenu.tsx"

/** An action that takes another one back. */
interface Undo {
  readonly action: Action
  readonly request: AnyRequest
}

export interface ActionProps<A extends Action> {
  readonly action: A
  /** The button, the dialog's name and its confirmation. */
  readonly label: string
  readonly params?: Request<A>["params"]
  readonly query?: Request<A>["query"]
  /** What is asked for; as a function, what depends on what stands in the other inputs. */
  readonly fields?: ReadonlyArray<Field> | ((inputs: Inputs) => ReadonlyArray<Field>)
  /** Sent beside the fields. */
  readonly fixed?: Readonly<Record<string, unknown>>
  /** What the payload is made of, where it is not the fields alone. */
  readonly toPayload?: (values: Record<string, unknown>) => Record<string, unknown>
  /** Changes something that is there: what was not touched is not sent. */
  readonly isUpdate?: boolean
  /** What will happen, in a sentence. */
  readonly explanation?: React.ReactNode
  /** What has to be typed before it can be done: for what cannot be taken back. */
  readonly typed?: string
  readonly danger?: boolean
  /** Said when it is done. */
  readonly done?: string
  readonly undo?: Undo | ((answer: Answer<A>) => Undo | undefined)
  /** Shown in the dialog when it is done: what is shown once, such as a secret. Undefined: the dialog closes. */
  readonly result?: (answer: Answer<A>) => React.ReactNode
  readonly onDone?: (answer: Answer<A>) => void
  /** Shown under the fields, from what stands in them. */
  readonly preview?: (values: Record<string, unknown>) => React.ReactNode
  readonly button?: ButtonProps
  readonly size?: "md" | "lg" | "xl"
}

const takeBack = ({ action, request }: Undo): void => {
  void callAny(action, request).then(
    () => {
      readAgain()
      notifications.show({ message: "Taken back" })
    },
    (error: Error) => notifications.show({ color: "red", title: "Not taken back", message: error.message })
  )
}

let announced = 0

const announce = (message: string, undo: Undo | undefined): void => {
  // one of its own each: a message that is shown already would keep the undo of what was done before
  const id = `done-${++announced}`
  notifications.show({
    id,
    autoClose: 10_000,
    message: undo === undefined ? message : (
      <Group justify="space-between">
        {message}
        <Button
          size="compact-xs"
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

/** The dialog of an action. */
function ActionDialog<A extends Action>(
  { close, ...props }: ActionProps<A> & { readonly close: () => void }
) {
  const { action, explanation, fixed, label, result, typed } = props
  const fieldsFor = (inputs: Inputs) => typeof props.fields === "function" ? props.fields(inputs) : props.fields ?? []
  const change = useChange(action)
  const [confirmation, setConfirmation] = useState("")
  const [shown, setShown] = useState<React.ReactNode>()
  const form = useForm<Inputs>({ initialValues: inputsOf(fieldsFor({})) })
  const fields = fieldsFor(form.values)

  const submit = form.onSubmit((inputs) => {
    const missing = missingIn(fields, inputs)
    if (Object.keys(missing).length > 0) return form.setErrors(missing)
    const values = { ...payloadOf(fields, inputs, props.isUpdate ?? false), ...fixed }
    const payload = (props.toPayload ?? ((own) => own))(values)
    const hasPayload = fields.length > 0 || fixed !== undefined || props.toPayload !== undefined
    change.mutate({
      ...(props.params === undefined ? {} : { params: props.params }),
      ...(props.query === undefined ? {} : { query: props.query }),
      ...(hasPayload ? { payload } : {})
    }, {
      onSuccess: (body) => {
        const answer = asAnswer(action, body)
        const undo = typeof props.undo === "function" ? props.undo(answer) : props.undo
        announce(props.done ?? `${label}: done`, undo)
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
    return (
      <Modal opened onClose={close} title={label} size={props.size ?? "md"}>
        <Stack>
          {shown}
          <Group justify="flex-end">
            <Button onClick={close}>Close</Button>
          </Group>
        </Stack>
      </Modal>
    )
  }
  return (
    <Modal
      opened
      // what is asked for is not taken back by closing: its end is waited for
      onClose={() => change.isPending || close()}
      title={label}
      size={props.size ?? "md"}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          {explanation !== undefined && <Text size="sm" component="div">{explanation}</Text>}
          <Fields fields={fields} form={form} />
          {props.preview?.(payloadOf(fields, form.values))}
          {typed !== undefined && (
            <TextInput
              label={`Type ${typed} to confirm`}
              value={confirmation}
              onChange={(event) => setConfirmation(event.currentTarget.value)}
              autoComplete="off"
            />
          )}
          {change.error !== null && <Refusal error={change.error} />}
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

/** The button of an action. Not drawn for who may not take it. */
export function ActionButton<A extends Action>(props: ActionProps<A>) {
  const button = useRef<HTMLButtonElement>(null)
  // the dialog is not kept when it is closed: it cannot give the focus back itself
  const [opened, { close, open }] = useDisclosure(false, {
    onClose: () => button.current?.focus({ preventScroll: true })
  })
  const isInTable = useContext(InTable)
  const may = useMay()
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

/** An action of a row, for the menu of its table. */
export const rowAction = <A extends Action>(
  { isNext, ...props }: ActionProps<A> & { readonly isNext?: boolean }
): RowAction => ({
  label: props.label,
  action: props.action,
  danger: props.danger,
  isNext,
  dialog: (close) => <ActionDialog {...props} close={close} />
})
