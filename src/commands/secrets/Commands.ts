/** Commands of encrypted columns. */
import { Command } from "effect/cli"
import { noun, verb } from "../Verb.ts"

const isReadable = (kinds: ReadonlyArray<{ readonly unreadable: number }>): boolean =>
  kinds.every(({ unreadable }) => unreadable === 0)

export const secret = noun("secret", "Secrets that are stored sealed").pipe(Command.withSubcommands([
  verb(
    "list",
    "How many there are, and under which key; exit 1 when one cannot be opened",
    {},
    (client) => client.secret.list(),
    isReadable,
    "Opening every secret"
  ),
  verb(
    "reseal",
    "Seal under MASTER_KEY what is sealed under MASTER_KEY_PREVIOUS; exit 1 when one cannot be opened",
    {},
    (client) => client.secret.reseal(),
    isReadable,
    "Sealing every secret"
  )
]))
