/** The user's own account: password, second factor, sessions. */
import { Alert, Button, Code, Group, Image, Modal, Stack, Text, TextInput } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useState } from "react"
import { call, type Data } from "../app/api.ts"
import { refetchNouns } from "../app/queries.ts"
import { useOperatorOf, useSession } from "../app/session.tsx"
import { ActionButton } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { ListSection } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { OneTimeValue } from "../parts/OneTimeValue.tsx"
import { Refusal } from "../parts/Refusal.tsx"
import { columnsOf } from "../parts/shown.tsx"
import { Instant, Status } from "../parts/Values.tsx"

const methods = { password: "password", ticket: "link", oidc: "identity provider" } as const

const columns = columnsOf(
  "session.list",
  ["created_at", { label: "Signed in", seconds: true }],
  ["method", { label: "By", cell: ({ method }) => methods[method] }],
  ["last_seen_at", { label: "Last seen" }],
  "address",
  ["user_agent", { label: "Browser", width: 280 }],
  buttonColumn(({ id, is_current: isCurrent }) =>
    isCurrent
      ? <Status of="this session" />
      : <ActionButton action="session.revoke" label="End session" params={{ session: id }} />
  )
)

/** Enrolment: QR code, first code of the device, and the recovery codes, shown once. */
function SecondFactorSteps(
  { close, hold }: {
    readonly close: () => void
    /** Recovery codes are shown: the dialog is closed by its button alone. */
    readonly hold: () => void
  }
) {
  const [begun, setBegun] = useState<Data<"session.second_factor">>()
  const [recovery, setRecovery] = useState<ReadonlyArray<string>>()
  const [code, setCode] = useState("")
  const [error, setError] = useState<Error>()
  const begin = () => void call("session.second_factor").then(({ data }) => setBegun(data), setError)
  const confirm = (event: React.FormEvent) => {
    event.preventDefault()
    call("session.confirm_second_factor", { payload: { code: code.trim() } }).then(({ data }) => {
      setRecovery(data.recovery_codes)
      hold()
      refetchNouns("session")
    }, setError)
  }
  if (recovery !== undefined) {
    return (
      <Stack>
        <Alert color="orange" variant="light" title="Recovery codes: shown now and never again">
          <Text size="sm">
            Each of them works once in place of a code, when the device is lost. Keep them apart from it.
          </Text>
          <Code block mt="xs" data-testid="recovery-codes">{recovery.join("\n")}</Code>
        </Alert>
        <Group justify="flex-end">
          <Button onClick={close}>I have kept them</Button>
        </Group>
      </Stack>
    )
  }
  if (begun === undefined) {
    return (
      <Stack>
        <Text size="sm">You need an authenticator, such as one on a phone. It shows a new code every 30 seconds.</Text>
        {error !== undefined && <Refusal error={error} />}
        <Group justify="flex-end">
          <Button onClick={begin}>Begin</Button>
        </Group>
      </Stack>
    )
  }
  return (
    <form onSubmit={confirm}>
      <Stack>
        <Image
          src={`data:image/svg+xml;utf8,${encodeURIComponent(begun.qr_svg)}`}
          alt="QR code of the second factor"
          w={200}
          h={200}
          mx="auto"
        />
        <Text size="sm">
          Scan it, or type this secret: <Code data-testid="secret">{begun.secret}</Code>
        </Text>
        <TextInput
          label="Code"
          description="The one that the authenticator shows now."
          autoComplete="one-time-code"
          inputMode="numeric"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {error !== undefined && <Refusal error={error} />}
        <Group justify="flex-end">
          <Button type="submit">Confirm</Button>
        </Group>
      </Stack>
    </form>
  )
}

export default function AccountPage() {
  const session = useSession()
  const operatorOf = useOperatorOf()
  const [isHeld, { close: release, open: hold }] = useDisclosure(false)
  const [isOpen, { close, open }] = useDisclosure(false, { onOpen: release })
  if (session === undefined) return <PageHead heading="Account" />
  const { has_password: hasPassword, has_second_factor: hasSecondFactor, staff } = session
  return (
    <Stack>
      <PageHead heading="Account">
        <ActionButton
          action="session.password"
          label={hasPassword ? "Change password" : "Set password"}
          fields={[
            hasPassword && { name: "password", label: "Present password", kind: "password", required: true },
            {
              name: "new_password",
              label: "New password",
              kind: "password",
              required: true,
              description: "12 characters or more."
            }
          ]}
          explanation="Your other sessions end."
          done="Password changed"
        />
        {staff.id !== null && (
          <Button size="compact-sm" variant="default" onClick={open}>
            {hasSecondFactor ? "Replace second factor" : "Set up second factor"}
          </Button>
        )}
        {staff.id !== null && (
          <ActionButton
            action="session.token"
            label="New token"
            explanation="The present token of your account opens nothing from then on. One that an admin issued is in two hands until you replace it."
            danger
            result={({ data }) => <OneTimeValue label="Token" of={{ account: staff.name }} value={data.token} />}
          />
        )}
      </PageHead>
      {!hasSecondFactor && staff.id !== null && (
        <Alert color="orange" variant="light" title="No second factor yet">
          <Text size="sm">Moving money and changing what somebody may do take one.</Text>
        </Alert>
      )}
      <Facts
        facts={[
          ["Name", staff.name],
          ["Role", staff.role],
          ["Operators", staff.operators === null ? "all" : staff.operators.map((id) => operatorOf(id).name).join(", ")],
          ["Second factor", <Status key="second" of={hasSecondFactor ? "active" : "none"} />],
          ["Session ends", <Instant key="ends" at={session.expires_at} seconds={false} />],
          ["Without a request, it ends", <Instant key="idle" at={session.idle_expires_at} seconds={false} />]
        ]}
      />
      <ListSection
        heading="Sessions"
        actions={
          <ActionButton
            action="session.revoke_all"
            label="Sign out everywhere"
            explanation="Ends every session of your account, this one as well."
            danger
            onDone={() => location.assign("/sign-in")}
          />
        }
        action="session.list"
        paging="whole"
        columns={columns}
        empty="No session: a token is in use."
      />
      <Modal
        opened={isOpen}
        onClose={close}
        title="Second factor"
        closeOnEscape={!isHeld}
        closeOnClickOutside={!isHeld}
        withCloseButton={!isHeld}
      >
        <SecondFactorSteps close={close} hold={hold} />
      </Modal>
    </Stack>
  )
}
