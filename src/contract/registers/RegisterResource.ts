/** Wire schemas of exclusion registers and of the checks made at them. */
import { Schema } from "effect"
import {
  connectionKinds,
  keptEvents,
  keptVerdicts,
  registerKinds,
  registerVerdicts
} from "../../domain/register/Register.ts"
import { id, timestamp } from "../common/Resource.ts"

/** The last proper answer of a register about a player. */
export const RegisterStanding = Schema.Struct({
  kind: Schema.Literals(registerKinds),
  verdict: Schema.Literals(registerVerdicts),
  checked_at: timestamp
})

/** A question to a register and what came of it: proof that it was asked, which names nobody. */
export const RegisterCheck = Schema.Struct({
  id,
  kind: Schema.Literals(connectionKinds),
  event: Schema.Literals(keptEvents).annotate({
    description: "`refresh`: in the background. Of a screening `registration`, `identity` or `rescreen`."
  }),
  verdict: Schema.Literals(keptVerdicts).annotate({
    description:
      "`previous`: was excluded before, and may play. `unavailable`: no proper answer. `hit`: a screening found somebody."
  }),
  asked_at: timestamp,
  answered_at: timestamp,
  request_id: Schema.String,
  response_id: Schema.NullOr(Schema.String).annotate({ description: "The register's; null where it gives none." }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "HTTP status of the answer." }),
  fault: Schema.NullOr(Schema.String).annotate({ description: "Why there is no proper answer." }),
  profile: Schema.String.annotate({ description: "Profile whose rule counted." }),
  profile_version: Schema.Int
}).annotate({
  identifier: "RegisterCheck",
  examples: [{
    id: 91755,
    kind: "spelpaus",
    event: "login",
    verdict: "clear",
    asked_at: "2026-11-20T12:00:00.000Z",
    answered_at: "2026-11-20T12:00:00.112Z",
    request_id: "5f0c7a1e-6f0b-4a55-9b1c-0d6b7c1f2a34",
    response_id: "8d3b1c52",
    status: 200,
    fault: null,
    profile: "se",
    profile_version: 1
  }]
})
