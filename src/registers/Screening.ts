/** Protocol for screening a person against sanctions lists and lists of politically exposed persons. */
import { Schema } from "effect"
import { Hit } from "../domain/register/Register.ts"
import { answerId } from "./Answers.ts"
import { bearerJsonRegister } from "./BearerJson.ts"

/** Hits of one answer; one with more is none. */
const maxHits = 100

export const screeningRegister = bearerJsonRegister({
  kind: "screening",
  write: ({ person: { country } }) => ({ country }),
  form: Schema.Struct({
    request_id: Schema.String,
    response_id: answerId,
    hits: Schema.Array(Hit).check(Schema.isMaxLength(maxHits))
  }),
  members: ["request_id", "response_id", "hits"],
  answer: ({ hits, response_id: responseId }) => ({
    _tag: "Answered",
    verdict: "clear",
    responseId,
    registerCode: null,
    hits
  })
})
