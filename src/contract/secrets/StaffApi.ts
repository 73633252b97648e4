/** Inventory and re-encryption of encrypted columns in the staff API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { list } from "../common/Pagination.ts"
import { id } from "../common/Resource.ts"

const Secrets = Schema.Struct({
  kind: Schema.String.annotate({ description: "The table they stand in." }),
  total: Schema.Int,
  current: Schema.Int.annotate({ description: "Sealed under `MASTER_KEY`." }),
  previous: Schema.Int.annotate({ description: "Sealed under the key before it, or in a form that names no key." }),
  unreadable: Schema.Int.annotate({ description: "Opened by neither." })
})

export const SecretGroup = HttpApiGroup.make("secret").add(
  HttpApiEndpoint.get("list", "/secrets", { success: list(Secrets) }),
  HttpApiEndpoint.post("reseal", "/secrets/reseal", { success: list(Secrets) })
)

/** Result of retiring a player's lost server seeds. */
export const RetiredSeeds = Schema.Struct({
  player_id: id,
  retired: Schema.Array(Schema.String).annotate({ description: "The hashes of the seeds retired now." }),
  server_seed_hash: Schema.NullOr(Schema.String),
  next_server_seed_hash: Schema.NullOr(Schema.String)
})
