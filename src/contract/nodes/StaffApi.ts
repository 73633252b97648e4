/** Staff API endpoints for cluster nodes. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { text } from "../common/Fields.ts"
import { list, single } from "../common/Pagination.ts"
import { timestamp } from "../common/Resource.ts"

const Node = Schema.Struct({
  id: Schema.String.annotate({ description: "Of one life of the process: another one after a restart." }),
  address: Schema.String.annotate({ description: "Where other nodes reach it." }),
  pid: Schema.Int,
  version: Schema.String,
  shards: Schema.Int.annotate({ description: "Shards of players that it holds, of 300." }),
  since: timestamp,
  lease_ms_left: Schema.NullOr(Schema.Int).annotate({
    description: "Until its players may be taken over, unless it is heard of; null while it holds none."
  }),
  draining: Schema.Boolean.annotate({ description: "It hands its players over, or has done so, and takes no more." })
})

export const NodeGroup = HttpApiGroup.make("node").annotate(OpenApi.Description, "Nodes that serve the casino together")
  .add(
    HttpApiEndpoint.get("list", "/nodes", { success: list(Node) }).annotateMerge(
      action("Every live node, the oldest first; none without a cluster", { roles: anyRole, concern: "catalogue" })
    ),
    HttpApiEndpoint.post("drain", "/nodes/:node/drain", {
      params: { node: text(32, { description: "Id of the node." }) },
      success: single(Node)
    })
      .annotateMerge(
        action("Have a node hand its players over and take no more; it goes on sending requests to their owners", {
          roles: [],
          concern: "installation",
          waiting: "Handing players over"
        })
      )
  )
