/**
 * Low processor priority for database sessions that read whole tables, where PostgreSQL runs on this machine: PostgreSQL itself has no such setting.
 * Without it a verification and two reports take the processors of a small machine from the sessions that commit bets.
 */
import { Effect, Option, Schema } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { execFile } from "node:child_process"
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

const lower = Effect.fnUntraced(function*(pid: number) {
  if ((yield* Effect.try(() => Os.getPriority(pid))) === niceness) return
  yield* Effect.try(() => Os.setPriority(pid, niceness))
  // where the kernel groups processes by session, priorities count within a group only
  yield* Effect.ignore(Effect.try(() => Fs.writeFileSync(`/proc/${pid}/autogroup`, String(niceness))))
  yield* Effect.ignore(makeIdle(pid))
})

/**
 * Gives a process the scheduling policy SCHED_IDLE: a session that wakes up to commit bets takes the processor from it at once. From one that is only
 * nice, Linux takes it at the end of a slice of milliseconds, several times in a commit. Node.js has no call for it; without `chrt` of util-linux the
 * process stays nice.
 */
const makeIdle = (pid: number) =>
  Effect.callback<void, Error>((resume) => {
    execFile(
      "chrt",
      ["--idle", "--pid", "0", String(pid)],
      { timeout: 5000, env: { PATH: process.env["PATH"] } },
      (error) => {
        resume(error === null ? Effect.void : Effect.fail(error))
      }
    )
  })
