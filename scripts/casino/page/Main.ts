/**
 * The page of the casino. What only the operator may do (register, record a deposit, grant a bonus) it asks the site for; everything of the player's
 * session it calls itself, on `pitboss-client/player`.
 */
import {
  createPlayerClient,
  type Game,
  type Bonus,
  type PlayerBonus,
  PitbossError,
  type PlayerClient
} from "../../package/client/src/browser.ts"
import { byId, field, h, money, select, table } from "./Dom.ts"
import { games as known } from "./Games.ts"
import { isFair } from "./Verify.ts"

/** A refusal of the site, or of the service through it. */
class SiteError extends Error {}

const site = async <A>(method: "GET" | "POST", action: string, form: object = {}): Promise<A> => {
  const answer = await fetch(`/site/${action}`, {
    method,
    ...(method === "POST" ? { headers: { "content-type": "application/json" }, body: JSON.stringify(form) } : {})
  })
  const said = await answer.json()
  if (!answer.ok) {
    const fields = Object.entries<unknown>(said.error.details).map(([name, reason]) => `${name}: ${String(reason)}`)
    throw new SiteError([said.error.message, ...said.error.code === "VALIDATION_FAILED" ? fields : []].join(" "))
  }
  return said
}

// The drawer

const mostLines = 200

const addLine = (
  from: string,
  what: string,
  status: number | undefined,
  milliseconds: number | undefined,
  body: unknown
): void => {
  const summary = [
    h("span", { class: `from ${from}` }, from),
    h("span", {}, what),
    h(
      "span",
      { class: status !== undefined && status >= 400 ? "bad" : "quiet" },
      [status, milliseconds === undefined ? undefined : `${milliseconds} ms`].filter((part) => part !== undefined)
        .join(" · ")
    )
  ]
  const list = byId("calls")
  list.prepend(
    h("li", {}, h("details", {}, h("summary", {}, ...summary), h("pre", {}, JSON.stringify(body, null, 1) ?? "")))
  )
  if (list.children.length > mostLines) list.lastElementChild?.remove()
}

/** Shows each call of the player's client. */
const recording: typeof fetch = async (address, init) => {
  const began = performance.now()
  const answer = await fetch(address, init)
  const path = new URL(address instanceof Request ? address.url : address).pathname.replace("/api/v1", "")
  addLine(
    "browser",
    `${init?.method ?? "GET"} ${path}`,
    answer.status,
    Math.round(performance.now() - began),
    await answer.clone().json().catch(() => "")
  )
  return answer
}

new EventSource("/site/calls").addEventListener("message", ({ data }) => {
  const { body, from, milliseconds, status, what } = JSON.parse(data)
  addLine(from, what, status, milliseconds, body)
})

// The session

/** Renewed a minute before it ends. */
const newToken = () => {
  interface Token {
    readonly token: string
    readonly expires_at: string
  }
  let current: Promise<Token> | undefined
  // calls at once wait for one token
  const renewed = () => {
    const asked = site<Token>("POST", "token")
    asked.catch(() => (current = undefined))
    return (current = asked)
  }
  return async (): Promise<string> => {
    const held = await (current ?? renewed())
    return Date.parse(held.expires_at) - Date.now() < 60_000 ? (await renewed()).token : held.token
  }
}

const session: PlayerClient = createPlayerClient({ baseUrl: location.origin, token: newToken(), fetch: recording })

const problem = h("p", { role: "alert" })

/** Runs what a button does: one at a time, its failure shown above everything. */
const doing = (button: HTMLButtonElement, work: () => Promise<unknown>): void => {
  problem.textContent = ""
  button.disabled = true
  work().catch((error: unknown) => {
    problem.textContent = error instanceof PitbossError && error.code !== "NO_ANSWER"
      ? `${error.message} (${error.code})`
      : error instanceof SiteError
      ? error.message
      : "The casino does not answer."
    problem.scrollIntoView({ block: "nearest" })
  }).finally(() => {
    button.disabled = false
    button.focus({ preventScroll: true })
  })
}

/** A form with one button, whose fields are checked by the browser first. */
const form = (
  label: string,
  fields: ReadonlyArray<HTMLElement>,
  send: (given: FormData) => Promise<unknown>
): HTMLFormElement => {
  const button = h("button", { type: "submit" }, label)
  const made = h("form", {}, ...fields, button)
  made.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!button.disabled) doing(button, () => send(new FormData(made)))
  })
  return made
}

const textOf = (given: FormData, name: string): string => {
  const value = given.get(name)
  return typeof value === "string" ? value : ""
}

/** Euros of a form as cents. */
const centsOf = (given: FormData, name: string): number => Math.round(Number(textOf(given, name)) * 100)

const amount = (name: string, label: string, value: string) =>
  field(
    label,
    h("input", { name, type: "number", min: "0.01", step: "0.01", value, inputmode: "decimal", required: true })
  )

const part = (title: string, isWide: boolean, ...children: ReadonlyArray<HTMLElement>): HTMLElement => {
  const id = title.toLowerCase()
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title`, class: isWide ? "wide" : undefined },
    h("h2", { id: `${id}-title` }, title),
    ...children
  )
}

// What is shown again after each action

const limits = h("div")
const history = h("div")
const bonus = h("div")
const fairness = h("div")

const limitNames = [
  ["max_daily_deposit", "Deposits a day"],
  ["max_daily_bet", "Bets a day"],
  ["max_daily_loss", "Losses a day"],
  ["max_single_bet", "A single bet"]
] as const

const time = (text: string): string =>
  new Date(text).toLocaleString("en-GB", { dateStyle: "short", timeStyle: "short" })

const showBalance = (real: number, bonusMoney: number): void => {
  byId("balance").textContent = bonusMoney === 0 ? money(real) : `${money(real)} + ${money(bonusMoney)} bonus`
}

const showWallet = async () => {
  const { balance, bonus_balance } = await session.wallet.get()
  showBalance(balance, bonus_balance)
}

const showLimits = async () => {
  const { limits: set, pending_changes, usage } = await session.limits.get()
  limits.replaceChildren(
    table(
      "Limits and what is used",
      [
        { name: "Limit" },
        { name: "Most", isNumber: true },
        { name: "Used", isNumber: true },
        { name: "Left", isNumber: true }
      ],
      limitNames.map(([name, label]) => {
        const [most, { remaining, used }] = [set[name], usage[name]]
        return [
          label,
          most === null ? "none" : money(most),
          money(Math.max(used, 0)),
          remaining === null ? "–" : money(remaining)
        ]
      })
    ),
    ...pending_changes.map(({ effective_at, field, requested_value }) =>
      h(
        "p",
        { class: "quiet" },
        `${limitNames.find(([name]) => name === field)?.[1] ?? field}: ${
          requested_value === null ? "none" : money(requested_value)
        } from ${time(effective_at)} on`
      )
    )
  )
}

const showHistory = async () => {
  const { data } = await session.transactions({ per_page: 12 })
  history.replaceChildren(
    data.length === 0
      ? h("p", { class: "quiet" }, "Nothing yet.")
      : table(
        "Movements of money, newest first",
        [
          { name: "When" },
          { name: "What" },
          { name: "Wallet" },
          { name: "Amount", isNumber: true },
          { name: "Balance", isNumber: true }
        ],
        data.map((entry) => [
          time(entry.created_at),
          entry.type.replaceAll("_", " "),
          entry.wallet,
          money(entry.amount),
          money(entry.balance_after)
        ])
      )
  )
}

interface Bonuses {
  readonly offered: ReadonlyArray<Bonus>
  readonly granted: ReadonlyArray<PlayerBonus>
}

const showBonus = async () => {
  const { granted, offered } = await site<Bonuses>("GET", "bonuses")
  const mine = granted.map(({ amount, name, result, state, wager_requirement, wagered_amount, wagering_progress }) =>
    h(
      "div",
      {},
      h("p", {}, `${name}: ${money(amount)}, ${result ?? state}`),
      h("progress", { max: 100, value: wagering_progress, "aria-label": `${name}, wagered` }),
      h("p", { class: "quiet" }, `${money(wagered_amount)} of ${money(wager_requirement)} wagered`)
    )
  )
  const open = offered.filter(({ id }) => granted.every(({ bonus_id }) => bonus_id !== id)).map((
    { default_amount, description, id, name }
  ) =>
    form(`Take ${money(default_amount)}`, [h("p", {}, `${name}. ${description}`)], async () => {
      await site("POST", "bonus", { bonus_id: id })
      await showAll()
    })
  )
  bonus.replaceChildren(
    ...mine,
    ...open,
    ...mine.length + open.length === 0 ? [h("p", { class: "quiet" }, "None on offer.")] : []
  )
}

const showFairness = async () => {
  const { client_seed, nonce, server_seed_hash } = await session.fairness.get()
  fairness.replaceChildren(
    h("p", {}, `Rounds under this seed so far: ${nonce}. Your own seed: ${client_seed}.`),
    h("p", { class: "hash" }, `Promised: ${server_seed_hash}`)
  )
}

const showAll = async (): Promise<void> => {
  await Promise.all([showWallet(), showLimits(), showHistory(), showBonus(), showFairness()])
}

// Sections

const lobby = (found: ReadonlyArray<Game>): HTMLElement => {
  const playable = found.filter(({ external_id }) => known[external_id] !== undefined)
  const tiles = h("div", { class: "games", role: "group", "aria-label": "Games" })
  const place = h("div")
  const choose = (game: Game): void => {
    const shown = known[game.external_id]
    if (shown === undefined) return
    for (const tile of tiles.children) {
      tile.setAttribute("aria-pressed", String(tile.getAttribute("data-game") === game.external_id))
    }
    const stage = h("div", { class: "stage", "data-game": game.external_id }, shown.icon())
    const result = h("p", { role: "status", "aria-label": "Outcome" }, " ")
    const play = form("Play", [amount("stake", "Stake", "1.00"), ...shown.controls()], async (given) => {
      const round = await session.play(game.id, { stake: centsOf(given, "stake"), params: shown.paramsOf(given) })
      stage.replaceChildren(shown.picture(round.outcome))
      const paid = money(round.payout)
      const end = round.payout > round.stake ? `won ${paid}` : round.payout > 0 ? `got ${paid} back` : "lost"
      result.className = round.payout > round.stake ? "won" : "lost"
      result.textContent = `${game.name}: ${shown.words(round.outcome)}, ${end}`
      showBalance(round.balance, round.bonus_balance)
      await showAll()
    })
    place.replaceChildren(h("div", { class: "table" }, stage, h("div", {}, play, result)))
  }
  for (const game of playable) {
    tiles.append(
      h(
        "button",
        {
          type: "button",
          "data-game": game.external_id,
          click: () => choose(game)
        },
        known[game.external_id]?.icon(),
        game.name
      )
    )
  }
  if (playable[0] !== undefined) choose(playable[0])
  return part("Lobby", true, tiles, place)
}

const cashier = (): HTMLElement =>
  part(
    "Cashier",
    false,
    form("Deposit", [
      amount("amount", "Amount in euros", "50.00"),
      field(
        "Card number",
        h("input", {
          name: "card",
          inputmode: "numeric",
          autocomplete: "off",
          value: "4242 4242 4242 4242",
          required: true
        })
      ),
      field(
        "Expires",
        h("input", { name: "expires", autocomplete: "off", value: "12/30", pattern: "\\d\\d/\\d\\d", required: true })
      ),
      field(
        "Security code",
        h("input", {
          name: "cvc",
          inputmode: "numeric",
          autocomplete: "off",
          value: "123",
          pattern: "\\d{3,4}",
          required: true
        })
      )
    ], async (given) => {
      await site("POST", "deposit", { amount: centsOf(given, "amount"), card: textOf(given, "card") })
      await showAll()
    }),
    h("p", { class: "quiet" }, "No real card is charged. 4000 0000 0000 0002 is declined.")
  )

const periods = [["24_hours", "24 hours"], ["7_days", "7 days"], ["30_days", "30 days"]] as const

const protection = (): HTMLElement =>
  part(
    "Limits",
    false,
    limits,
    form(
      "Set limit",
      [field("Limit", select("limit", limitNames)), amount("most", "Most in euros", "100.00")],
      async (given) => {
        await session.limits.set({ limits: { [textOf(given, "limit")]: centsOf(given, "most") } })
        await showAll()
      }
    ),
    form("Time-out", [field("No play for", select("period", periods))], async (given) => {
      const chosen = periods.find(([period]) => period === given.get("period"))?.[0]
      const { self_exclusion } = await session.limits.selfExclude({ period: chosen })
      showBreak(self_exclusion?.until ?? null)
    })
  )

const showBreak = (until: string | null): void => {
  byId("main").replaceChildren(
    problem,
    h(
      "section",
      { class: "wide" },
      h("h2", { tabindex: -1, id: "paused" }, "You take a break"),
      h(
        "p",
        { role: "status", "aria-label": "Break" },
        `You cannot play or deposit until ${until === null ? "further notice" : time(until)}. Your balance stays yours.`
      ),
      form("Leave", [h("p", { class: "quiet" }, "Somebody else may open an account here.")], async () => {
        await site("POST", "leave")
        location.reload()
      })
    )
  )
  byId("sections").hidden = true
  byId("paused").focus()
}

/** How many of the newest rounds are proved. */
const mostProved = 20

const proof = (): HTMLElement => {
  const proved = h("div", { role: "status", "aria-label": "Proof" })
  return part(
    "Fairness",
    false,
    fairness,
    form("Verify", [
      h("p", { class: "quiet" }, "Reveals the seed, then computes every round under it again, here in your browser.")
    ], async () => {
      const { retired } = await session.fairness.rotate({})
      const { data } = await session.transactions({ type: "casino_bet", per_page: 100 })
      const ids = [...new Set(data.flatMap(({ game_round_id }) => game_round_id === null ? [] : [game_round_id]))]
      const rounds = await Promise.all(
        ids.slice(0, Math.min(retired.rounds, mostProved)).map((id) => session.rounds.get(Number(id)))
      )
      const fair = await Promise.all(rounds.map(isFair))
      const count = fair.filter((each) => each).length
      proved.replaceChildren(
        h(
          "p",
          { class: count === rounds.length ? "won" : "lost" },
          `${count} of ${rounds.length} rounds are as the seed decided.`
        ),
        h("p", { class: "hash" }, `Revealed: ${retired.server_seed}`),
        ...rounds.length === 0 ?
          [] :
          [table(
            "Proved rounds",
            [{ name: "Round" }, { name: "Game" }, { name: "Paid", isNumber: true }, { name: "Fair" }],
            rounds.map((round, at) => [
              String(round.fairness.nonce + 1),
              round.original.replaceAll("_", " "),
              money(round.payout),
              fair[at] === true ? "yes" : "no"
            ])
          )]
      )
      await showFairness()
    }),
    proved
  )
}

const enter = async (): Promise<void> => {
  const sections = [
    lobby(await site<ReadonlyArray<Game>>("GET", "games")),
    cashier(),
    part("Bonus", false, bonus),
    protection(),
    proof(),
    part("History", true, history)
  ]
  byId("main").replaceChildren(problem, ...sections)
  const nav = byId("sections")
  nav.replaceChildren(...sections.map(({ id }) => h("a", { href: `#${id}` }, id[0]?.toUpperCase() + id.slice(1))))
  nav.hidden = false
  await showAll()
}

const register = (): void => {
  const letters = Array.from({ length: 7 }, () => "abcdefghijklmnopqrstuvwxyz"[Math.floor(Math.random() * 26)]).join("")
  const name = `player_${letters}`
  const text = (id: string, label: string, value: string, type = "text", autocomplete = "off") =>
    field(label, h("input", { name: id, type, value, autocomplete, required: true }))
  byId("main").replaceChildren(
    problem,
    h(
      "section",
      { class: "wide" },
      h(
        "div",
        { class: "strip" },
        ...Object.entries(known).map(([game, { icon }]) => h("span", { "data-game": game }, icon()))
      ),
      h("h2", {}, "Open an account"),
      form("Register", [
        text("username", "Username", name),
        text("email", "E-mail", `${name}@players.example`, "email"),
        text("first_name", "First name", "Ada"),
        // a name of its own: that of a player who takes a break would be refused
        text("last_name", "Last name", `Example ${letters}`),
        text("birth_date", "Birth date", "1990-12-31", "date"),
        field("Country", select("country", [["MT", "Malta"], ["DE", "Germany"], ["FI", "Finland"], ["IE", "Ireland"]]))
      ], async (given) => {
        await site("POST", "register", Object.fromEntries(given))
        await enter()
      }),
      h(
        "p",
        { class: "quiet" },
        "A sandbox: no money is real. What the site asks Pitboss, and what it is told, stands under Calls."
      )
    )
  )
}

const { player, self_exclusion } = await site<{
  readonly player: number | null
  readonly self_exclusion: { readonly until: string | null } | null
}>("GET", "visit")
if (player === null) register()
// a player in a time-out has no session
else if (self_exclusion !== null) showBreak(self_exclusion.until)
else {
  await enter().catch((error: unknown) => {
    byId("main").prepend(h("p", { role: "alert" }, error instanceof Error ? error.message : String(error)))
  })
}
if (matchMedia("(max-width: 60rem)").matches) byId("drawer").removeAttribute("open")
