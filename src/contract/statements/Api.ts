/** Operator API endpoint for a player's account statement: balances, totals and ledger entries of a period. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { about, RequiredFeature, RequiredScope } from "../common/Annotations.ts"
import { pathId } from "../common/Fields.ts"
import { statementForms, statementQuery } from "./StatementResource.ts"

export const StatementsGroup = HttpApiGroup.make("statements")
  .add(
    HttpApiEndpoint.get("get", "/players/:player/statement", {
      params: { player: pathId },
      query: Schema.Struct(statementQuery),
      success: statementForms
    })
      .annotate(RequiredScope, "wallet:read")
      .annotateMerge(about(
        "A player's statement",
        "Balances, totals and every entry of a period of days, as far back as the account. A longer or fuller period than one document may have is refused, " +
          "never shortened. `csv` begins a text that a spreadsheet would take for a formula with an apostrophe; `html` is one page to print."
      ))
  )
  .annotate(RequiredFeature, "players")
  .annotateMerge(OpenApi.annotations({
    title: "Statements",
    description: "What happened to a player's money in a period, as one document."
  }))
