/** Game categories of the API, and the vendors' names for them. */
export const gameCategories = ["slots", "table", "live", "jackpot", "instant", "crash"] as const

type GameCategory = (typeof gameCategories)[number]

/** Words of vendors, in the order in which they decide: a video poker with a jackpot is a jackpot. */
const words: ReadonlyArray<readonly [GameCategory, RegExp]> = [
  ["jackpot", /jackpot/],
  ["crash", /crash|aviator|multiplier/],
  ["instant", /instant|scratch|keno|bingo|lotter|virtual|arcade|mines|plinko|dice|fishing|shooting/],
  ["table", /table|roulette|blackjack|baccarat|poker|craps|sic.?bo|\bcards?\b|dragon.?tiger/],
  ["slots", /slot/]
]

/** The category of a vendor's word: of a live game `live`, and `slots` of a game of chance whose word says nothing known. */
export const categoryOfWord = (type: "rng" | "live", word: string): string => {
  if (type === "live") return "live"
  const small = word.toLowerCase()
  return words.find(([, pattern]) => pattern.test(small))?.[0] ?? "slots"
}

const known: ReadonlySet<string> = new Set(gameCategories)

/** The category of a game as caps see it: a game of chance of an unknown one counts as a slot. */
export const cappedCategory = (type: "rng" | "live", category: string): string =>
  type === "live" || known.has(category) ? category : "slots"
