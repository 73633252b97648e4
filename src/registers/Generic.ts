/** Generic JSON protocol for an intermediary, or for an exclusion register without a protocol of its own here. */
import { Schema } from "effect"
import { answered, answerId } from "./Answers.ts"
import { bearerJsonRegister } from "./BearerJson.ts"

export const genericRegister = bearerJsonRegister({
  kind: "generic",
  write: ({ event, person: { email, personalId, phone, postcode } }) => ({
    event,
    email,
    phone,
    postcode,
    personal_id: personalId
  }),
  form: Schema.Struct({
    request_id: Schema.String,
    response_id: answerId,
    excluded: Schema.Boolean,
    previously: Schema.Boolean
  }),
  members: ["request_id", "response_id", "excluded", "previously"],
  answer: ({ excluded, previously, response_id: id }) =>
    answered(excluded ? "excluded" : previously ? "previous" : "clear", id)
})
