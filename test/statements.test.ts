import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { profileFields } from "../src/contract/players/RegistrationResource.ts"
import { settingsColumns } from "../src/store/internal/SettingsSections.ts"
import { childrenOf, isNode, nameOf, parse, type SyntaxNode } from "./kit/SyntaxTree.ts"

// Goal: no statement needs two operators, so that operators can be spread over databases (docs/decisions/0045-operators-apart.md). Method:
// every statement of src on a table whose rows have an operator or a player must name operators, players or rows by their ids; those that
// do not stand below with their reason. A player's state is written by the commits of the player's actor alone (src/store): what else writes to
// those tables stands below with its columns.

const root = Path.join(import.meta.dirname, "..")

const filesOf = (folder: string, ending: string): ReadonlyArray<string> =>
  Fs.readdirSync(Path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => file.replaceAll("\\", "/"))
    .sort()

/** Tables with a column that says whose a row is. */
const tables = (() => {
  const found = new Set<string>()
  for (const file of filesOf("migrations", ".sql")) {
    const text = Fs.readFileSync(Path.join(root, "migrations", file), "utf8").replaceAll(/--.*$/gm, "")
    for (const [, table, body] of text.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\n\)/g)) {
      if (table !== undefined && /^\s*(operator_id|player_id) /m.test(body ?? "")) found.add(table)
    }
    for (const [, table] of text.matchAll(/ALTER TABLE (\w+)[^;]*ADD COLUMN (?:operator_id|player_id) /g)) {
      if (table !== undefined) found.add(table)
    }
  }
  return [...found].sort()
})()

/** What a declaration of a file says, by its name. */
const declarationsOf = (program: SyntaxNode): ReadonlyMap<string, SyntaxNode> => {
  const found = new Map<string, SyntaxNode>()
  const visit = (node: SyntaxNode): void => {
    if (node.type === "VariableDeclarator" && isNode(node["init"])) found.set(nameOf(node["id"]), node["init"])
    if (node.type === "FunctionDeclaration") found.set(nameOf(node["id"]), node)
    for (const child of childrenOf(node)) visit(child)
  }
  visit(program)
  return found
}

/** All text within an expression, and of what it names in its file, each once. */
const textOf = (
  node: SyntaxNode,
  declarations: ReadonlyMap<string, SyntaxNode>,
  seen: Set<string> = new Set()
): string => {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : ""
  if (node.type === "TemplateElement") {
    const { value } = node
    return typeof value === "object" && value !== null && "cooked" in value ? String(value.cooked) : ""
  }
  if (node.type === "TemplateLiteral") {
    const [quasis, expressions] = [node["quasis"], node["expressions"]]
    if (!Array.isArray(quasis) || !Array.isArray(expressions)) return ""
    const part = (one: unknown): string => isNode(one) ? textOf(one, declarations, seen) : ""
    return quasis.map((quasi, index) =>
      `${part(quasi)}${index < expressions.length ? ` ${part(expressions[index])} ` : ""}`
    )
      .join("")
  }
  const name = nameOf(node)
  const declared = declarations.get(name)
  if (node.type === "Identifier") {
    if (declared === undefined || seen.has(name)) return name
    seen.add(name)
    return textOf(declared, declarations, seen)
  }
  return childrenOf(node).map((child) => textOf(child, declarations, seen)).join(" ")
}

/** Whether a literal may be a statement, by its first letter: what it names is long. */
const mayBeStatement = (node: SyntaxNode): boolean => {
  const [first] = node.type === "TemplateLiteral" && Array.isArray(node["quasis"]) ? node["quasis"] : [node]
  const text = isNode(first) ? textOf(first, new Map()).replace(/^[\s(]*/, "") : ""
  return (node.type === "TemplateLiteral" && text === "") || /^[SIUDW]/.test(text)
}

const isStatement = (text: string): boolean => /^[\s(]*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/.test(text)

/** The statements of a file, with what its parts say. */
const statementsOf = (text: string): ReadonlyArray<string> => {
  const program = parse(text)
  const declarations = declarationsOf(program)
  const visit = (node: SyntaxNode): ReadonlyArray<string> => {
    const isText = node.type === "TemplateLiteral" || node.type === "Literal"
    const own = isText && mayBeStatement(node) ? textOf(node, declarations) : ""
    return isStatement(own) ? [own] : childrenOf(node).flatMap(visit)
  }
  return visit(program)
}

/** The tables that a statement reads or changes. */
const readIn = (statement: string): ReadonlyArray<string> =>
  tables.filter((table) => new RegExp(`\\b(FROM|JOIN|UPDATE|,)\\s+${table}\\b`).test(statement))

/** Whether it names operators, players, or rows by their ids. */
const isNamed = (statement: string): boolean =>
  /\b"?(operator_id|player_id)"?\)?(::\w+)?\s*(=|IN\b|<>|IS NOT DISTINCT)/.test(statement) ||
  /=\s*(\w+\.)?"?(operator_id|player_id)\b/.test(statement) ||
  /\((\w+\.)?(operator_id|player_id)\b[^()]*\)\s*(=|>|<|IN\b)/.test(statement) ||
  /(^|[\s.("])id"?\)?\s*(=|IN\b|IS NOT DISTINCT)/.test(statement) ||
  /\$operator\b|\bofOperator\b|\bin id\b|\bwithin(Report)?\b|\bofList\b/.test(statement)

/** Work on whatever a database holds, in every cell on its own; and what names its rows in another way. */
const exceptions: Readonly<Record<string, string>> = {
  "features/cases/CaseOrders.ts: case_orders": "a job: players of this database whose cases have decided something",
  "features/compliance/Holds.ts: compliance_alerts": "a job: alerts of this database whose holds are to be placed",
  "features/compliance/internal/EffectQueue.ts: compliance_effects": "a queue of this database",
  "features/figures/FigureReadings.ts: figure_hours": "a job: forgets readings of this database after their time",
  "features/figures/Overviews.ts: audit_log": "whether staff have done something since, of no operator's rows",
  "features/integrations/KeptCalls.ts: kept_calls": "a job: forgets calls of this database after their time",
  "features/ledger/VerifiedLedger.ts: ledger_verified_players": "what a verification of all operators kept",
  "features/ledger/VerifiedLedger.ts: player_bonuses":
    "from when on a verification reads the entries of bonuses that changed",
  "features/moving/ImportRuns.ts: import_chunks": "of an import, which is asked for by its operator",
  "features/moving/internal/Chunks.ts: import_chunks": "of an import, which is asked for by its operator",
  "features/players/DueAccountChanges.ts: players": "a job: players of this database who are due",
  "features/position/DormantAccounts.ts: players": "how far the walk of that job goes",
  "features/position/DueSessions.ts: accounts": "a job: players of this database whose session has to be looked after",
  "features/profiles/ProfileVersions.ts: players": "whether a profile has players in this database, of any operator",
  "features/responsibleGaming/LicenseeExclusions.ts: licensee_comparisons": "a queue of this database",
  "features/responsibleGaming/LicenseeExclusions.ts: licensee_walks": "a queue of this database",
  "features/registers/RegisterConnections.ts: register_connections":
    "how all operators of this database reach registers",
  "features/registers/RegisterRefresh.ts: register_connections":
    "a job: registers of this database, one after the other",
  "features/responsibleGaming/LicenseeExclusions.ts: licensee_comparisons, licensee_walks":
    "whether anything is in them",
  "features/sandbox/SandboxClock.ts: operator_clocks": "a job: clocks of this database that nobody advances any more",
  "features/reports/BonusCosts.ts: bonus_cost_changes": "a job: sums of this database's grants",
  "features/reports/internal/GameQuery.ts: ledger_entries, original_rounds, rounds":
    "a job: play of this database by game",
  "features/reports/internal/GameQuery.ts: provider_transactions": "a job: play of this database by game",
  "features/settlement/ProviderTransactions.ts: provider_transactions":
    "a provider asks for one of its messages and names no operator: each cell is asked",
  "features/settlement/StaleRounds.ts: rounds": "a job: rounds of this database that nobody closes",
  "features/settlement/StaleRounds.ts: stale_rounds": "how many there are, for the metrics",
  "features/webhooks/WebhookDeliveries.ts: webhook_deliveries":
    "of an endpoint, which is asked for by its operator; those of all operators for staff of all, each cell on its own",
  "features/webhooks/internal/DeliveryStore.ts: webhook_deliveries, webhook_endpoints": "a queue of this database",
  "features/webhooks/internal/DeliveryStore.ts: events, webhook_deliveries, webhook_endpoints":
    "its age, for the metrics",
  "features/players/Players.ts: idempotency_keys": "named by a scope, which is an operator's or a player's, and a key",
  "store/Idempotency.ts: idempotency_keys":
    "named by a scope, which is an operator's or a player's, and a key; and a job",
  "store/internal/RejectedUnits.ts: idempotency_keys":
    "named by a scope, which is an operator's or a player's, and a key",
  "store/RollbacksInEffect.ts: provider_transactions": "part of statements: rollbacks of a message that these name"
}

const statements = filesOf("src", ".ts").flatMap((file) =>
  statementsOf(Fs.readFileSync(Path.join(root, "src", file), "utf8"))
    .filter((statement) => readIn(statement).length > 0)
    .map((statement) => ({
      place: `${file}: ${readIn(statement).join(", ")}`,
      isNamed: isNamed(statement),
      shown: `${file}: ${statement.replaceAll(/\s+/g, " ").trim().slice(0, 200)}`
    }))
)

describe("SQL statements and operators", () => {
  it("every statement is limited to operators, players or rows by id, or is an exception with a reason", () => {
    assert.isAbove(statements.length, 150)
    assert.includeMembers([...tables], ["rounds", "provider_transactions", "game_sessions", "ledger_entries"])
    assert.deepStrictEqual(
      statements.filter(({ isNamed, place }) => !isNamed && exceptions[place] === undefined).map(({ shown }) => shown),
      []
    )
  })

  it("the list of exceptions has only statements that are not limited so", () => {
    assert.deepStrictEqual(
      Object.keys(exceptions).filter((exception) =>
        !statements.some(({ isNamed, place }) => !isNamed && place === exception)
      ),
      []
    )
  })

  it("the check finds a statement even if its SQL text is written in parts", () => {
    const found = statementsOf(`
      const where = sql.and([sql\`p.operator_id = \${operatorId}\`])
      const one = sql\`SELECT id FROM players p WHERE \${where}\`
      const two = sql\`SELECT player_id, operator_id FROM rounds WHERE closed ORDER BY \${order}\`
      const three = "UPDATE rounds SET closed = true"
      const four = sql\`SELECT 1 FROM games\``)
    assert.deepStrictEqual(
      found.map((statement) => [readIn(statement), isNamed(statement)]),
      [[["players"], true], [["rounds"], false], [["rounds"], false], [[], false]]
    )
  })
})

/** Tables that the commits of players' actors write. */
const actorTables = [
  "players",
  "accounts",
  "ledger_entries",
  "provider_transactions",
  "rounds",
  "game_sessions",
  "player_bonuses",
  "payment_requests",
  "obligations",
  "acknowledgements",
  "original_rounds",
  "server_seeds",
  "promo_redemptions",
  "imported_players"
]

/** The columns that a SET clause names; `…` where it is built from names that stand elsewhere. */
const columnsSet = (clause: string): string => {
  const names = [...clause.matchAll(/(?:^|[,{])\s*"?(\w+)"?\s*(?:=(?![=>])|:(?!:))/g)].map(([, column]) => column)
  return [...names, ...(names.length === 0 || clause.includes("...") ? ["…"] : [])].join(", ")
}

/** Writes to the actor's tables, and to tables that are not named where they are written, by their text in a file. */
const writesIn = (code: string): ReadonlyArray<string> => {
  const isWatched = (table: string) => actorTables.includes(table) || table.startsWith("${")
  const target = String.raw`\s+(?:ONLY\s+)?"?(\w+|\$\{[^}]*\})`
  const statements = String.raw`(INSERT INTO|(?<!FOR |KEY |DO )UPDATE|DELETE FROM|MERGE INTO|TRUNCATE)${target}`
  const records = [...code.matchAll(/\brecordsOf\(\s*"(\w+)"/g)].flatMap(([, table = ""]) =>
    isWatched(table) ? [`recordsOf ${table}`] : []
  )
  return [
    ...new Set(records),
    ...[...code.matchAll(new RegExp(String.raw`\b${statements}`, "g"))].flatMap(
      ({ 0: found, 1: verb, 2: table = "", index }) => {
        if (!isWatched(table)) return []
        const [, clause] =
          /^[^`]*?\bSET\s([^]*?)(?:\bWHERE\b|\bFROM\b|\bRETURNING\b|`|$)/.exec(code.slice(index + found.length)) ?? []
        return [`${verb} ${table}${verb === "UPDATE" ? `: ${columnsSet(clause ?? "")}` : ""}`]
      }
    )
  ]
}

/** Writes outside the actor, each with the reason why it may stand there. */
const writesOutside: Readonly<Record<string, string>> = {
  "auth/SealedSecrets.ts UPDATE ${one.table}: …": "encrypts secrets with a new key",
  "features/bonuses/BonusRepository.ts UPDATE players: registration_promo_due": "read by a job only",
  "features/cases/Cases.ts recordsOf obligations": "reads only",
  "features/consents/ConsentRecords.ts INSERT INTO acknowledgements": "consents, which no decision reads",
  "features/consents/ConsentRecords.ts UPDATE players: consents, marketing_email, marketing_sms, marketing_newsletter, updated_at":
    "consents, which no decision reads",
  "features/obligations/Obligations.ts recordsOf acknowledgements": "reads only",
  "features/obligations/Obligations.ts recordsOf obligations": "reads only",
  "features/players/PlayerAccounts.ts UPDATE players: last_login_at": "no decision reads it",
  "features/players/Profiles.ts UPDATE players: updated_at, …":
    "the profile; the actor is told of the fields that it carries",
  "features/players/internal/NewPlayer.ts INSERT INTO accounts": "a new player, whom no actor has loaded",
  "features/players/internal/NewPlayer.ts INSERT INTO players": "a new player, whom no actor has loaded",
  "features/webhooks/internal/DeliveryStore.ts INSERT INTO ${sql(table)}": "positions and sequences of events"
}

describe("SQL statements and players' actors", () => {
  const writes = filesOf("src", ".ts").filter((file) => !file.startsWith("store/")).flatMap((file) =>
    writesIn(Fs.readFileSync(Path.join(root, "src", file), "utf8")).map((write) => `${file} ${write}`)
  )

  it("a player's money, limits and exclusion are written by the actor's commit only", () => {
    assert.includeMembers([...tables], actorTables)
    assert.sameMembers([...writes], Object.keys(writesOutside))
    // what a profile update writes, whose statement names no columns
    const own = settingsColumns.map(({ name }) => name)
    assert.includeMembers(own, ["status", "limits", "exclusion_until"])
    assert.deepStrictEqual(profileFields.filter((field) => own.includes(field)), [])
  })

  it("the check finds writes in every form", () => {
    assert.deepStrictEqual(
      writesIn(`
        sql\`UPDATE players SET status = 'closed', can_bet = \${may} WHERE id = 1 AND name = 'x'\`
        sql\`SELECT 1 FROM players WHERE id = 1 FOR NO KEY UPDATE OF players\`
        sql\`WITH a AS (INSERT INTO accounts VALUES (1) ON CONFLICT DO UPDATE SET version = 0) DELETE FROM rounds\`
        sql\`UPDATE players SET \${sql.update(row)} WHERE id = 1\`
        sql\`UPDATE players SET \${sql.update({ ...row, limits: null })} WHERE id = 1\`
        sql\`UPDATE games SET active = false\`
        recordsOf("obligations", Obligation)`),
      [
        "recordsOf obligations",
        "UPDATE players: status, can_bet",
        "INSERT INTO accounts",
        "DELETE FROM rounds",
        "UPDATE players: …",
        "UPDATE players: limits, …"
      ]
    )
  })
})
