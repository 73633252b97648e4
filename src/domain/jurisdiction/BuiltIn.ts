/** Built-in jurisdiction profiles, each at version 1. */
import { Schema } from "effect"
import { Profile } from "./Profile.ts"
import caOn from "./profiles/ca-on.json" with { type: "json" }
import de from "./profiles/de.json" with { type: "json" }
import dk from "./profiles/dk.json" with { type: "json" }
import gb from "./profiles/gb.json" with { type: "json" }
import mt from "./profiles/mt.json" with { type: "json" }
import nl from "./profiles/nl.json" with { type: "json" }
import none from "./profiles/none.json" with { type: "json" }
import se from "./profiles/se.json" with { type: "json" }

const decode = Schema.decodeUnknownSync(Profile, { errors: "all", onExcessProperty: "error" })

/** The profile whose rules are the API's own. */
export const noneProfile = decode(none)

export const builtInProfiles: ReadonlyArray<Profile> = [
  noneProfile,
  ...[gb, mt, se, dk, nl, de, caOn].map((document) => decode(document))
]
