/** Staff API endpoints for the inventory and re-encryption of encrypted columns. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action } from "../common/StaffAction.ts"
import { list } from "../common/Pagination.ts"
import { id } from "../common/Resource.ts"

const Secrets = Schema.Struct({
  kind: Schema.String.annotate({ description: "The table they stand in." }),
  total: Schema.Int,
  current: Schema.Int.annotate({ description: "Sealed under `MASTER_KEY`." }),
  previous: Schema.Int.annotate({ description: "Sealed under the key before it, or in a form that names no key." }),
  unreadable: Schema.Int.annotate({ description: "Opened by neither." })
})

const allReadable = Schema.Array(Schema.Struct({ unreadable: Schema.Literal(0) }))

export const SecretGroup = HttpApiGroup.make("secret").annotate(OpenApi.Description, "Secrets that are stored sealed")
  .add(
    HttpApiEndpoint.get("list", "/secrets", { success: list(Secrets) }).annotateMerge(
      action("How many there are, and under which key; exit 1 when one cannot be opened", {
        roles: [],
        concern: "installation",
        waiting: "Opening every secret",
        passes: allReadable
      })
    ),
    HttpApiEndpoint.post("reseal", "/secrets/reseal", { success: list(Secrets) }).annotateMerge(
      action("Seal under MASTER_KEY what is sealed under MASTER_KEY_PREVIOUS; exit 1 when one cannot be opened", {
        roles: [],
        concern: "installation",
        is: "authority",
        waiting: "Sealing every secret",
        passes: allReadable
      })
    )
  )

/** Result of retiring a player's lost server seeds. */
export const RetiredSeeds = Schema.Struct({
  player_id: id,
  retired: Schema.Array(Schema.String).annotate({ description: "The hashes of the seeds retired now." }),
  server_seed_hash: Schema.NullOr(Schema.String),
  next_server_seed_hash: Schema.NullOr(Schema.String)
})
