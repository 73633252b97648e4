/** How each type of event is made to happen in a sandbox. */
import { Effect, Stream } from "effect"
import { after } from "../../src/domain/jurisdiction/Duration.ts"
import type { EventType } from "../../src/domain/state/Events.ts"
import type { StartupError } from "../../src/platform/StartupError.ts"
import type { StaffServices } from "../listen/Credentials.ts"
import { excludedName, type Sandbox } from "./Sandbox.ts"

interface Recipe {
  /** What it does, for the help. */
  readonly does: string
  /** Does it; gives the player of the event. */
  readonly run: (sandbox: Sandbox) => Effect.Effect<number, StartupError, StaffServices>
}

const dayMs = 86_400_000

const underRegister = Effect.fnUntraced(function*(sandbox: Sandbox) {
  const rules = yield* sandbox.jurisdiction(
    "a register that is asked at a sign-in",
    ({ registers }) => registers.some(({ on }) => on.login !== undefined)
  )
  const player = yield* sandbox.register(rules)
  yield* sandbox.rename(player, excludedName)
  yield* sandbox.signIn(player)
  return player
})

const withObligation = Effect.fnUntraced(function*(sandbox: Sandbox) {
  const rules = yield* sandbox.jurisdiction(
    "limits that a player has to set or is asked for",
    ({ limits: { prompt, required } }) => prompt || required.length > 0
  )
  const player = yield* sandbox.register(rules)
  yield* sandbox.step(
    ({ data }) => `read the obligations of player ${player}: ${data.map(({ kind }) => kind).join(", ")}`,
    "read the obligations",
    sandbox.operator.obligations.list({ params: { player } })
  )
  return { player, rules }
})

const dataRequest = Effect.fnUntraced(function*(sandbox: Sandbox) {
  const player = yield* sandbox.register()
  const { data: { id } } = yield* sandbox.step(
    ({ data }) => `player ${player} asks for the data that is held: request ${data.id}, with a case`,
    "carry the request",
    sandbox.operator.privacy.request({ params: { player }, payload: { type: "access" } })
  )
  return { player, request: id }
})

const answeredRequest = Effect.fnUntraced(function*(sandbox: Sandbox) {
  const { player, request } = yield* dataRequest(sandbox)
  yield* sandbox.step(
    () => `read the document of request ${request}, which ends its case`,
    "read the document",
    Effect.flatMap(sandbox.operator.privacy.document({ params: { player, request } }), Stream.runDrain)
  )
  return player
})

/** A recipe for every type. */
export const recipes: { readonly [type in EventType]: Recipe } = {
  "player.registered": {
    does: "registers a player",
    run: (sandbox) => sandbox.register()
  },
  "deposit.paid": {
    does: "registers a player and records a deposit",
    run: Effect.fnUntraced(function*(sandbox) {
      const player = yield* sandbox.register()
      yield* sandbox.deposit(player)
      return player
    })
  },
  "withdrawal.requested": {
    does: "a verified player with a deposit asks for a withdrawal",
    run: (sandbox) => Effect.map(sandbox.withdrawal, ({ player }) => player)
  },
  "withdrawal.paid": {
    does: "a withdrawal is asked for, approved and paid",
    run: Effect.fnUntraced(function*(sandbox) {
      const { payment, player } = yield* sandbox.withdrawal
      yield* sandbox.moveWithdrawal(payment, "approve")
      yield* sandbox.moveWithdrawal(payment, "pay")
      return player
    })
  },
  "withdrawal.rejected": {
    does: "a withdrawal is asked for and rejected",
    run: Effect.fnUntraced(function*(sandbox) {
      const { payment, player } = yield* sandbox.withdrawal
      yield* sandbox.moveWithdrawal(payment, "reject")
      return player
    })
  },
  "bonus.granted": {
    does: "grants a bonus",
    run: (sandbox) => Effect.map(sandbox.bonus, ({ player }) => player)
  },
  "bonus.completed": {
    does: "grants a bonus and advances the clock until it expires",
    run: Effect.fnUntraced(function*(sandbox) {
      const { expiresAt, player } = yield* sandbox.bonus
      // without an end it was money at once, and is completed
      if (expiresAt !== null) yield* sandbox.advance({ to: new Date(Date.parse(expiresAt) + 1000).toISOString() })
      return player
    })
  },
  "kyc.status_changed": {
    does: "registers a player and verifies the identity",
    run: Effect.fnUntraced(function*(sandbox) {
      const player = yield* sandbox.register()
      yield* sandbox.verify(player)
      return player
    })
  },
  "player.self_excluded": {
    does: "a player is excluded for six months",
    run: Effect.fnUntraced(function*(sandbox) {
      const player = yield* sandbox.register()
      yield* sandbox.step(
        () => `excluded player ${player} for six months`,
        "exclude the player",
        sandbox.operator.responsible_gaming.selfExclude({ params: { player }, payload: { period: "6_months" } })
      )
      return player
    })
  },
  "player.register_excluded": {
    does: "the simulated register excludes a player at a sign-in",
    run: underRegister
  },
  "player.register_cleared": {
    does: "the simulated register excludes a player, then no longer",
    run: Effect.fnUntraced(function*(sandbox) {
      const player = yield* underRegister(sandbox)
      yield* sandbox.rename(player, `Trigger-${sandbox.run}`)
      yield* sandbox.signIn(player)
      return player
    })
  },
  "obligation.created": {
    does: "registers a player who has to set limits or is asked for them",
    run: (sandbox) => Effect.map(withObligation(sandbox), ({ player }) => player)
  },
  "obligation.met": {
    does: "a player answers what a jurisdiction asks for",
    run: Effect.fnUntraced(function*(sandbox) {
      const { player, rules } = yield* withObligation(sandbox)
      yield* sandbox.settle(player, rules)
      return player
    })
  },
  "limit.raise_confirmable": {
    does: "a player raises a limit, and the clock is advanced over the cooling-off",
    run: Effect.fnUntraced(function*(sandbox) {
      const rules = yield* sandbox.jurisdiction(
        "raises that a player has to confirm",
        ({ limits: { raise } }) => raise.confirm
      )
      const player = yield* sandbox.register(rules)
      yield* sandbox.setLimits(player, ["max_daily_deposit"], 1000)
      const { data } = yield* sandbox.setLimits(player, ["max_daily_deposit"], 2000)
      const from = data.pending_changes[0]?.confirm_from
      if (from !== undefined) yield* sandbox.advance({ to: from })
      return player
    })
  },
  "reality_check.due": {
    does: "a player opens a game, and the clock is advanced to the check",
    run: Effect.fnUntraced(function*(sandbox) {
      const game = yield* sandbox.game
      const rules = yield* sandbox.jurisdiction(
        "a reality check, or raises to confirm",
        ({ limits: { raise }, reality_check: { default: interval } }) => interval !== null || raise.confirm
      )
      const player = yield* sandbox.register(rules)
      yield* sandbox.settle(player, rules)
      if (rules.reality_check.default === null) {
        yield* sandbox.step(
          ({ data: { interval } }) => `set the reality check of player ${player} to ${interval}`,
          "set the reality check",
          sandbox.operator.position.setRealityCheck({
            params: { player },
            payload: { interval: rules.reality_check.min }
          })
        )
      }
      yield* sandbox.step(
        () => `player ${player} opens game ${game}`,
        "open a game",
        sandbox.operator.games.launch({ params: { player, game } })
      )
      const { data: { due_at: dueAt } } = yield* sandbox.read(
        "read the reality check",
        sandbox.operator.position.realityCheck({ params: { player } })
      )
      if (dueAt !== null) yield* sandbox.advance({ to: new Date(Date.parse(dueAt) + 1000).toISOString() })
      return player
    })
  },
  "player.dormant": {
    does: "registers a player and advances the clock until the account is dormant",
    run: Effect.fnUntraced(function*(sandbox) {
      const rules = yield* sandbox.jurisdiction(
        "accounts that fall dormant within a year",
        ({ dormant }) => dormant.after !== null && after(dormant.after, 0) < 390 * dayMs
      )
      const player = yield* sandbox.register(rules)
      const { data: { now } } = yield* sandbox.read("read the clock", sandbox.operator.sandbox.clock())
      const dormantAt = after(rules.dormant.after ?? "P0D", Date.parse(now))
      yield* sandbox.advance({ to: new Date(dormantAt + dayMs).toISOString() })
      return player
    })
  },
  "compliance.alert_created": {
    does: "raises an alert about a player",
    run: Effect.fnUntraced(function*(sandbox) {
      const player = yield* sandbox.register()
      yield* sandbox.step(
        ({ data: { id, rule } }) => `raised alert ${id}, ${rule}, about player ${player}`,
        "raise an alert",
        sandbox.operator.sandbox.raiseAlert({ payload: { player_id: player } })
      )
      return player
    })
  },
  "compliance.case_opened": {
    does: "a player asks for the data that is held, which opens a case",
    run: (sandbox) => Effect.map(dataRequest(sandbox), ({ player }) => player)
  },
  "compliance.case_closed": {
    does: "such a request is answered, which closes its case",
    run: answeredRequest
  },
  "data_request.completed": {
    does: "a player's request for the data that is held is answered",
    run: answeredRequest
  }
}
