/**
 * Description of a provider's message in plain sentences: what it moved and what took it back, or why it moved nothing and what happens next.
 * Pure, for the staff API and the pages alike.
 */
import { outcomeStory, type RoundFigures } from "../RoundOutcome.ts"
import type { Transaction, TransactionKind } from "../state/Rounds.ts"

/** What a kept call is about. */
export const callKinds = ["bet", "win", "promo_win", "adjustment", "rollback", "round_end"] as const
export type CallKind = (typeof callKinds)[number]

/** Why a kept call moved no money: refused, answered as the first time, or without effect because its rollback came first. */
export const callResults = ["refused", "replayed", "ignored"] as const
export type CallResult = (typeof callResults)[number]

/** A settled message, or the tombstone of one. Minor units. */
export interface SettledMessage
  extends Pick<Transaction, "kind" | "status" | "amount" | "realAmount" | "bonusAmount" | "targetId" | "detail">
{
  /** ISO 8601. */
  readonly at: string
}

/** A call that moved no money. */
export interface ToldCall {
  readonly kind: CallKind
  readonly result: CallResult
  /** Of a refusal, with what caused it: a limit, a restriction. */
  readonly code: string | null
  readonly reason: string | null
  /** As sent, with its currency; null where it has none. */
  readonly amount: string | null
  /** ISO 8601. */
  readonly at: string
}

export interface MessageFacts {
  /** The provider's. */
  readonly id: string
  /** Names; null where not known. */
  readonly provider: string
  readonly player: string | null
  readonly game: string | null
  readonly roundId: string | null
  /** The player's part in the round; null where there is none. */
  readonly round: RoundFigures | null
  /** Null when no call under this id was accepted. */
  readonly message: SettledMessage | null
  /** Rollback that stands; of a tombstone, the one that left it. */
  readonly takenBackBy: { readonly id: string; readonly at: string } | null
  /** Kind of what a rollback names; null for any other message. */
  readonly targetKind: TransactionKind | null
  /** Under this id, the oldest first. */
  readonly calls: ReadonlyArray<ToldCall>
}

/** How amounts in minor units and instants in ISO 8601 are written. */
export interface Texts {
  readonly money: (amount: number) => string
  readonly instant: (at: string) => string
}

export type MessageOutcome = "settled" | "taken_back" | "no_effect" | "refused" | "never_came"

export const messageOutcome = ({ calls, message, takenBackBy }: MessageFacts): MessageOutcome =>
  message === null
    ? calls.length === 0 ? "never_came" : calls.at(-1)?.result === "refused" ? "refused" : "no_effect"
    : message.kind === "tombstone" || message.status === "ignored"
    ? "no_effect"
    : takenBackBy === null
    ? "settled"
    : "taken_back"

const kindWords: { readonly [kind in CallKind | TransactionKind]: string } = {
  bet: "bet",
  win: "win",
  promo_win: "promotional win",
  adjustment: "correction",
  rollback: "rollback",
  tombstone: "message",
  round_end: "end of round"
}

const promoWords: Readonly<Record<string, string>> = {
  jackpot: "a jackpot",
  tournament: "a tournament prize",
  free_rounds: "winnings of free rounds",
  cash_drop: "a cash drop"
}

const capitalized = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())

/** What moved in each wallet. */
const movement = ({ bonusAmount, realAmount }: SettledMessage, money: Texts["money"]): string => {
  const parts = ([["real", realAmount], ["bonus", bonusAmount]] as const).flatMap(([wallet, amount]) =>
    amount === 0 ? [] : [`${money(Math.abs(amount))} ${amount < 0 ? "left" : "went to"} the ${wallet} wallet`]
  )
  return parts.length === 0 ? "no money moved" : parts.join(" and ")
}

const playerOf = ({ player }: MessageFacts): string => player ?? "an unknown player"

const inRound = ({ game, roundId }: MessageFacts): string =>
  `${roundId === null ? "" : ` in round ${roundId}`}${
    game === null ? "" : `${roundId === null ? " on" : " of"} ${game}`
  }`

const rollbackText = (facts: MessageFacts, message: SettledMessage, { instant, money }: Texts): string => {
  const { id, provider, targetKind } = facts
  const target = message.targetId ?? "its target"
  const at = instant(message.at)
  if (message.status === "processed") {
    return `${provider} took ${kindWords[targetKind ?? "tombstone"]} ${target} of ${playerOf(facts)} back at ${at}: ${
      movement(message, money)
    }.`
  }
  return targetKind === null || targetKind === "tombstone"
    ? `Rollback ${id} of ${
      playerOf(facts)
    } came at ${at}, before ${target}, which is not accepted any more: no money moved.`
    : `Rollback ${id} of ${kindWords[targetKind]} ${target} of ${
      playerOf(facts)
    } came at ${at}, when there was nothing to take back: no money moved.`
}

/** What an accepted message did. */
const settledText = (facts: MessageFacts, message: SettledMessage, texts: Texts): string => {
  const { id, provider, takenBackBy } = facts
  const { instant, money } = texts
  const { amount, detail, kind } = message
  const at = instant(message.at)
  const moved = movement(message, money)
  switch (kind) {
    case "bet":
      return amount === 0
        ? `Player ${facts.player ?? "unknown"} bet free of charge${inRound(facts)} at ${at}: ${moved}.`
        : `Player ${facts.player ?? "unknown"} staked ${money(amount)}${inRound(facts)} at ${at}: ${moved}.`
    case "win":
      return amount === 0
        ? `${provider} said at ${at} that ${playerOf(facts)} won nothing${inRound(facts)}.`
        : `${provider} paid ${playerOf(facts)} ${money(amount)}${inRound(facts)} at ${at}: ${moved}.${
          detail === "without_bet" ? " Its bet had not come." : ""
        }`
    case "promo_win":
      return `${provider} paid ${playerOf(facts)} ${money(amount)} as ${
        promoWords[detail ?? ""] ?? "a promotional win"
      } at ${at}: ${moved}.`
    case "adjustment":
      return `${provider} corrected what ${playerOf(facts)} won${inRound(facts)} by ${amount < 0 ? "-" : "+"}${
        money(Math.abs(amount))
      } at ${at}: ${moved}.`
    case "rollback":
      return rollbackText(facts, message, texts)
    case "tombstone":
      return `${provider} rolled ${id} of ${playerOf(facts)} back${
        takenBackBy === null ? "" : ` by ${takenBackBy.id}`
      } at ${at}, before it came: it is not accepted any more, and no money moved.`
    default:
      return kind satisfies never
  }
}

/** What a refusal means, and who does what next. */
const advice = ({ code, kind, reason }: ToldCall, provider: string): string => {
  const why = reason === null ? "" : ` (${reason.replaceAll("_", " ")})`
  switch (code) {
    case "TRY_AGAIN":
    case "SERVER_ERROR":
    case "RATE_LIMITED":
      return `${provider} has to send it again.`
    case "INSUFFICIENT_FUNDS":
      return kind === "bet" ? "The balance did not cover the stake." : "The balance did not cover it."
    case "LIMIT_EXCEEDED":
      return `A limit of the player's stopped it${why}.`
    case "PLAYER_RESTRICTED":
      return `The player might not bet${why}.`
    case "BONUS_INVALID":
      return `The bonus does not allow this bet${why}.`
    case "INVALID_SESSION":
      return "The game's session was unknown or over: the player has to open the game again."
    case "BET_NOT_FOUND":
      return `Its bet has not come: ${provider} has to send the bet first, and this again.`
    case "BET_ROLLED_BACK":
      return "Its bet was rolled back."
    case "BET_ALREADY_SETTLED":
      return "What it takes back was paid already."
    case "ROUND_CLOSED":
      return "Its round had ended."
    case "DUPLICATE_TRANSACTION":
      return `Its id was used for another message: ${provider} has to send it under a new one.`
    case "NOT_FOUND":
    case "VALIDATION_FAILED":
      return `${provider} has to correct it and send it again.`
    default:
      return `If it was due, ask ${provider} about it.`
  }
}

/** A refused call in a sentence or two, where its message is one of several. */
export const refusalText = (id: string, call: ToldCall, provider: string): string =>
  `${capitalized(kindWords[call.kind])} ${id} was refused with ${call.code}. ${advice(call, provider)}`

/** When calls came: `at 12:00`, or `3 times, last at 12:00`. */
const whenOf = (calls: ReadonlyArray<ToldCall>, instant: Texts["instant"]): string =>
  `${calls.length > 1 ? `${calls.length} times, last ` : ""}at ${instant(calls.at(-1)?.at ?? "")}`

/** Calls under the id of an accepted message. */
const callTexts = (
  message: SettledMessage,
  calls: ReadonlyArray<ToldCall>,
  { instant }: Texts
): ReadonlyArray<string> => {
  const isTombstone = message.kind === "tombstone"
  const of = (...parts: ReadonlyArray<(call: ToldCall) => boolean>) =>
    calls.filter((call) => parts.every((is) => is(call)))
  const isRefused = ({ result }: ToldCall) => result === "refused"
  const isEarly = ({ at }: ToldCall) => at < message.at
  const [early, late] = [of(isRefused, isEarly), of(isRefused, (call) => !isEarly(call))]
  const replayed = of(({ result }) => result === "replayed")
  const ignored = of(({ result }) => result === "ignored")
  return [
    ...(early.length === 0 ? [] : [`Before that it was refused with ${early.at(-1)?.code} ${whenOf(early, instant)}.`]),
    ...(replayed.length === 0
      ? []
      : [`It was sent again ${whenOf(replayed, instant)} and answered as the first time: nothing moved twice.`]),
    ...(ignored.length === 0 ? [] : [`It came ${whenOf(ignored, instant)} and was answered without effect.`]),
    ...(late.length === 0 ? [] : [
      isTombstone
        ? `It came ${whenOf(late, instant)} and was refused with ${late.at(-1)?.code}.`
        : `A call with this id was refused with ${late.at(-1)?.code} ${whenOf(late, instant)}: nothing of it moved.`
    ])
  ]
}

/** Message of which no call was accepted. */
const unsettledText = (facts: MessageFacts, { instant }: Texts): string => {
  const { calls, id, provider } = facts
  const last = calls.at(-1)
  if (last === undefined) return `${provider} has not sent ${id}.`
  const refused = calls.filter(({ result }) => result === "refused")
  const about = `${capitalized(kindWords[last.kind])} ${id}${last.amount === null ? "" : ` of ${last.amount}`} for ${
    playerOf(facts)
  }${inRound(facts)}`
  return last.result === "refused"
    ? `${about} was refused with ${last.code} ${whenOf(refused, instant)}: no money moved. ${advice(last, provider)}`
    : `${about} came ${whenOf(calls, instant)} and was answered without effect: no money moved.`
}

/** What became of the round, where the message alone does not say it: of a bet that stands, and of a message that was refused. */
const roundText = (
  { message, provider, round, roundId, takenBackBy }: MessageFacts,
  { money }: Texts
): string | undefined =>
  round === null || roundId === null || (message !== null && (message.kind !== "bet" || takenBackBy !== null))
    ? undefined
    : outcomeStory({ ...round, provider, roundId, lostAt: null, refused: null }, money)

/** The whole story. */
export const messageStory = (facts: MessageFacts, texts: Texts): string => {
  const { calls, message, takenBackBy } = facts
  const isTakenBack = message !== null && message.kind !== "tombstone" && takenBackBy !== null
  const round = roundText(facts, texts)
  return [
    message === null ? unsettledText(facts, texts) : settledText(facts, message, texts),
    ...(isTakenBack ? [`Rollback ${takenBackBy.id} took it back at ${texts.instant(takenBackBy.at)}.`] : []),
    ...(message === null ? [] : callTexts(message, calls, texts)),
    ...(round === undefined ? [] : [round])
  ].join(" ")
}
