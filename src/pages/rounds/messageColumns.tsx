/** Table columns of provider messages. */
import { messageHref } from "../../domain/MessageHref.ts"
import type { Data } from "../app/api.ts"
import type { Column } from "../parts/DataTable.tsx"
import { columnsOfList } from "../parts/shown.tsx"
import { Clip, Money, PageLink, words } from "../parts/Values.tsx"

export type Message = Data<"round.show">["messages"][number]

/** Link to a message of a provider. */
function MessageLink({ id, provider }: { readonly id: string; readonly provider: string }) {
  return (
    <PageLink to={messageHref(provider, id)}>
      <Clip width={200}>{id}</Clip>
    </PageLink>
  )
}

/** Links a rollback and its target. */
function Related({ message, provider }: { readonly message: Message; readonly provider: string }) {
  const { rolled_back_by: by, target_transaction_id: target } = message
  return (
    <>
      {target !== null && (
        <div>
          {message.kind === "win" ? "Of bet " : "Of "}
          <MessageLink id={target} provider={provider} />
        </div>
      )}
      {by !== null && (
        <div>
          Taken back by <MessageLink id={by} provider={provider} />
        </div>
      )}
      {target === null && by === null && "–"}
    </>
  )
}

/** `provider`: slug. */
export const messageColumns = (
  provider: string,
  currencyOf: (player: number) => string
): ReadonlyArray<Column<Message>> => {
  const money = (id: "amount" | "real_amount" | "bonus_amount", header: string): Column<Message> => ({
    id,
    header,
    align: "right",
    cell: (message) => <Money amount={message[id]} currency={currencyOf(message.player_id)} signed={id !== "amount"} />
  })
  return columnsOfList(
    "round.show",
    "messages",
    ["at", { seconds: true }],
    ["kind", { label: "Message", cell: ({ kind }) => words(kind) }],
    "status",
    ["transaction_id", { label: "Id", cell: ({ transaction_id: id }) => <MessageLink id={id} provider={provider} /> }],
    "player_id",
    money("amount", "As sent"),
    money("real_amount", "Real"),
    money("bonus_amount", "Bonus"),
    { id: "related", header: "Belongs to", cell: (message) => <Related message={message} provider={provider} /> },
    ["entry_ids", { label: "Entries" }],
    ["detail", { width: 160 }]
  )
}
