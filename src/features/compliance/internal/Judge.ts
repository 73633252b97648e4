/** Evaluates AML rules on committed effects: reads the evidence, applies the rules, raises alerts for the findings. */
import { Effect } from "effect"
import { defaultSettings, type Finding, type RuleSettings } from "../../../domain/compliance/AlertRules.ts"
import {
  countryMismatch,
  identityChangeAfterVerification,
  identityChangeBeforeWithdrawal,
  multiAccount,
  type SharedFacts
} from "../../../domain/compliance/IdentityAlerts.ts"
import {
  type DepositCase,
  depositsExamined,
  depositVelocity,
  hoursExamined,
  largeDeposit,
  largeWithdrawal,
  lowPlayWithdrawal,
  type PaymentCase,
  playNeeded,
  rapidInOut,
  structuring
} from "../../../domain/compliance/MoneyAlerts.ts"
import { countriesOfPhone } from "../../../domain/Standards.ts"
import type { ScreeningEvent } from "../../../domain/register/Register.ts"
import { Screenings } from "../../screenings/Screenings.ts"
import { makeQueueComparisons } from "../../operators/LicenseeComparisons.ts"
import { makeAutomaticCases } from "./AutomaticCases.ts"
import { makeRuleBook } from "../RuleBook.ts"
import { type Found, makeAlertStore } from "./AlertStore.ts"
import type { ComplianceEffect } from "./EffectQueue.ts"
import { type Identity, type IdentityHistory, makeEvidence } from "./Evidence.ts"
import { factsOf, makePlayerFacts } from "./PlayerFacts.ts"

const noHistory: IdentityHistory = { changes: [], verifiedAt: null }
/** Fields of a person that a screening asks about. */
const ofPerson = ["first_name", "last_name", "birth_date"]

const noPlayers: ReadonlyArray<SharedFacts> = []

/** Whether an effect concerns the player's identity. */
const isAboutIdentity = ({ kind }: ComplianceEffect): boolean =>
  kind !== "deposit" && kind !== "withdrawal" && kind !== "limits"

/** Whether an effect says who the player is. */
const hasIdentity = ({ fields, kind }: ComplianceEffect): boolean =>
  kind === "known" || kind === "registration" || kind === "profile" && fields.length > 0

/** Whom effects are to be screened for: who registers, and who becomes somebody else. */
const screenedFor = (effects: ReadonlyArray<ComplianceEffect>): ReadonlyMap<number, ScreeningEvent> =>
  new Map(
    effects.flatMap(({ fields, kind, playerId }): ReadonlyArray<readonly [number, ScreeningEvent]> =>
      kind === "registration"
        ? [[playerId, "registration"]]
        : kind === "profile" && fields.some((field) => ofPerson.includes(field))
        ? [[playerId, "identity"]]
        : []
    )
  )

export const makeJudge = Effect.gen(function*() {
  const evidence = yield* makeEvidence
  const facts = yield* makePlayerFacts
  const rules = yield* makeRuleBook
  const alerts = yield* makeAlertStore
  const queueComparisons = yield* makeQueueComparisons
  const automatic = yield* makeAutomaticCases
  const screenings = yield* Screenings

  const onDeposit = (settings: RuleSettings, of: DepositCase) => [
    largeDeposit(settings, of),
    structuring(settings, of),
    depositVelocity(settings, of)
  ]

  const onWithdrawal = (settings: RuleSettings, of: PaymentCase, staked: number, { changes }: IdentityHistory) => [
    largeWithdrawal(settings, of),
    rapidInOut(settings, of),
    lowPlayWithdrawal(settings, of, staked),
    identityChangeBeforeWithdrawal(settings, of.payment, changes)
  ]

  const onIdentity = (
    settings: RuleSettings,
    effect: ComplianceEffect,
    { country, phone }: Identity,
    others: ReadonlyArray<SharedFacts>,
    { verifiedAt }: IdentityHistory
  ): ReadonlyArray<Finding | undefined> => {
    if (effect.kind === "known") return []
    const isChange = effect.kind === "profile"
    return [
      multiAccount(settings, others),
      effect.kind === "session"
        ? undefined
        : countryMismatch(settings, {
          profile: country,
          phone: phone === null ? [] : countriesOfPhone(phone)
        }),
      isChange ? identityChangeAfterVerification(settings, effect, verifiedAt) : undefined
    ]
  }

  /** Judges effects in the transaction that is open. Gives how many alerts it raised. */
  return Effect.fn("Judge")(function*(effects: ReadonlyArray<ComplianceEffect>, now: number) {
    const subjects = yield* evidence.subjects([...new Set(effects.map(({ playerId }) => playerId))])
    const settingsByOperator = yield* rules.settingsOf([...subjects.values()].map(({ operatorId }) => operatorId))
    const settingsOf = (playerId: number): RuleSettings =>
      settingsByOperator.get(subjects.get(playerId)?.operatorId ?? 0) ?? defaultSettings
    const factorOf = (playerId: number) => subjects.get(playerId)?.factor ?? null
    const paymentsOf = (wanted: "deposit" | "withdrawal") =>
      effects.flatMap(({ kind, playerId, subjectId }) =>
        kind === wanted && subjectId !== null ? [{ playerId, paymentId: subjectId }] : []
      )
    const deposits = yield* evidence.deposits(
      paymentsOf("deposit").map(({ paymentId, playerId }) => ({
        paymentId,
        examined: depositsExamined(settingsOf(playerId), factorOf(playerId))
      }))
    )
    const withdrawals = yield* evidence.payments(
      paymentsOf("withdrawal").map(({ paymentId, playerId }) => ({
        paymentId,
        hours: hoursExamined(settingsOf(playerId))
      }))
    )
    const histories = yield* evidence.histories([
      ...new Set(effects.flatMap(({ kind, playerId }) => kind === "withdrawal" || kind === "profile" ? [playerId] : []))
    ])
    const addresses = yield* evidence.sessionAddresses(
      effects.flatMap(({ kind, subjectId }) => kind === "session" && subjectId !== null ? [subjectId] : [])
    )
    const aboutIdentity = effects.filter(isAboutIdentity)
    const identities = yield* evidence.identities([...new Set(aboutIdentity.map(({ playerId }) => playerId))])
    const shared = yield* facts.keep(
      aboutIdentity.flatMap(({ playerId, subjectId }) => {
        const operatorId = subjects.get(playerId)?.operatorId
        const identity = identities.get(playerId)
        const ip = subjectId === null ? null : addresses.get(subjectId) ?? null
        return operatorId === undefined || identity === undefined
          ? []
          : [{ operatorId, playerId, facts: factsOf(identity, [ip]) }]
      })
    )
    yield* queueComparisons([
      ...new Set(aboutIdentity.filter(hasIdentity).map(({ playerId }) => playerId))
    ])
    const withdrawalOf = ({ playerId, subjectId }: ComplianceEffect): PaymentCase | undefined => {
      const { before = [], payment } = withdrawals.get(subjectId ?? 0) ?? {}
      return payment === undefined ? undefined : { payment, before, factor: factorOf(playerId) }
    }
    const staked = yield* evidence.staked(effects.flatMap((effect) => {
      const of = withdrawalOf(effect)
      const needed = of === undefined ? undefined : playNeeded(settingsOf(effect.playerId), of)
      return of === undefined || needed === undefined
        ? []
        : [{ paymentId: of.payment.id, playerId: effect.playerId, until: of.payment.at, needed }]
    }))
    /** Findings on an effect; none where a row that they need is gone. */
    const findingsOn = (effect: ComplianceEffect): ReadonlyArray<Finding | undefined> => {
      const { kind, playerId, subjectId } = effect
      const settings = settingsOf(playerId)
      const history = histories.get(playerId) ?? noHistory
      if (kind === "deposit") {
        const of = deposits.get(subjectId ?? 0)
        return of === undefined ? [] : onDeposit(settings, { ...of, factor: factorOf(playerId) })
      }
      if (kind === "withdrawal") {
        const of = withdrawalOf(effect)
        return of === undefined ? [] : onWithdrawal(settings, of, staked.get(of.payment.id) ?? 0, history)
      }
      const identity = identities.get(playerId)
      return identity === undefined
        ? []
        : onIdentity(settings, effect, identity, shared.get(playerId) ?? noPlayers, history)
    }
    const found: Array<Found> = []
    for (const effect of effects) {
      const subject = subjects.get(effect.playerId)
      if (subject === undefined) continue
      for (const finding of findingsOn(effect)) if (finding !== undefined) found.push({ subject, finding })
    }
    yield* screenings.want(screenedFor(effects), now)
    const vulnerable = yield* automatic.findVulnerable(effects, subjects, settingsOf, now)
    const raised = yield* alerts.raise([...found, ...vulnerable], now)
    // last: from the first line of the audit log on others wait for the end of this
    yield* automatic.openVulnerable(vulnerable)
    yield* automatic.openContacts(effects, subjects, now)
    return raised
  })
})
