/** Staff API handler for the search. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../../contract/StaffApi.ts"
import { asStaff } from "../../http/StaffEnvelope.ts"
import { type Action, rolesFor } from "../../office/Authorisation.ts"
import { type FoundKind, Search } from "../../features/search/Search.ts"
import { foundKinds } from "../../contract/search/StaffApi.ts"

/** Permission that a role needs to find a kind of record. */
const actions: { readonly [kind in FoundKind]: Action } = {
  player: "player.list",
  payment: "payment.list",
  round: "round.search",
  transaction: "ledger.entries",
  operator: "operator.list",
  game: "game.list"
}

export const SearchHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "search",
  Effect.fnUntraced(function*(handlers) {
    const search = yield* Search
    return handlers.handle(
      "find",
      ({ query }) =>
        asStaff(({ operators, role }) =>
          search.find(operators, query.q, foundKinds.filter((kind) => rolesFor(actions[kind]).includes(role)))
        )
    )
  })
)
