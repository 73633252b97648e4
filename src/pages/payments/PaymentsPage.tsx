/** Payments: the queue of withdrawals with the reason for waiting and the next step; corrections awaiting approval; payment methods. */
import { Group, Paper, Stack, Tabs } from "@mantine/core"
import { useMemo } from "react"
import { ageText } from "../../domain/Age.ts"
import { type LeftOut, leftOutOf } from "../../domain/payment/BulkSelection.ts"
import { paymentTransitionNames, paymentTransitions } from "../../domain/payment/PaymentTransitions.ts"
import { objectionMessage } from "../../domain/staff/FourEyes.ts"
import { useAddress } from "../app/address.ts"
import type { Row } from "../app/api.ts"
import { useColleagues } from "../app/colleagues.ts"
import { useAnswer } from "../app/queries.ts"
import { useOperatorOf, usePermission } from "../app/session.tsx"
import { ActionButton, rowAction } from "../parts/ActionButton.tsx"
import { type Details, DetailsLink } from "../parts/Beside.tsx"
import type { Bulk } from "../parts/Bulk.tsx"
import { buttonColumn } from "../parts/columns.tsx"
import { Facts } from "../parts/Facts.tsx"
import { formOf } from "../parts/Fields.tsx"
import { filtersOf, List } from "../parts/ListPage.tsx"
import { PageHead } from "../parts/PageHead.tsx"
import { Waiting } from "../parts/Refusal.tsx"
import { ActionsOf, type RowAction, type RowActions } from "../parts/RowMenu.tsx"
import { columnsOf, factsOf } from "../parts/shown.tsx"
import { moneyText, PageLink, Status } from "../parts/Values.tsx"

type Payment = Row<"payment.list">
type Correction = Row<"correction.list">

const filters = filtersOf("payment.list", { id: { label: "Payment id", width: 100 } }, ["id", "status", "type"])

const byTime = { created_at: { ascending: "oldest", descending: "newest" } }
/** Amounts of several currencies have no order. */
const ofOneCurrency = { ...byTime, amount: { descending: "amount" } }

/** Reasons for which a withdrawal waits, as text. */
const waitTexts: Readonly<Record<Payment["waiting_for"][number], string>> = {
  approval: "an approval",
  second_approval: "a second person's approval",
  payout: "to be paid out",
  alert: "an alert that holds it",
  case: "a case that holds it",
  judgement: "the check of the rules"
}

const objectionText = (objection: NonNullable<Payment["objection"]>): string =>
  objection === "second_approver"
    ? "you approved this already. Somebody else has to, too."
    : objectionMessage(objection).replace(/^./, (first) => first.toLowerCase())

function WaitReasons({ payment }: { readonly payment: Payment }) {
  const { held_by_alerts: alerts, objection, waiting_for: reasons } = payment
  if (reasons.length === 0) return <>–</>
  return (
    <div>
      {reasons.map((reason) => <div className="nowrap" key={reason}>{waitTexts[reason]}</div>)}
      {alerts.map((alert) => (
        <div key={alert}>
          <PageLink to={`/alerts?id=${alert}`}>{`Alert ${alert}`}</PageLink>
        </div>
      ))}
      {objection !== null && <div className="aside">Not by you: {objectionText(objection)}</div>}
    </div>
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

const paymentActions: RowActions<Payment> = { nameOf: ({ id }) => `payment ${id}`, of: transitionsOf }

const leftOutTexts: Readonly<Record<LeftOut, string>> = {
  status: "not at this step",
  held: "held by an alert",
  not_judged: "not checked by the rules yet",
  second_person: "for a second person, you approved",
  not_by_you: "not by you"
}

const leftOutText = (action: Parameters<typeof leftOutOf>[0]) => (payment: Payment): string | undefined => {
  const reason = leftOutOf(action, payment)
  return reason === undefined ? undefined : leftOutTexts[reason]
}

const bulk: Bulk<Payment> = {
  noun: ["payment", "payments"],
  nameOf: ({ id }) => `payment ${id}`,
  amountOf: ({ amount, currency }) => ({ amount, currency }),
  actions: [
    {
      action: "payment.approve_many",
      verb: "Approve",
      past: "approved",
      ids: "payments",
      fields: formOf("payment.approve_many"),
      explanation: "They may be paid out then. One that takes two people waits for the second one.",
      leftOut: leftOutText("approve")
    },
    {
      action: "payment.pay_many",
      verb: "Pay",
      past: "paid out",
      ids: "payments",
      fields: formOf("payment.pay_many"),
      explanation: "Says that the money was sent. It leaves the players' reserved funds for good.",
      leftOut: leftOutText("pay")
    },
    {
      action: "payment.reject_many",
      verb: "Reject",
      past: "rejected",
      ids: "payments",
      fields: formOf("payment.reject_many", { reason: { required: true } }),
      explanation: "The players have the money back at once.",
      danger: true,
      leftOut: leftOutText("reject")
    }
  ]
}

const age = (since: string): string => ageText(Date.parse(since), Date.now())

/** What a person looks twice at. */
function Notable({ payment: { is_first_withdrawal: isFirst, open_alerts: alerts, player_id: player } }: {
  readonly payment: Payment
}) {
  if (!isFirst && alerts === 0) return <>–</>
  return (
    <span className="nowrap">
      {isFirst && <Status of="first_withdrawal" />}
      {isFirst && alerts > 0 && " "}
      {alerts > 0 && (
        <PageLink to={`/alerts?status=waiting&player=${player}`}>
          {`${alerts} ${alerts === 1 ? "alert" : "alerts"}`}
        </PageLink>
      )}
    </span>
  )
}

const playerFacts = [
  "player_id",
  "kyc_status",
  "balance",
  ["player_since", { label: "Account", cell: ({ player_since: since }: Payment) => age(since) }],
  ["open_alerts", { label: "To note", cell: (payment: Payment) => <Notable payment={payment} /> }]
] as const

/** Payment beside the list: by its row, or read where it has left the list. */
function PaymentDetails({ id, listed }: { readonly id: number; readonly listed: Payment | undefined }) {
  const query = useAnswer("payment.show", { params: { payment: id } }, { enabled: listed === undefined })
  const { actorOf } = useColleagues()
  const payment = listed ?? query.data?.data
  if (payment?.id !== id) return <Waiting query={query} />
  return (
    <Stack>
      <Paper withBorder p="sm" component="section" aria-label="Player">
        <Facts columns={3} facts={factsOf("payment.list", payment, ...playerFacts)} />
      </Paper>
      <Facts
        columns={3}
        facts={[
          ...factsOf(
            "payment.list",
            payment,
            "type",
            "status",
            "amount",
            "payment_method",
            "operator_id",
            ["created_at", { label: "Requested" }]
          ),
          payment.waiting_for.length > 0 && ["Waits for", <WaitReasons key="waits" payment={payment} />],
          ...factsOf(
            "payment.list",
            payment,
            "external_reference",
            ["bank_name", { label: "Bank" }],
            "info",
            "notes"
          ),
          payment.first_approved_by !== null && ["Approved by", actorOf(payment.first_approved_by)],
          payment.second_approved_by !== null && ["And by", actorOf(payment.second_approved_by)],
          ...(["paid_at", "rejected_at", "cancelled_at"] as const).flatMap((name) =>
            payment[name] === null ? [] : factsOf("payment.list", payment, name)
          ),
          payment.reject_reason !== null && ["Why rejected", payment.reject_reason],
          payment.is_reversed && ["Charged back", "yes"]
        ]}
      />
      <ActionsOf actions={paymentActions} row={payment} />
    </Stack>
  )
}

const details: Details<Payment> = {
  param: "open",
  headingOf: (id) => `Payment ${id}`,
  draw: (id, payment) => <PaymentDetails key={id} id={Number(id)} listed={payment} />
}

const columns = columnsOf(
  "payment.list",
  ["id", { cell: ({ id }) => <DetailsLink param="open" value={id}>{id}</DetailsLink> }],
  ["type", { isAside: true }],
  ["status", { isAside: true }],
  "amount",
  "player_id",
  ["operator_id", { isAside: true }],
  ["kyc_status", { isAside: true }],
  ["balance", { isAside: true }],
  ["payment_method", { isAside: true }],
  ["player_since", { label: "Account", isAside: true, cell: ({ player_since: since }) => age(since) }],
  ["open_alerts", { label: "To note", isAside: true, isLeft: true, cell: (payment) => <Notable payment={payment} /> }],
  ["created_at", { label: "Requested" }],
  ["waiting_for", { label: "Waits for", cell: (payment) => <WaitReasons payment={payment} /> }]
)

/** Columns of the queue, where every row is a withdrawal and what it waits for says its status, and of the list of all payments. */
const queueColumns = columns.filter(({ id }) => id !== "type" && id !== "status")
const ofDecisions = new Set(["kyc_status", "balance", "player_since", "open_alerts"])
const listColumns = columns.filter(({ id }) => !ofDecisions.has(id))

/** The oldest first: who asked first is served first. */
const oldestFirst = { sort: "oldest" }

function Payments() {
  const [search] = useAddress()
  const isQueue = search["status"] === "waiting"
  return (
    <List
      heading="Payments"
      action="payment.list"
      paging="walk"
      filters={filters}
      sorts={search["currency"] === undefined ? byTime : ofOneCurrency}
      columns={isQueue ? queueColumns : listColumns}
      rowActions={paymentActions}
      bulk={bulk}
      details={details}
      {...(isQueue ? { query: oldestFirst } : {})}
      empty="No payments yet. Deposits and withdrawals appear here as players ask for them."
    />
  )
}

const correctionColumnsFor = (actorOf: (label: string) => string) =>
  columnsOf(
    "correction.list",
    "id",
    "status",
    ["amount", { signed: true }],
    "wallet",
    "player_id",
    ["reason", { width: 150 }],
    ["requested_by", { label: "Asked by", cell: ({ requested_by: label }) => actorOf(label) }],
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
  const { actorOf } = useColleagues()
  const correctionColumns = useMemo(() => correctionColumnsFor(actorOf), [actorOf])
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
