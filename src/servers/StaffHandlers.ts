/** What staff ask, handed to the back office, and its answers. */
import { Effect, Layer, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackofficeApi } from "../contract/StaffApi.ts"
import { rolesFor } from "../features/staff/Authorisation.ts"
import { ApiKeys } from "../features/keys/ApiKeys.ts"
import { BonusCatalogue } from "../features/bonuses/BonusCatalogue.ts"
import { Catalogue } from "../features/games/Catalogue.ts"
import { LedgerAudit } from "../features/ledger/LedgerAudit.ts"
import { MethodsOnOffer } from "../features/payments/MethodsOnOffer.ts"
import { Operators } from "../features/operators/Operators.ts"
import { Providers } from "../features/providers/Providers.ts"
import { StaffAccounts } from "../features/staff/Staff.ts"
import { Bonuses } from "../features/bonuses/Bonuses.ts"
import { refuse } from "../domain/Refusal.ts"
import { ownedBonusFields } from "../features/bonuses/Handlers.ts"
import { paginated } from "../http/Page.ts"
import { AlertHandlers } from "../features/compliance/StaffHandlers.ts"
import { AuditHandlers } from "../features/audit/StaffHandlers.ts"
import { CorrectionHandlers } from "../features/corrections/StaffHandlers.ts"
import { PaymentHandlers } from "../features/payments/StaffHandlers.ts"
import { PlayerHandlers } from "../features/players/StaffHandlers.ts"
import { SecretHandlers } from "../features/secrets/StaffHandlers.ts"
import { UpkeepHandlers } from "../features/jobs/StaffHandlers.ts"
import { WebhookHandlers } from "../features/webhooks/StaffHandlers.ts"
import { ReportHandlers } from "../features/reports/StaffHandlers.ts"
import { act, wrap } from "../http/Acting.ts"

const StaffHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "staff",
  Effect.fnUntraced(function*(handlers) {
    const accounts = yield* StaffAccounts
    return handlers
      .handle("create", ({ payload }) => act((actor) => accounts.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => accounts.update(actor, params.staff, payload)))
      .handle("rotate", ({ params }) => act((actor) => accounts.rotate(actor, params.staff)))
      .handle("retire_bootstrap", () => act(accounts.retireBootstrap))
      .handle("list", () => wrap(accounts.list))
  })
)

const OperatorHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "operator",
  Effect.fnUntraced(function*(handlers) {
    const operators = yield* Operators
    return handlers
      .handle("create", ({ payload }) => act((actor) => operators.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => operators.update(actor, params.operator, payload)))
      .handle("list", () => wrap(operators.list))
  })
)

const KeyHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "key",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys
    return handlers
      .handle("create", ({ payload }) => act((actor) => keys.create(actor, payload)))
      .handle("rotate", ({ params, query }) => act((actor) => keys.rotate(actor, params.key, query.operator)))
      .handle("revoke", ({ params, query }) => act((actor) => keys.revoke(actor, params.key, query.operator)))
      .handle("list", ({ query }) => wrap(keys.list(query.operator)))
  })
)

const ProviderHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "provider",
  Effect.fnUntraced(function*(handlers) {
    const providers = yield* Providers
    return handlers
      .handle("create", ({ payload }) => act((actor) => providers.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => providers.update(actor, params.provider, payload)))
      .handle("rotate", ({ params }) => act((actor) => providers.rotate(actor, params.provider)))
      .handle("list", () => wrap(providers.list))
  })
)

const GameHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "game",
  Effect.fnUntraced(function*(handlers) {
    const catalogue = yield* Catalogue
    return handlers
      .handle("create", ({ payload }) => act((actor) => catalogue.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => catalogue.update(actor, params.game, payload)))
      .handle("list", ({ query }) =>
        Effect.gen(function*() {
          const { items, total } = yield* catalogue.list({
            page: query.page,
            perPage: query.per_page,
            provider: query.provider,
            active: query.active === undefined ? undefined : query.active === "true"
          })
          return yield* paginated(query, total, items)
        }))
  })
)

const PaymentMethodHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "payment_method",
  Effect.fnUntraced(function*(handlers) {
    const methods = yield* MethodsOnOffer
    return handlers
      .handle("create", ({ payload }) => act((actor) => methods.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => methods.update(actor, params.method, payload)))
      .handle("list", ({ query }) => wrap(methods.list(query.operator)))
  })
)

/** Who may correct a balance also decides what a bonus gives one player. */
const setsAmounts = rolesFor("player.correct")

const ownAmountOnly = refuse(
  "INSUFFICIENT_SCOPE",
  `A bonus of another amount than its own takes one of the roles ${setsAmounts.join(", ")}.`,
  { required_roles: setsAmounts }
)

const wageredOnly = refuse(
  "INSUFFICIENT_SCOPE",
  `A bonus without wagering is money at once: it takes one of the roles ${setsAmounts.join(", ")}.`,
  { required_roles: setsAmounts }
)

const BonusHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "bonus",
  Effect.fnUntraced(function*(handlers) {
    const onOffer = yield* BonusCatalogue
    const bonuses = yield* Bonuses
    return handlers
      .handle("create", ({ payload }) => act((actor) => onOffer.create(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => onOffer.update(actor, params.bonus, payload)))
      .handle("list", ({ query }) => wrap(onOffer.list(query.operator)))
      .handle("grant", ({ params, payload }) =>
        act((actor) =>
          Effect.gen(function*() {
            const { amount = null, bonus, note = null } = payload
            const setsAmount = setsAmounts.includes(actor.role)
            if (amount !== null && !setsAmount) return yield* Effect.fail(ownAmountOnly)
            const request = { bonusId: bonus, amount, note }
            return ownedBonusFields(
              yield* bonuses.staffGrant(params.player, request, actor, setsAmount ? undefined : wageredOnly)
            )
          })
        ))
      .handle(
        "cancel",
        ({ params, payload }) =>
          act(({ label }) => Effect.map(bonuses.cancel(params.bonus, payload.reason ?? null, label), ownedBonusFields))
      )
  })
)

const PromoHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "promo",
  Effect.fnUntraced(function*(handlers) {
    const onOffer = yield* BonusCatalogue
    return handlers
      .handle("create", ({ payload }) => act((actor) => onOffer.createPromo(actor, payload)))
      .handle("update", ({ params, payload }) => act((actor) => onOffer.updatePromo(actor, params.promo, payload)))
      .handle("list", ({ query }) => wrap(onOffer.listPromos(query.operator)))
  })
)

const LedgerHandlers = HttpApiBuilder.group(
  BackofficeApi,
  "ledger",
  Effect.fnUntraced(function*(handlers) {
    const audit = yield* LedgerAudit
    const operators = yield* Operators
    const resolve = (operator: string | undefined) =>
      operator === undefined ? Effect.undefined : operators.resolve(operator)
    return handlers.handle(
      "export",
      ({ query }) => Effect.map(Effect.flatMap(resolve(query.operator), audit.exported), Stream.encodeText)
    ).handle("verify", ({ query }) =>
      wrap(Effect.gen(function*() {
        return yield* audit.verify(yield* resolve(query.operator))
      })))
  })
)

export const BackofficeHandlers = Layer.mergeAll(
  StaffHandlers,
  OperatorHandlers,
  KeyHandlers,
  ProviderHandlers,
  GameHandlers,
  PaymentMethodHandlers,
  BonusHandlers,
  PromoHandlers,
  PlayerHandlers,
  CorrectionHandlers,
  PaymentHandlers,
  WebhookHandlers,
  AlertHandlers,
  LedgerHandlers,
  SecretHandlers,
  UpkeepHandlers,
  ReportHandlers,
  AuditHandlers
)
