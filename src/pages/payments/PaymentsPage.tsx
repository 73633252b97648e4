/** Payments: the queue of withdrawals with the reason for waiting and the next step; corrections awaiting approval; payment methods. */
import { Group, Modal, Stack, Tabs } from "@mantine/core"
import { useMemo } from "react"
import { paymentTransitionNames, paymentTransitions } from "../../domain/payment/PaymentTransitions.ts"
import { objectionMessage } from "../../domain/staff/FourEyes.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, List, PageHead } from "../parts/ListPage.tsx"
import type { RowAction, RowActions } from "../parts/RowMenu.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"
import { moneyText, PageLink } from "../parts/Values.tsx"

type Payment = Row<"payment.list">
type Correction = Row<"correction.list">

const filters = filtersOf("payment.list", { id: { label: "Payment id", width: 100 } })

const byTime = { created_at: { ascending: "oldest", descending: "newest" } }
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
      fields: formOf(`payment.${name}`, { reason: { required: name !== "approve" && name !== "pay" } }),
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
  return (
    <Modal opened onClose={close} title={`Payment ${payment.id}`} size="lg">
      <Facts
        columns={2}
        facts={factsOf(
          "payment.list",
          payment,
          "payment_method",
          "external_reference",
          ["bank_name", { label: "Bank" }],
          "info",
          "notes",
          ["first_approved_by", { label: "Approved by" }],
          ["second_approved_by", { label: "And by" }],
          "paid_at",
          "rejected_at",
          ["reject_reason", { label: "Why rejected" }],
          "cancelled_at",
          ["is_reversed", { label: "Charged back" }]
        )}
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

const columns = columnsOf(
  "payment.list",
  ["id", { to: ({ id }) => `/payments?id=${id}` }],
  "type",
  "status",
  "amount",
  "player_id",
  "operator_id",
  ["created_at", { label: "Requested" }],
  ["waiting_for", { label: "Waits for", cell: (payment) => <WaitReasons payment={payment} /> }]
)

function Payments() {
  const [search] = useAddress()
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

const correctionColumns = columnsOf(
  "correction.list",
  "id",
  "status",
  ["amount", { signed: true }],
  "wallet",
  "player_id",
  ["reason", { width: 150 }],
  ["requested_by", { label: "Asked by" }],
  ["requested_at", { label: "At" }]
)

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
          fields: formOf("correction.reject", { reason: { required: true } }),
          danger: true
        })
      ]
      : []
}

const correctionFilters = filtersOf("correction.list")

const switches = {
  supports_deposit: { label: "Takes deposits", description: "" },
  supports_withdrawal: { label: "Takes withdrawals", description: "" },
  active: { label: "Offered", description: "" }
}

function Methods() {
  const operatorOf = useOperatorOf()
  const columns = useMemo(() =>
    columnsOf(
      "payment_method.list",
      "code",
      "name",
      "operator_id",
      ["supports_deposit", { label: "Deposits" }],
      ["supports_withdrawal", { label: "Withdrawals" }],
      "active",
      buttonColumn((method) => (
        <ActionButton
          action="payment_method.update"
          label="Change method"
          params={{ method: method.id }}
          fields={formOf("payment_method.update", switches, {
            record: method,
            currency: operatorOf(method.operator_id).currency
          })}
          isUpdate
        />
      ))
    ), [operatorOf])
  return (
    <Stack>
      <Group justify="flex-end">
        <ActionButton
          action="payment_method.create"
          label="Add method"
          fields={formOf("payment_method.create", { ...switches, active: false })}
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
