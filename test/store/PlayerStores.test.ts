import { noRules } from "../../src/domain/jurisdiction/Rules.ts"
import { assert, layer } from "@effect/vitest"
import { layerPersonal } from "../kit/Personal.ts"
import { Chain, ChainKey } from "../../src/chain/Chain.ts"
import { Entropy } from "../../src/platform/Entropy.ts"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Change, type Entry, noChange, type OriginalRound, type Payment } from "../../src/domain/state/Change.ts"
import { type Context, type Knowledge, missing, type Step } from "../../src/domain/state/Decision.ts"
import {
  applyDueBonusesStep,
  cancelBonusStep,
  type CatalogueBonus,
  grantStep,
  redeemStep
} from "../../src/domain/bonus/BonusGrants.ts"
import { setStatusStep } from "../../src/domain/player/AccountStatus.ts"
import { correctionStep } from "../../src/domain/wallet/Corrections.ts"
import { endSession, exchangeSession, launchStep } from "../../src/domain/settlement/Launch.ts"
import { packStanding } from "../../src/domain/register/Register.ts"
import { playStep, rotateSeedsStep } from "../../src/domain/original/OriginalRounds.ts"
import type { SeedChange } from "../../src/domain/state/PlayerSeeds.ts"
import { transitionStep } from "../../src/domain/payment/PaymentTransitions.ts"
import { depositStep } from "../../src/domain/payment/Payments.ts"
import type { Player } from "../../src/domain/state/Player.ts"
import type { Query, Transaction } from "../../src/domain/state/Rounds.ts"
import {
  type Action,
  closeRound,
  payPromoWin,
  settle,
  settleAll,
  type SettlementPolicy
} from "../../src/domain/settlement/Settlement.ts"
import { storingReply } from "../../src/domain/state/StoringReply.ts"
import { withdrawalStep } from "../../src/domain/payment/Withdrawals.ts"
import type { Loaded, Unit } from "../../src/engine/Machine.ts"
import { makePlayerStore, type PlayerStore } from "../../src/store/internal/PlayerStore.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import * as MemoryPlayerStore from "../kit/MemoryPlayerStore.ts"
import {
  adjustment,
  bet,
  close,
  day,
  hour,
  makePlayer,
  minute,
  noon,
  promoWin,
  rollback,
  roulette,
  win
} from "../kit/Messages.ts"
import { betPaying, openChance, playOf, sealedSeedOf, startSeedsOf } from "../kit/Originals.ts"
import { transitionOf, withdrawalOf } from "../kit/Payments.ts"
import { TestDatabase } from "../kit/TestDatabase.ts"

// Goal: the in-memory store has the semantics of the one over PostgreSQL, so that tests over the first hold for the
// second. Method: one script of loads, lookups and commits, sound and unsound, runs against both; the answers, step by step,
// and the final contents must be the same.

const registered = { providerIds: [], real: 0, limitsReviewed: noon / 1000, fundsNoticed: noon / 1000 }

const beginning: ReadonlyArray<Player> = [
  makePlayer({ ...registered, id: 1 }),
  makePlayer({ ...registered, id: 2 }),
  makePlayer({ ...registered, id: 3, operatorId: 2 })
]

const seed = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const at = new Date(noon)
  for (const id of [1, 2]) {
    yield* sql`INSERT INTO operators (id, slug, name, currency, created_at, updated_at)
      VALUES (${id}, ${`o${id}`}, ${`o${id}`}, 'EUR', ${at}, ${at})`
  }
  yield* sql`INSERT INTO providers (id, slug, name, key, secret_sealed, created_at, updated_at)
    VALUES (1, 'p', 'p', 'p', ''::bytea, ${at}, ${at})`
  yield* sql`INSERT INTO games (id, provider_id, external_id, name, type, category, created_at, updated_at)
    VALUES (11, 1, 'slot', 'Slot', 'rng', 'slots', ${at}, ${at})`
  yield* sql`INSERT INTO bonuses (id, operator_id, name, type, default_amount, wagering_multiplier, valid_days, created_at,
      updated_at)
    VALUES (21, 1, 'Welcome', 'no_deposit', 100, 2, 7, ${at}, ${at})`
  yield* sql`INSERT INTO promo_codes (id, operator_id, code, bonus_id, max_redemptions, created_at)
    VALUES (31, 1, 'HELLO', 21, 1, ${at})`
  for (const { id, kycStatus, operatorId } of beginning) {
    yield* sql`INSERT INTO players (id, operator_id, username, email, first_name, last_name, birth_date, country, currency,
        kyc_status, created_at, updated_at)
      VALUES (${id}, ${operatorId}, ${`u${id}`}, ${`u${id}@example.com`}, 'Ada', 'Player', '1990-01-01', 'MT', 'EUR',
        ${kycStatus}, ${at}, ${at})`
    yield* sql`INSERT INTO accounts (player_id, operator_id, real_updated_at, bonus_updated_at)
      VALUES (${id}, ${operatorId}, ${at}, ${at})`
  }
}))

const live = Layer.provideMerge(
  seed,
  Outbox.layer.pipe(
    Layer.provideMerge(TestDatabase.layer),
    Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(noon)))
  )
).pipe(Layer.provideMerge(layerPersonal))

const welcome: CatalogueBonus = {
  id: 21,
  operatorId: 1,
  name: "Welcome",
  description: "",
  type: "no_deposit",
  defaultAmount: 100,
  wageringMultiplier: 2,
  validDays: 7,
  maxBet: 900,
  maxConversionMultiplier: 3,
  maxGrantsPerPlayer: 0,
  isActive: true,
  contributions: { 11: 50 },
  currency: "EUR"
}

const grant = (terms: Partial<CatalogueBonus> = {}) =>
  grantStep({ bonus: { ...welcome, ...terms }, amount: null, note: "a note" })

const redeem = redeemStep({
  id: 31,
  code: "HELLO",
  bonus: welcome,
  isActive: true,
  expiresAt: null,
  isUsedUp: false,
  isRedeemed: false
})

type PlayerUnit = Unit<Player, Change>

/** Knowledge in an order that does not depend on the store. */
const plain = (known: Knowledge) => ({
  transactions: [...known.transactions].sort(([a], [b]) => a < b ? -1 : 1),
  rounds: [...known.rounds].sort(([a], [b]) => a < b ? -1 : 1),
  bonuses: [...known.bonuses],
  payments: [...known.payments],
  paymentsById: [...known.paymentsById],
  promoCodes: [...known.promoCodes],
  signatures: [...known.signatures],
  seeds: known.seeds
})

/** Runs the script and returns the store's answer to every step. */
const runScript = Effect.fnUntraced(function*(store: PlayerStore) {
  const said: Array<readonly [what: string, answer: unknown]> = []
  let now = noon
  let nextId = 5000

  const load = Effect.fnUntraced(function*(playerId: number, fence = false) {
    const loaded = yield* store.load(playerId, fence)
    said.push([`load ${playerId}${fence ? " behind a fence" : ""}`, loaded])
    return loaded ?? assert.fail(`player ${playerId} is not there`)
  })

  const commit = Effect.fnUntraced(function*(what: string, ...units: ReadonlyArray<PlayerUnit>) {
    const exit = yield* Effect.exit(store.commit(units))
    const failure = Exit.findErrorOption(exit)
    const answer = failure._tag === "None"
      ? "written"
      : failure.value._tag === "Rejected"
      ? failure.value.because
      : failure.value._tag
    said.push([what, answer], [
      `${what}: taken ids`,
      units.map(({ changes }) => changes.map((change) => store.isLikelyTaken(change, false)))
    ])
    return answer
  })

  const lookUp = Effect.fnUntraced(function*(what: string, playerId: number, query: Partial<Query>, known?: Knowledge) {
    const { state } = yield* load(playerId)
    const answer = yield* store.lookUp(state, missing({ providerId: 1, ...query }).query, known)
    said.push([what, plain(answer)])
    return answer
  })

  /** The unit of a step on the stored state, decided as an actor would. */
  const decide = Effect.fnUntraced(
    function*<Reply, Error>({ state, version }: Loaded<Player>, playerId: number, step: Step<Reply, Error>) {
      let known: Knowledge | undefined
      for (let asked = 0; asked < 4; asked++) {
        const decision = step(state, { now, firstId: nextId, known })
        if (decision._tag === "Missing") {
          known = yield* store.lookUp(state, decision.query, known)
          said.push(["looked up", plain(known)])
        } else if (decision._tag === "Accept" && decision.change !== null) {
          nextId += decision.idsUsed
          const unit: PlayerUnit = {
            key: playerId,
            version,
            before: state,
            after: decision.state,
            changes: [decision.change]
          }
          return unit
        } else {
          return assert.fail(`the script expects a change, not ${JSON.stringify(decision)}`)
        }
      }
      return assert.fail("the script asks too often")
    }
  )

  const does = Effect.fnUntraced(function*<Reply, Error>(what: string, playerId: number, step: Step<Reply, Error>) {
    now += minute
    return yield* commit(what, yield* decide(yield* load(playerId), playerId, step))
  })

  const deposit = (amount: number, externalReference: string) =>
    depositStep({ amount, externalReference, methodCode: null, method: null, info: null, notes: null })

  const claim = { scope: "operator:1", key: "key", fingerprint: new Uint8Array(32) }

  /** A change by hand on the stored state. */
  const byHand = Effect.fnUntraced(function*(playerId: number, change: Partial<Change>, after: Partial<Player> = {}) {
    const { state, version } = yield* load(playerId)
    const unit: PlayerUnit = {
      key: playerId,
      version,
      before: state,
      after: { ...state, ...after },
      changes: [{ ...noChange, ...change }]
    }
    return unit
  })

  // Sound commands of every kind
  for (const playerId of [1, 2, 3]) {
    yield* does(
      "a launch",
      playerId,
      launchStep({ gameId: 11, providerId: 1, mode: "real", platform: "web", ip: null })
    )
    yield* does(
      "a deposit",
      playerId,
      storingReply(
        deposit(1000, `first ${playerId % 2}`),
        { ...claim, key: `d${playerId}`, isSecret: playerId === 2 },
        () => ({ status: 201, body: "{}" })
      )
    )
  }
  yield* does("a bet", 1, (player, context) => settle(player, bet("b", 100), context))
  yield* does("a second bet", 1, (player, context) => settle(player, bet("b2", 40, { game: roulette }), context))
  yield* does("a win", 1, (player, context) => settle(player, win("w", "b", 250), context))
  yield* does("a rollback", 1, (player, context) => settle(player, rollback("k", "w"), context))
  yield* does("a rollback of it again", 1, (player, context) => settle(player, rollback("k2", "w"), context))
  yield* does("a tombstone", 1, (player, context) => settle(player, rollback("kx", "never seen"), context))
  yield* does("a promo-win", 1, (player, context) => payPromoWin(player, promoWin("p", 5), context))
  yield* does("a close", 1, (player, context) => closeRound(player, close(), context))

  // Additional messages of vendors' protocols
  const policy: SettlementPolicy = {
    settledBets: "roll_back",
    winsBeforeBets: "pay",
    closedRounds: "accept",
    afterTombstone: "ignore",
    wonWithinMs: null,
    sameMessage: "kind"
  }
  const vendors = (...actions: ReadonlyArray<Action>) => (player: Player, context: Context) =>
    settleAll(player, actions, context)
  const of = (roundId: string) => ({ policy, roundId })
  yield* does("a win before its bet", 1, vendors(win("vw", null, 30, of("v"))))
  yield* does("its bet", 1, vendors(bet("vb", 10, of("v"))))
  yield* does("a bet in a closed round", 1, vendors(bet("vc", 10, { policy })))
  yield* does("a bet settled by itself", 1, vendors(win("vbw", "vb", 5, { ...of("v"), closesRound: "when_settled" })))
  yield* does("adjustments", 1, vendors(adjustment("va", 7, of("adjusted")), adjustment("vd", -3, of("adjusted"))))
  yield* does("a bet in an adjusted round", 1, vendors(bet("ab", 10, of("adjusted"))))
  yield* does("a rollback of an adjustment", 1, vendors(rollback("vak", "va", { policy })))
  yield* does("a rollback of a settled bet", 1, vendors(rollback("vbk", "vb", { policy })))
  yield* does("the bet once more", 1, vendors(rollback("vbkk", "vbk", { policy })))
  yield* lookUp("a bet that stands again", 1, {
    transactionIds: ["vb", "vbk", "vbkk"],
    rounds: [{ gameId: 11, roundId: "v" }]
  })
  yield* does("a rollback of it again", 1, vendors(rollback("vbl", "vb", { policy })))
  yield* does("and once more", 1, vendors(rollback("vbll", "vbl", { policy })))
  yield* lookUp("a bet that stands again", 1, {
    transactionIds: ["vb", "vbl", "vbll"],
    rounds: [{ gameId: 11, roundId: "v" }]
  })
  const launched = {
    id: 5000,
    expiresAt: noon + minute + 12 * hour,
    gameId: 11,
    providerId: 1,
    platform: "web",
    ip: null
  }
  now += minute
  const exchanged = yield* decide(yield* load(1), 1, exchangeSession(launched))
  yield* commit("an exchange", exchanged)
  yield* load(1)
  yield* does("an exchange of the old one", 1, exchangeSession(launched))
  const given = exchanged.changes[0]?.sessions[0] ?? assert.fail("an exchange opens a session")
  yield* does("a session given up", 1, endSession({ id: given.id, expiresAt: given.expiresAt }))
  yield* load(1)
  now += 10 * day
  yield* does(
    "a correction below zero",
    1,
    correctionStep({ wallet: "real", amount: -2000, reason: "r", actor: "staff:1" })
  )
  yield* does(
    "a correction of the bonus",
    1,
    correctionStep({ wallet: "bonus", amount: 70, reason: "r", actor: "staff:1" })
  )
  yield* does("a note", 1, setStatusStep({ status: "active", reason: "called", actor: "key:pk" }))
  yield* does("a withdrawal", 2, withdrawalStep(withdrawalOf(300, { externalReference: "held", bankName: "b" })))
  const held =
    (yield* lookUp("a payment by its reference", 2, { externalReference: "held" })).payments.get("held")?.id ??
      0
  yield* does("a first approval", 2, transitionStep(transitionOf(held, "approve", { secondApprovalAbove: 299 })))
  yield* lookUp("a payment by its id", 2, { paymentId: held })
  yield* lookUp("another player's payment by its id", 1, { paymentId: held })
  yield* lookUp("no payment", 2, { paymentId: 999_999 })
  yield* does(
    "a second approval",
    2,
    transitionStep(transitionOf(held, "approve", {
      actor: "staff:2",
      secondApprovalAbove: 299,
      judged: { approvedBy: ["staff:1"], objection: undefined }
    }))
  )
  yield* does("a rejection", 2, transitionStep(transitionOf(held, "reject", { reason: "why" })))
  yield* does("a withdrawal without a reference", 2, withdrawalStep(withdrawalOf(100)))
  yield* lookUp("a payment that came back", 2, { paymentId: held, externalReference: "held" })

  // Bonuses: granted, waiting, paid out, wagered, converted, expired, cancelled; and a code for one player
  yield* does("a bonus", 2, grant())
  yield* does("a bonus from staff", 1, grantStep({ bonus: welcome, amount: 10, note: "hello", grantedBy: "staff:1" }))
  yield* load(2)
  yield* does("a bonus that waits", 2, grant({ defaultAmount: 30 }))
  yield* does("a code", 2, redeem)
  yield* does("one that is paid out", 2, grant({ wageringMultiplier: 0, type: "cash" }))
  const waiting = (yield* load(2)).state.pendingBonuses
  const bonusIds = (yield* load(2)).state.activeBonus?.id ?? 0
  yield* does("a bet that counts half", 2, (player, context) => settle(player, bet("c", 40), context))
  yield* load(2)
  yield* does(
    "a bet that is enough",
    2,
    (player, context) => settle(player, bet("c2", 360, { roundId: "enough" }), context)
  )
  yield* does("a win of its round", 2, (player, context) => settle(player, win("cw", "c", 30), context))
  yield* load(2)
  now += 7 * day
  yield* does("time", 2, applyDueBonusesStep)
  yield* load(2)
  yield* does("a cancellation", 2, cancelBonusStep({ id: waiting[1]?.id ?? 0, reason: null, actor: "staff:1" }))
  yield* load(2, true)
  yield* does("a code that is used up", 1, redeem)
  yield* lookUp("the code", 2, { promoCodeId: 31 })
  yield* lookUp("the code of others", 1, { promoCodeId: 31, bonusIds: [bonusIds] })
  yield* lookUp("bonuses", 2, { bonusIds: [bonusIds, ...waiting.map(({ id }) => id), 3] })

  // A bet on the bonus that stands again when the bonus is spent: the bonus is short of it
  yield* does("a bonus that is long wagered", 2, grant({ wageringMultiplier: 100 }))
  const { bonus: staked, real: own } = (yield* load(2)).state
  const all = Math.max(own, 0) + staked
  yield* does("a bet on it", 2, vendors(bet("lb", all, of("spent"))))
  yield* does("its rollback", 2, vendors(rollback("lk", "lb", { policy })))
  yield* does("another bet on it", 2, vendors(bet("lc", all, of("other"))))
  yield* does("the first bet once more", 2, vendors(rollback("lkk", "lk", { policy })))
  yield* lookUp("a bet on what was spent", 2, { transactionIds: ["lb", "lk", "lkk"] })
  assert.strictEqual((yield* load(2)).state.activeBonus?.short, staked)
  assert.isAbove(staked, 0)
  yield* does("a rollback of it", 2, vendors(rollback("ll", "lb", { policy })))
  yield* lookUp("a bet that paid that off", 2, { transactionIds: ["lb", "ll"] })
  yield* load(2)
  yield* does("a rollback of the other", 2, vendors(rollback("lm", "lc", { policy })))
  yield* load(2)

  // Originals: first seeds, rounds, a rotation, and all of it in one commit
  yield* does("first seeds", 2, startSeedsOf("two"))
  yield* lookUp("seeds", 2, { seeds: true })
  yield* does("a round", 2, playStep(playOf(betPaying(10, 25)), openChance))
  yield* does("a round with a client seed", 2, playStep(playOf(betPaying(10, 0), "mine"), openChance))
  const used = yield* lookUp("seeds after rounds", 2, { seeds: true })
  yield* lookUp("other things, seeds known", 2, { bonusIds: [3] }, used)
  yield* does(
    "a rotation",
    2,
    rotateSeedsStep({ fresh: sealedSeedOf("two 3"), clientSeed: undefined }, openChance)
  )
  yield* does("a round after it", 2, playStep(playOf(betPaying(10, 0)), openChance))
  yield* lookUp("seeds after a rotation", 2, { seeds: true })
  yield* lookUp("no seeds", 1, { seeds: true })
  const begun = yield* decide(yield* load(3), 3, startSeedsOf("three"))
  const turned = yield* decide(
    { state: begun.after, version: begun.version },
    3,
    rotateSeedsStep({ fresh: sealedSeedOf("three 3"), clientSeed: "chosen" }, openChance)
  )
  yield* commit("seeds made and rotated at once", { ...turned, changes: [...begun.changes, ...turned.changes] })
  yield* lookUp("seeds made and rotated at once", 3, { seeds: true })

  yield* commit(
    "settings",
    yield* byHand(2, {
      settings: {
        status: "locked",
        kycStatus: "rejected",
        documentExpiresAt: noon + day,
        restrictions: {
          canLogin: false,
          canDeposit: false,
          canWithdraw: false,
          canBet: false,
          excludedFromBonuses: true
        },
        withdrawalHolds: [
          { alertId: 5, isLifted: false },
          { alertId: 6, isLifted: true },
          { alertId: 7, isLifted: false, isCase: true }
        ],
        netDepositCap: 90_000,
        exclusion: {
          type: "self_exclusion",
          since: noon,
          until: noon + day,
          source: "staff",
          scope: "licensee",
          onRequest: { returnFrom: noon + day, returnAt: noon + 2 * day, wait: "P1D" }
        },
        sessionsEndedAt: noon,
        extras: { realityCheck: "PT20M", walletSessionsEndedAt: noon, dormantSince: noon + day },
        limits: { max_single_bet: 7 },
        pendingLimits: [{
          field: "max_single_bet",
          value: null,
          effectiveAt: noon + day,
          confirmUntil: noon + 8 * day,
          isAnnounced: true
        }],
        limitsSet: 5,
        rules: { ...noRules, code: "se", moved: { from: "none", until: noon + day } },
        termsVersion: "2026-11",
        limitsReviewed: noon / 1000 + 30,
        fundsNoticed: noon / 1000 + 60,
        registers: [packStanding({ kind: "spelpaus", verdict: "excluded", at: noon })],
        updatedAt: noon
      }
    })
  )
  yield* load(2)

  const accepted = { signature: "5e".repeat(32), acceptedAt: now }
  yield* commit("a signed effect", yield* byHand(1, { signatures: [accepted] }))
  yield* lookUp("its signature", 1, { signature: accepted.signature })

  // Lookups: existing rows, missing ones, and those of another player or operator
  const known = yield* lookUp("messages", 1, {
    transactionIds: ["b", "b2", "w", "k", "k2", "never seen", "kx", "p", "unknown"],
    rounds: [{ gameId: 11, roundId: "round" }, { gameId: 12, roundId: "round" }, { gameId: 11, roundId: "unknown" }],
    externalReference: "first 1",
    bonusIds: [9]
  })
  yield* lookUp(
    "more of them",
    1,
    { transactionIds: ["unknown 2"], externalReference: "unknown", signature: "ff" },
    known
  )
  yield* lookUp("another player's", 2, {
    transactionIds: ["b"],
    rounds: [{ gameId: 11, roundId: "round" }],
    externalReference: "first 1"
  })
  yield* lookUp("another provider's", 1, { providerId: 2, transactionIds: ["b"] })
  yield* lookUp("another operator's", 3, { externalReference: "first 0" })

  // Fences
  const stale = yield* byHand(1, {})
  yield* load(1, true)
  yield* commit("a stale writer", stale)
  yield* commit("a writer of another operator", {
    ...yield* byHand(1, {}),
    after: { ...(yield* load(3)).state, id: 1 }
  })
  yield* commit("a player who is not there", { ...yield* byHand(1, {}), key: 99 })
  const sound = yield* decide(
    yield* load(2),
    2,
    correctionStep({ wallet: "real", amount: 1, reason: "", actor: "staff:1" })
  )
  yield* commit("a stale unit beside a sound one", stale, sound)
  yield* load(2)

  // Clashes: each alone, and beside a sound unit, which must leave no trace
  const { transactions } = known
  const message = (transactionId: string, fields: Partial<Transaction> = {}): Transaction => ({
    ...transactions.get("b") ?? assert.fail("the bet is known"),
    transactionId,
    ...fields
  })
  const round = known.rounds.get("11:round") ?? assert.fail("the round is known")
  const payment: Payment = {
    ...known.payments.get("first 1") ?? assert.fail("the deposit is known"),
    id: 7001,
    externalReference: "new"
  }
  const state = (yield* load(1)).state
  const entry: Entry = {
    id: 7002,
    playerId: 1,
    operatorId: 1,
    seq: state.entrySeq,
    wallet: "real",
    type: "correction_up",
    amount: 1,
    balanceAfter: 1,
    currency: "EUR",
    paymentRequestId: null,
    gameId: null,
    gameRoundId: null,
    playerBonusId: null,
    createdAt: now
  }
  const original: OriginalRound = {
    id: 7005,
    playerId: 1,
    operatorId: 1,
    gameId: 11,
    original: "dice",
    seedId: used.seeds?.current.serverSeed ?? 0,
    nonce: 9,
    clientSeed: "c",
    stake: 1,
    payout: 0,
    multiplier: 0,
    params: {},
    outcome: {},
    createdAt: now
  }
  const serverSeed: SeedChange = {
    id: 7006,
    playerId: 1,
    operatorId: 1,
    hash: "new",
    sealed: new Uint8Array([1]),
    clientSeed: null,
    createdAt: now,
    startedAt: null,
    retiredAt: null,
    serverSeed: null,
    isLost: false
  }
  const clashes: ReadonlyArray<readonly [what: string, Partial<Change>, after?: Partial<Player>]> = [
    ["a message that exists", { transactions: [message("b")] }],
    ["the same message twice", { transactions: [message("n"), message("n")] }],
    ["a second standing rollback", { transactions: [message("n", { kind: "rollback", targetId: "w" })] }],
    ["a round that exists", { rounds: [{ round, isNew: true }] }],
    ["a reference that exists", { payments: [{ payment: { ...payment, externalReference: "first 1" }, isNew: true }] }],
    ["a payment that exists", {
      payments: [{ payment: { ...payment, id: known.payments.get("first 1")?.id ?? 0 }, isNew: true }]
    }],
    ["an answer that exists", { replies: [{ ...claim, key: "d1", status: 200, body: "", createdAt: now }] }],
    ["a signature that exists", { signatures: [accepted] }],
    ["an entry that exists", { entries: [entry] }],
    ["a nonce that was used", { originalRounds: [{ ...original, id: 7004, nonce: 1 }] }],
    ["an original round that exists twice", { originalRounds: [{ ...original, id: 7004 }, { ...original, id: 7004 }] }],
    ["a server seed that exists", { seeds: [{ ...serverSeed, hash: sealedSeedOf("two 1").hash }] }],
    ["bonus money that is owed", {}, { bonus: -1 }],
    ["less than nothing withdrawn", {}, { withdrawn: -1 }]
  ]
  for (const [what, change, after] of clashes) {
    const unit = yield* byHand(1, change, after)
    assert.strictEqual(yield* commit(what, unit), "clash", what)
    assert.strictEqual(yield* commit(`${what}, beside a sound unit`, unit, sound), "clash", what)
  }
  yield* load(1)
  yield* load(2)
  yield* lookUp("what clashed", 1, { transactionIds: ["n"], externalReference: "new" })

  // Allowed beside it
  const allowed: ReadonlyArray<readonly [what: string, Partial<Change>]> = [
    ["an ignored rollback of the same target", {
      transactions: [message("n1", { kind: "rollback", targetId: "w", status: "ignored", realAmount: 0 })]
    }],
    ["the same id of another provider", { transactions: [message("b", { providerId: 2 })] }],
    ["a win of a bet that has one", { transactions: [message("n2", { kind: "win", targetId: "b" })] }],
    ["a round changed", {
      rounds: [{ round: { ...round, paidWins: 3, won: 900, takenBack: 1, openedAt: 0 }, isNew: false }]
    }],
    ["a round that is not there, changed", { rounds: [{ round: { ...round, roundId: "nowhere" }, isNew: false }] }],
    ["a payment without reference", { payments: [{ payment: { ...payment, externalReference: null }, isNew: true }] }],
    ["another one", { payments: [{ payment: { ...payment, id: 7003, externalReference: null }, isNew: true }] }],
    ["a payment changed", {
      payments: [{
        payment: {
          ...known.payments.get("first 1") ?? payment,
          status: "rejected",
          amount: 1,
          rejectReason: "why",
          isReversed: true,
          rejectedAt: now,
          updatedAt: now
        },
        isNew: false
      }]
    }],
    ["a nonce of another server seed", { originalRounds: [{ ...original, seedId: 7007, nonce: 1 }] }],
    ["a server seed changed that is not there", {
      seeds: [{ ...serverSeed, sealed: null, retiredAt: now, serverSeed: "open" }]
    }],
    ["an answer in another scope", {
      replies: [{ ...claim, scope: "player:1", key: "d1", status: 200, body: "", createdAt: now }]
    }]
  ]
  for (const [what, change] of allowed) {
    assert.strictEqual(yield* commit(what, yield* byHand(1, change)), "written", what)
  }
  yield* lookUp("what was allowed", 1, {
    transactionIds: ["n1", "n2", "w", "b"],
    rounds: [round, { gameId: 11, roundId: "nowhere" }],
    externalReference: "first 1"
  })

  // A round that two decisions of one unit write, and units of several players at once
  const twice = yield* byHand(1, {
    rounds: [{ round: { ...round, roundId: "twice", realStake: 1 }, isNew: true }]
  })
  const rewritten = { ...noChange, rounds: [{ round: { ...round, roundId: "twice", realStake: 2 }, isNew: false }] }
  yield* commit("a round written twice", { ...twice, changes: [...twice.changes, rewritten] }, sound)
  const again = yield* byHand(1, { rounds: [{ round: { ...round, roundId: "both" }, isNew: true }] })
  yield* commit("a round claimed to be new twice", { ...again, changes: [...again.changes, ...again.changes] })
  yield* lookUp("the rounds", 1, { rounds: [{ gameId: 11, roundId: "twice" }, { gameId: 11, roundId: "both" }] })
  yield* load(2)
  return said
})

layer(Chain.layer.pipe(Layer.provide([ChainKey.layerTest, Entropy.layer]), Layer.provideMerge(live)))(
  "PlayerStore",
  (it) => {
    it.effect("gives the same answers and stores the same state in memory and in PostgreSQL", () =>
      Effect.gen(function*() {
        const memory = MemoryPlayerStore.make()
        for (const player of beginning) yield* memory.add(player)
        memory.limitPromo(31, 1)
        const inMemory = yield* runScript(memory)
        const inPostgres = yield* runScript(yield* makePlayerStore)
        inMemory.forEach(([what, answer], step) =>
          assert.deepStrictEqual([what, answer], [...inPostgres[step] ?? []], `step ${step}: ${what}`)
        )
        assert.strictEqual(inMemory.length, inPostgres.length)

        const sql = yield* SqlClient.SqlClient
        const tables = memory.tables()
        const ids = <Row extends { readonly id: number }>(rows: ReadonlyArray<Row>) =>
          rows.map(({ id }) => id).sort((a, b) => a - b)
        const entries =
          yield* sql`SELECT id::float8 AS id, player_id::float8 AS "playerId", operator_id::float8 AS "operatorId",
        seq::float8 AS seq, wallet, type, amount::float8 AS amount, balance_after::float8 AS "balanceAfter", 'EUR' AS currency,
        payment_request_id::float8 AS "paymentRequestId", game_id::float8 AS "gameId", game_round_id AS "gameRoundId",
        player_bonus_id::float8 AS "playerBonusId", created_at AS "createdAt" FROM ledger_entries ORDER BY player_id, seq`
        assert.deepStrictEqual(
          entries,
          tables.entries.toSorted((a, b) => a.playerId - b.playerId || a.seq - b.seq).map((entry) => ({
            ...entry,
            createdAt: new Date(entry.createdAt)
          }))
        )
        for (
          const [table, rows] of [
            ["events", tables.events],
            ["audit_log", tables.audit],
            ["player_notes", tables.notes],
            ["game_sessions", tables.sessions],
            ["payment_requests", tables.payments],
            ["promo_redemptions", tables.redemptions],
            ["original_rounds", tables.originalRounds],
            ["server_seeds", tables.seeds],
            ["player_bonuses", [...tables.bonuses.values()]]
          ] as const
        ) {
          const stored = yield* sql<{ readonly id: number }>`SELECT id::float8 AS id FROM ${sql(table)} ORDER BY id`
          assert.deepStrictEqual(stored.map(({ id }) => id), ids<{ readonly id: number }>(rows), table)
        }
        const messages = yield* sql<
          { readonly transaction_id: string }
        >`SELECT transaction_id FROM provider_transactions`
        assert.sameMembers(
          messages.map(({ transaction_id }) => transaction_id),
          tables.transactions.map(({ transactionId }) => transactionId)
        )
        // sums of the reports, over all shards
        const added = new Map<string, bigint>()
        const add = (key: string, amount: number | bigint) => added.set(key, (added.get(key) ?? 0n) + BigInt(amount))
        for (const { bonusBets, day: on, isLive, operatorId, providerId, totals } of tables.sums) {
          for (const [figure, amount] of Object.entries({ ...totals, bonus_bets: bonusBets })) {
            add(`${operatorId} ${on} ${providerId} ${isLive} ${figure}`, amount)
          }
        }
        for (const { day: on, kind, operatorId, players, previousDay } of tables.visits) {
          add(`${operatorId} ${on} ${previousDay} ${kind}`, players)
        }
        const summed = yield* sql<{ readonly key: string; readonly amount: string }>`
        SELECT concat_ws(' ', operator_id, day - date '1970-01-01', provider_id, is_live::text, f.figure) AS key,
          sum(f.amount)::text AS amount
        FROM daily_sums CROSS JOIN LATERAL (VALUES ('rounds', rounds), ('bets', bets), ('bonus_bets', bonus_bets), ('wins', wins),
          ('bonus_conversions', bonus_conversions), ('deposits', deposits), ('chargebacks', chargebacks),
          ('withdrawals', withdrawals)) AS f (figure, amount) GROUP BY 1
        UNION ALL SELECT concat_ws(' ', operator_id, day - date '1970-01-01', previous_day - date '1970-01-01', kind),
          sum(players)::text FROM daily_players GROUP BY 1`
        assert.isAbove(summed.length, 20)
        assert.deepStrictEqual(
          summed.map(({ amount, key }) => `${key}: ${amount}`).toSorted(),
          [...added].map(([key, amount]) => `${key}: ${amount}`).toSorted()
        )
        const signatures = yield* sql<{ readonly signature: string; readonly at: Date }>`
        SELECT encode(signature, 'hex') AS signature, accepted_at AS at FROM accepted_signatures`
        assert.deepStrictEqual(
          signatures.map(({ at, signature }) => ({ signature, acceptedAt: at.getTime() })),
          tables.signatures
        )
        const replies = yield* sql<{ readonly key: string; readonly isSealed: boolean }>`
        SELECT scope || ' ' || key AS key, body IS NULL AS "isSealed" FROM idempotency_keys`
        assert.sameDeepMembers(
          [...replies],
          tables.replies.map(({ isSecret, key, scope }) => ({ key: `${scope} ${key}`, isSealed: isSecret === true }))
        )
      }))
  }
)
