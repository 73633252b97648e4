/** Payments: the queue of withdrawals with the reason for waiting and the next step; corrections awaiting approval; payment methods. */
import { Group, Modal, Stack, Tabs } from "@mantine/core"
import { useMemo } from "react"
import { paymentTransitionNames, paymentTransitions } from "../../domain/payment/PaymentTransitions.ts"
import { objectionMessage } from "../../domain/staff/FourEyes.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useOperatorOf, useOperators, usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { amounts, buttonColumn, playerColumn, useOperatorColumn } from "../parts/columns.tsx"
import type { Column } from "../parts/DataTable.tsx"
import { Facts } from "../parts/Facts.tsx"
import { type Field, filledFrom, operatorField } from "../parts/Fields.tsx"
import { filtersOf, List, PageHead } from "../parts/ListPage.tsx"
import type { RowAction, RowActions } from "../parts/RowMenu.tsx"
import { Clip, Instant, moneyText, PageLink, Status, YesNo } from "../parts/Values.tsx"

type Payment = Row<"payment.list">
type Correction = Row<"correction.list">
type Method = Row<"payment_method.list">

const filters = filtersOf("payment.list", { id: { label: "Payment id", width: 100 } })

const byTime = { created: { ascending: "oldest", descending: "newest" } }
/** Amounts of several currencies have no order. */
const ofOneCurrency = { ...byTime, amount: { descending: "amount" } }

/** Reasons for which a withdrawal waits, as text. */
const waitTexts: Readonly<Record<Payment["waiting_for"][number], string>> = {
  approval: "an approval",
  second_approval: "a second person's approval",
  payout: "to be paid out",
  alert: "an alert that holds the player's withdrawals",
  judgement: "the check of the rules against money laundering"
}

const objectionText = (objection: NonNullable<Payment["objection"]>): string =>
  objection === "second_approver"
    ? "you approved this already. Somebody else has to, too."
    : objectionMessage(objection).replace(/^./, (first) => first.toLowerCase())

function WaitReasons({ payment }: { readonly payment: Payment }) {
  const { held_by_alerts: alerts, objection, waiting_for: reasons } = payment
  if (reasons.length === 0) return <>–</>
  return (
    <>
      <div>{reasons.map((reason) => waitTexts[reason]).join(", ")}</div>
      {alerts.map((alert) => (
        <div key={alert}>
          <PageLink to={`/alerts?id=${alert}`}>{`Alert ${alert}`}</PageLink>
        </div>
      ))}
      {objection !== null && <div className="aside">Not by you: {objectionText(objection)}</div>}
    </>
  )
}

const reason: Field = { name: "reason", label: "Reason", kind: "lines" }

const labels: Readonly<Record<(typeof paymentTransitionNames)[number], string>> = {
  approve: "Approve",
  pay: "Pay",
  reject: "Reject",
  // every dialog already has a button Cancel
  cancel: "Cancel payment",
  chargeback: "Charge back"
}

const explain: Readonly<Record<(typeof paymentTransitionNames)[number], string>> = {
  approve: "The withdrawal may be paid out then. The money stays reserved until it is.",
  pay: "Says that the money was sent. It leaves the player's reserved funds for good.",
  reject: "The player has the money back at once.",
  cancel: "The player has the money back at once. For requests that were a mistake.",
  chargeback: "Takes a paid deposit back out of the player's wallet, which may go below zero."
}

/** Allowed next steps. */
const transitionsOf = (
  { amount, currency, id, is_reversed: isReversed, status, type }: Payment
): ReadonlyArray<RowAction> =>
  paymentTransitionNames.filter((name) =>
    paymentTransitions[name].type === type && paymentTransitions[name].from.includes(status) &&
    !(name === "chargeback" && isReversed)
  ).map((name) =>
    rowAction({
      action: `payment.${name}`,
      label: labels[name],
      params: { payment: id },
      fields: [name === "approve" || name === "pay" ? reason : { ...reason, required: true }],
      explanation: `${type === "deposit" ? "Deposit" : "Withdrawal"} ${id} of ${moneyText(amount, currency)}. ${
        explain[name]
      }`,
      done: `Payment ${id}: ${paymentTransitions[name].past}`,
      danger: name === "reject" || name === "cancel" || name === "chargeback",
      isNext: name === "approve" || name === "pay",
      ...(name === "chargeback" ? { typed: String(id) } : {})
    })
  )

function Details({ close, payment }: { readonly payment: Payment; readonly close: () => void }) {
  const text = (value: string | null) => value ?? "–"
  return (
    <Modal opened onClose={close} title={`Payment ${payment.id}`} size="lg">
      <Facts
        columns={2}
        facts={[
          ["Method", text(payment.payment_method)],
          ["Reference", text(payment.external_reference)],
          ["Bank", text(payment.bank_name)],
          ["Info", text(payment.info)],
          ["Notes", text(payment.notes)],
          ["Approved by", text(payment.first_approved_by)],
          ["And by", text(payment.second_approved_by)],
          ["Paid", <Instant key="paid" at={payment.paid_at} />],
          ["Rejected", <Instant key="rejected" at={payment.rejected_at} />],
          ["Why rejected", text(payment.reject_reason)],
          ["Cancelled", <Instant key="cancelled" at={payment.cancelled_at} />],
          ["Charged back", <YesNo key="reversed" of={payment.is_reversed} />]
        ]}
      />
    </Modal>
  )
}

const paymentActions: RowActions<Payment> = {
  nameOf: ({ id }) => `payment ${id}`,
  of: (payment) => [
    ...transitionsOf(payment),
    { label: "Details", dialog: (close) => <Details payment={payment} close={close} /> }
  ]
}

function Payments() {
  const [search] = useAddress()
  const operatorColumn = useOperatorColumn()
  const columns: ReadonlyArray<Column<Payment>> = useMemo(() => [
    { id: "id", header: "Id", cell: ({ id }) => <PageLink to={`/payments?id=${id}`}>{String(id)}</PageLink> },
    { id: "type", header: "Type", cell: ({ type }) => type },
    { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
    amounts("amount", "Amount", ({ amount }) => amount),
    playerColumn,
    ...operatorColumn,
    { id: "created", header: "Requested", cell: ({ created_at: at }) => <Instant at={at} seconds={false} /> },
    { id: "waits", header: "Waits for", cell: (payment) => <WaitReasons payment={payment} /> }
  ], [operatorColumn])
  return (
    <List
      heading="Payments"
      action="payment.list"
      paging="walk"
      filters={filters}
      sorts={search["currency"] === undefined ? byTime : ofOneCurrency}
      columns={columns}
      rowActions={paymentActions}
      empty="No payments yet. Deposits and withdrawals appear here as players ask for them."
    />
  )
}

const correctionColumns: ReadonlyArray<Column<Correction>> = [
  { id: "id", header: "Id", cell: ({ id }) => id },
  { id: "status", header: "Status", cell: ({ status }) => <Status of={status} /> },
  amounts("amount", "Amount", ({ amount }) => amount, { signed: true }),
  { id: "wallet", header: "Wallet", cell: ({ wallet }) => wallet },
  playerColumn,
  { id: "reason", header: "Reason", cell: ({ reason: text }) => <Clip width={150}>{text}</Clip> },
  { id: "by", header: "Asked by", cell: ({ requested_by: by }) => by },
  { id: "at", header: "At", cell: ({ requested_at: at }) => <Instant at={at} seconds={false} /> }
]

const correctionActions: RowActions<Correction> = {
  nameOf: ({ id }) => `correction ${id}`,
  of: ({ amount, currency, id, player_id: player, status }) =>
    status === "pending"
      ? [
        rowAction({
          action: "correction.approve",
          label: "Approve correction",
          isNext: true,
          params: { correction: id },
          explanation: `Posts ${
            moneyText(amount, currency)
          } to the wallet of player ${player}. It takes somebody else than who asked for it.`
        }),
        rowAction({
          action: "correction.reject",
          label: "Reject correction",
          params: { correction: id },
          fields: [{ ...reason, required: true }],
          danger: true
        })
      ]
      : []
}

const correctionFilters = filtersOf("correction.list")

/** `chosen`: slug currently chosen in the form of a new method. */
const methodFields = (
  operators: ReturnType<typeof useOperators>,
  method?: Method,
  chosen?: unknown
): ReadonlyArray<Field> => {
  const of = operators.find(({ id, slug }) => method === undefined ? slug === chosen : id === method.operator_id)
  const currency = of?.currency ?? operators[0]?.currency ?? "EUR"
  return filledFrom(method, [
    method === undefined && operatorField(operators),
    method === undefined &&
    { name: "code", label: "Code", kind: "text", required: true, description: "As requests name it." },
    { name: "name", label: "Name", kind: "text" },
    { name: "currencies", label: "Currencies", kind: "list", description: "None: all." },
    { name: "supports_deposit", label: "Takes deposits", kind: "switch", initial: true },
    { name: "supports_withdrawal", label: "Takes withdrawals", kind: "switch", initial: true },
    { name: "min_deposit", label: "Smallest deposit", kind: "money", currency },
    { name: "max_deposit", label: "Largest deposit", kind: "money", currency },
    { name: "min_withdrawal", label: "Smallest withdrawal", kind: "money", currency },
    { name: "max_withdrawal", label: "Largest withdrawal", kind: "money", currency },
    method !== undefined && { name: "active", label: "Offered", kind: "switch" }
  ])
}

function Methods() {
  const operators = useOperators()
  const operatorOf = useOperatorOf()
  const columns: ReadonlyArray<Column<Method>> = useMemo(() => [
    { id: "code", header: "Code", value: ({ code }) => code, cell: ({ code }) => code },
    { id: "name", header: "Name", value: ({ name }) => name, cell: ({ name }) => name },
    { id: "operator", header: "Operator", cell: ({ operator_id: id }) => operatorOf(id).name },
    { id: "deposits", header: "Deposits", cell: ({ supports_deposit: takes }) => <YesNo of={takes} /> },
    { id: "withdrawals", header: "Withdrawals", cell: ({ supports_withdrawal: takes }) => <YesNo of={takes} /> },
    { id: "state", header: "State", cell: ({ active }) => <Status of={active ? "active" : "inactive"} /> },
    buttonColumn((method) => (
      <ActionButton
        action="payment_method.update"
        label="Change method"
        params={{ method: method.id }}
        fields={methodFields(operators, method)}
        isUpdate
      />
    ))
  ], [operatorOf, operators])
  return (
    <Stack>
      <Group justify="flex-end">
        <ActionButton
          action="payment_method.create"
          label="Add method"
          fields={(inputs) => methodFields(operators, undefined, inputs["operator"])}
        />
      </Group>
      <List
        heading="Payment methods"
        action="payment_method.list"
        paging="whole"
        columns={columns}
        empty="No methods yet. Players deposit and withdraw by those that an operator offers."
      />
    </Stack>
  )
}

export default function PaymentsPage() {
  const may = usePermission()
  const [search, setSearch] = useAddress()
  return (
    <Stack>
      <PageHead heading="Payments" />
      <Tabs
        value={search["tab"] ?? "payments"}
        onChange={(tab) => setSearch({ tab: tab === "payments" ? undefined : tab ?? undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="sm">
          <Tabs.Tab value="payments">Payments</Tabs.Tab>
          {may("correction.list") && <Tabs.Tab value="corrections">Corrections</Tabs.Tab>}
          {may("payment_method.list") && <Tabs.Tab value="methods">Payment methods</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="payments">
          <Payments />
        </Tabs.Panel>
        <Tabs.Panel value="corrections">
          <List
            heading="Corrections"
            action="correction.list"
            paging="walk"
            filters={correctionFilters}
            columns={correctionColumns}
            rowActions={correctionActions}
            empty="No corrections. Those above an operator's threshold wait here for a second person."
          />
        </Tabs.Panel>
        <Tabs.Panel value="methods">
          <Methods />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}
