/** Staff API endpoints for browser sessions: sign-in, second factor, password, own sessions (`docs/decisions/0047-staff-sessions.md`). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { action, anyRole } from "../common/StaffAction.ts"
import { pathId, text } from "../common/Fields.ts"
import { created, list, single } from "../common/Pagination.ts"
import { id, timestamp } from "../common/Resource.ts"
import { roles } from "../../domain/staff/Staff.ts"
import { newPassword } from "../staff/StaffApi.ts"

/** A code of the second factor (six digits), or one of the recovery codes. */
const code = text(40)

/** Password to compare, within the length limits; the rules of new passwords do not apply. */
const password = Schema.String.check(Schema.isBetweenLength(1, 128, { message: "must be 1 to 128 characters" }))

/** Actor, permissions and expiry of a session or a bearer token. */
export const Session = Schema.Struct({
  staff: Schema.Struct({
    id: Schema.NullOr(id).annotate({ description: "Null for the bootstrap token." }),
    name: Schema.String,
    role: Schema.Literals(roles),
    operators: Schema.NullOr(Schema.Array(id)).annotate({
      description: "Ids of the operators that the account is bound to; null: all."
    })
  }),
  actions: Schema.Array(Schema.String).annotate({
    description: "Every action the account may take, like player.show."
  }),
  has_password: Schema.Boolean,
  has_second_factor: Schema.Boolean,
  stepped_up_until: Schema.NullOr(timestamp).annotate({
    description: "Until when money may be moved and authority changed without the second factor again."
  }),
  expires_at: Schema.NullOr(timestamp).annotate({ description: "Null for a bearer token." }),
  idle_expires_at: Schema.NullOr(timestamp).annotate({
    description: "When the session ends unless there is another request. Null for a bearer token."
  }),
  service: Schema.Struct({ oidc: Schema.Boolean })
})

/** One of the sessions of one's own account. */
export const OwnSession = Schema.Struct({
  id,
  is_current: Schema.Boolean,
  method: Schema.Literals(["password", "ticket", "oidc"]),
  created_at: timestamp,
  last_seen_at: timestamp.annotate({ description: "To the minute." }),
  expires_at: timestamp,
  address: Schema.String,
  user_agent: Schema.String
})

const Ended = Schema.Struct({ ended: Schema.Int.annotate({ description: "How many sessions were ended." }) })

/** The account that a sign-in link is for. */
export const LinkedAccount = Schema.Struct({
  name: Schema.String,
  is_new: Schema.Boolean.annotate({
    description: "Whether the account is made when the link is redeemed: the first one."
  }),
  expires_at: timestamp
})

/** Endpoints without a session, behind a back-off. */
export const SignInGroup = HttpApiGroup.make("sign_in").annotate(OpenApi.Description, "Signing in").add(
  HttpApiEndpoint.post("create", "/session", {
    payload: Schema.Struct({
      name: text(100),
      password,
      code: Schema.optionalKey(code)
    }),
    success: created(Session)
  }).annotate(OpenApi.Summary, "Sign in"),
  HttpApiEndpoint.post("redeem", "/session/ticket", {
    payload: Schema.Struct({ ticket: text(100) }),
    success: created(Session)
  }).annotate(OpenApi.Summary, "Sign in by a link"),
  // no GET: the link is a secret, and addresses stand in logs
  HttpApiEndpoint.post("link", "/sign-in/link", {
    payload: Schema.Struct({ ticket: text(100) }),
    success: single(LinkedAccount)
  }).annotate(OpenApi.Summary, "The account that a sign-in link is for"),
  HttpApiEndpoint.get("show", "/sign-in", {
    success: single(Schema.Struct({
      oidc: Schema.Boolean.annotate({ description: "Whether an identity provider signs staff in, at /sign-in/oidc." })
    }))
  }).annotate(OpenApi.Summary, "The ways to sign in")
)

/** One's own account and its sessions. */
export const SessionGroup = HttpApiGroup.make("session").annotate(OpenApi.Description, "One's own account and sessions")
  .add(
    HttpApiEndpoint.get("show", "/session", { success: single(Session) }).annotateMerge(
      action("The account that is signed in, and its session", {
        // one's own account
        roles: anyRole,
        concern: "self",
        isWithoutCommand: true
      })
    ),
    HttpApiEndpoint.delete("end", "/session", { success: single(Ended) }).annotateMerge(
      action("Sign out", { roles: anyRole, concern: "self", isWithoutCommand: true })
    ),
    HttpApiEndpoint.get("list", "/sessions", { success: list(OwnSession) }).annotateMerge(
      action("Own sessions", { roles: anyRole, concern: "self", isWithoutCommand: true })
    ),
    HttpApiEndpoint.delete("revoke", "/sessions/:session", { params: { session: pathId }, success: single(Ended) })
      .annotateMerge(
        action("End one of one's own sessions", { roles: anyRole, concern: "self", isWithoutCommand: true })
      ),
    HttpApiEndpoint.delete("revoke_all", "/sessions", { success: single(Ended) }).annotateMerge(
      action("End all of one's own sessions, this one as well", {
        roles: anyRole,
        concern: "self",
        isWithoutCommand: true
      })
    ),
    HttpApiEndpoint.post("step_up", "/session/step-up", {
      payload: Schema.Struct({ code }),
      success: single(Session)
    }).annotateMerge(
      action("Show the second factor again", { roles: anyRole, concern: "self", isWithoutCommand: true })
    ),
    HttpApiEndpoint.post("second_factor", "/session/second-factor", {
      success: created(Schema.Struct({
        secret: Schema.String.annotate({ description: "Base32, for an authenticator without a camera." }),
        uri: Schema.String,
        qr_svg: Schema.String.annotate({ description: "The URI as a QR code, an SVG document." })
      }))
    }).annotateMerge(action("Begin a second factor", { roles: anyRole, concern: "self", isWithoutCommand: true })),
    HttpApiEndpoint.post("confirm_second_factor", "/session/second-factor/confirm", {
      payload: Schema.Struct({ code }),
      success: created(Schema.Struct({
        recovery_codes: Schema.Array(Schema.String).annotate({
          description: "Each works once. Shown here and never again."
        })
      }))
    }).annotateMerge(
      action("Confirm a second factor by its first code", { roles: anyRole, concern: "self", isWithoutCommand: true })
    ),
    HttpApiEndpoint.post("password", "/session/password", {
      payload: Schema.Struct({
        password: Schema.optionalKey(password),
        new_password: newPassword
      }),
      success: single(Session)
    }).annotateMerge(action("Change one's own password", { roles: anyRole, concern: "self", isWithoutCommand: true })),
    HttpApiEndpoint.post("token", "/session/token", {
      success: created(Schema.Struct({
        token: Schema.String.annotate({ description: "The account's bearer token. Shown here and never again." }),
        token_expires_at: timestamp
      }))
    }).annotateMerge(
      action("Give one's own account a new token; shown once", {
        roles: anyRole,
        concern: "self",
        is: "authority",
        isWithoutCommand: true
      })
    )
  )
