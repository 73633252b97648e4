/**
 * Low processor priority for sessions that read whole tables, where PostgreSQL runs on this machine: it has no such setting of its own. Without it
 * a verification and two reports take the processors of a small machine from the sessions that commit bets.
 */
import { Effect, Option, Schema } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import * as Fs from "node:fs"
import * as Os from "node:os"

/** A seventieth of the share of a session without it where processors are scarce; no effect where they are idle. */
const niceness = Os.constants.priority.PRIORITY_LOW

const sessionProcess = "SELECT pg_backend_pid(), inet_client_port()"
const decode = Schema.decodeUnknownOption(Schema.Tuple([Schema.Tuple([Schema.Int, Schema.Int])]))

/**
 * Lowers the priority of a session's process for its life: raising it again takes a capability. Does nothing where the process is not on this
 * machine, belongs to another user without the capability `CAP_SYS_NICE`, or where the system has no `/proc`.
 */
export const lowerPriority = (session: SqlConnection.Connection): Effect.Effect<void, SqlError.SqlError> =>
  Effect.flatMap(session.executeValues(sessionProcess, []), (rows) =>
    Option.match(decode(rows), {
      onNone: () => Effect.void,
      onSome: ([[pid, port]]) => Effect.ignore(Effect.andThen(verifyProcess(pid, port), lower(pid)))
    }))

/** Verifies the title of the process: through a tunnel, the id is one of another machine. */
const verifyProcess = (pid: number, port: number) =>
  Effect.filterOrFail(
    Effect.try(() => Fs.readFileSync(`/proc/${pid}/cmdline`, "latin1")),
    (title) => title.startsWith("postgres: ") && title.includes(`(${port})`)
  )

const lower = (pid: number) =>
  Effect.andThen(
    Effect.try(() => Os.setPriority(pid, niceness)),
    // where the kernel groups processes by session, priorities count within a group only
    Effect.try(() => Fs.writeFileSync(`/proc/${pid}/autogroup`, String(niceness)))
  )
