/**
 * Simulated exclusion register and screening of a sandbox: no network, the player's last name decides. `Excluded`, `Previous` and `Unavailable` are
 * answered as their names say by a register, `Sanction` and `Pep` are hits of a screening; anybody else is clear.
 */
import type { ConnectionKind, Hit } from "../domain/register/Register.ts"
import { answered, faultOf } from "./Answers.ts"
import type { Answer, BoundRegister, Question } from "./Register.ts"

const hitsOf = ({ firstName, lastName }: Question["person"]): ReadonlyArray<Hit> => {
  const name = `${firstName ?? ""} ${lastName ?? ""}`.trim()
  return lastName === "Sanction"
    ? [{ list: "simulated sanctions", category: "sanction", score: 1, name }]
    : lastName === "Pep"
    ? [{ list: "simulated persons", category: "pep", score: 1, name }]
    : []
}

const answerOf = (kind: ConnectionKind, { person, requestId }: Question): Answer => {
  const { lastName } = person
  const responseId = `simulated-${requestId}`
  if (lastName === "Unavailable") return faultOf("the simulated register does not answer about this name")
  if (kind === "screening") {
    return { _tag: "Answered", verdict: "clear", responseId, registerCode: null, hits: hitsOf(person) }
  }
  return answered(lastName === "Excluded" ? "excluded" : lastName === "Previous" ? "previous" : "clear", responseId)
}

/** What a question is sent to is never asked: whoever binds this register sends nothing. */
export const simulatedRegister = (kind: ConnectionKind): BoundRegister => ({
  request: () => ({ url: "https://register.invalid", headers: { "content-type": "application/json" }, body: "" }),
  read: (question) => answerOf(kind, question)
})
