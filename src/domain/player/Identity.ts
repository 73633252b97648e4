/** Decides whether two records belong to the same person (SPEC section 3.5; `docs/decisions/0023-compliance.md`). Pure. */

import { Schema, Struct } from "effect"

/** Identifying facts of a person. Null means unknown. */
export const Identity = Schema.Struct({
  firstName: Schema.String,
  middleName: Schema.NullOr(Schema.String),
  lastName: Schema.String,
  /** `YYYY-MM-DD`. */
  birthDate: Schema.String,
  personalId: Schema.NullOr(Schema.String),
  documentNumber: Schema.NullOr(Schema.String)
})

export type Identity = typeof Identity.Type

/** The facts that are stored in clear. */
export const NamedIdentity = Schema.Struct(Struct.omit(Identity.fields, ["personalId", "documentNumber"]))

export type NamedIdentity = typeof NamedIdentity.Type

/** A person's name as its record holds it. */
export type PersonName = Pick<Identity, "firstName" | "middleName" | "lastName">

/**
 * Latin letters that Unicode does not decompose into a base letter and marks, upper case, each with its ASCII spelling as in the transliteration
 * Latin-ASCII of ICU. Lower case is mapped after upper-casing, which also expands ß to SS.
 */
const latinLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "Æ": "AE",
    "Ø": "O",
    "Đ": "D",
    "Ð": "D",
    "Þ": "TH",
    "ẞ": "SS",
    "Ł": "L",
    "Ħ": "H",
    "Ŋ": "N",
    "Œ": "OE",
    "Ŧ": "T",
    "ĸ": "Q",
    "Ə": "E",
    "Ɓ": "B",
    "Ƃ": "B",
    "Ƀ": "B",
    "Ƈ": "C",
    "Ȼ": "C",
    "Ɖ": "D",
    "Ɗ": "D",
    "Ƌ": "D",
    "Ɛ": "E",
    "Ɇ": "E",
    "Ƒ": "F",
    "Ɠ": "G",
    "Ǥ": "G",
    "Ƕ": "HV",
    "Ɨ": "I",
    "Ɩ": "I",
    "Ɉ": "J",
    "Ƙ": "K",
    "Ⱪ": "K",
    "Ƚ": "L",
    "Ɫ": "L",
    "Ⱡ": "L",
    "Ɱ": "M",
    "Ɲ": "N",
    "Ƞ": "N",
    "Ɔ": "O",
    "Ɵ": "O",
    "Ƣ": "OI",
    "Ȣ": "OU",
    "Ƥ": "P",
    "Ᵽ": "P",
    "Ɍ": "R",
    "Ɽ": "R",
    "Ȿ": "S",
    "Ƭ": "T",
    "Ʈ": "T",
    "Ⱦ": "T",
    "Ʉ": "U",
    "Ʋ": "V",
    "Ⱳ": "W",
    "Ƴ": "Y",
    "Ɏ": "Y",
    "Ƶ": "Z",
    "Ȥ": "Z",
    "Ɀ": "Z",
    "Ⱬ": "Z",
    "Ⱥ": "A",
    "Ꜳ": "AA",
    "Ꜵ": "AO",
    "Ꜷ": "AU",
    "Ꜹ": "AV",
    "Ꜻ": "AV",
    "Ꜽ": "AY",
    "Ꝁ": "K",
    "Ꝃ": "K",
    "Ꝅ": "K",
    "Ꝉ": "L",
    "Ꝋ": "O",
    "Ꝍ": "O",
    "Ꝏ": "OO",
    "Ꝑ": "P",
    "Ꝓ": "P",
    "Ꝕ": "P",
    "Ꝗ": "Q",
    "Ꝙ": "Q",
    "Ꝛ": "R",
    "Ꝟ": "V",
    "Ꝡ": "VY",
    "Ꞑ": "N",
    "Ꞓ": "C",
    "Ꞡ": "G",
    "Ꞣ": "K",
    "Ꞥ": "N",
    "Ꞧ": "R",
    "Ꞩ": "S",
    "ᴀ": "A",
    "ᴁ": "AE",
    "ʙ": "B",
    "ᴄ": "C",
    "ᴅ": "D",
    "ᴇ": "E",
    "ꜰ": "F",
    "ɢ": "G",
    "ʜ": "H",
    "ᴊ": "J",
    "ᴋ": "K",
    "ʟ": "L",
    "ᴍ": "M",
    "ɴ": "N",
    "ᴏ": "O",
    "ɶ": "OE",
    "ᴘ": "P",
    "ʀ": "R",
    "ꜱ": "S",
    "ᴛ": "T",
    "ᴜ": "U",
    "ᴠ": "V",
    "ᴡ": "W",
    "ʏ": "Y",
    "ᴢ": "Z"
  })
)

/** Capitals of other alphabets that look like a Latin one. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  [["АВЕКМНОРСТУХІЈЅԚԜӀ", "ABEKMHOPCTYXIJSQWI"], ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"]]
    .flatMap(([letters = "", latin = ""]) =>
      letters.split("").map((letter, index): readonly [string, string] => [letter, latin.charAt(index)])
    )
)

/** Text in upper case without marks and letters that nobody sees (the Hangul fillers), its Latin letters in ASCII. */
const inAscii = (text: string): string =>
  text.normalize("NFKD").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "").toUpperCase()
    .replaceAll(/[^\p{ASCII}]/gu, (letter) => latinLetters.get(letter) ?? letter)

/** Text as a reader of Latin letters takes it: a name with a Cyrillic а in it is not another name. */
const asSeen = (text: string): string => text.replaceAll(/[^\p{ASCII}]/gu, (letter) => lookAlikes.get(letter) ?? letter)

/** Letters and digits only. A modifier letter (the ʻokina) is punctuation of a name. */
const lettersAndDigits = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]|\p{Lm}/gu, "")

/** Normalises a document number: no separators and no letters that nobody sees, case-insensitive. */
export const comparableNumber = (text: string | null): string | null => {
  const comparable =
    text?.normalize("NFKC").replaceAll(/[^\p{L}\p{N}]|\p{Default_Ignorable_Code_Point}/gu, "").toUpperCase() ?? ""
  return comparable === "" ? null : comparable
}

/** Normalises text without marks, spaces and punctuation: "Łódź, Ząbkowska 7/3" is "LODZZABKOWSKA73". */
export const comparableText = (text: string): string => lettersAndDigits(inAscii(text))

/** Words of a name: "Anna-Maria O'Hara" is ANNA, MARIA, OHARA. */
const wordsOf = (text: string): ReadonlyArray<string> => {
  const words = inAscii(text).split(/[\p{White_Space}\p{Pd},.]+/u).map(lettersAndDigits).filter((word) => word !== "")
  // of no letter at all: two such names are not one
  return words.length > 0 || text === "" ? words : [inAscii(text)]
}

const sorted = (words: ReadonlyArray<string>): string => words.toSorted().join(" ")

/**
 * Spellings of one name: those who share one have the same name, whatever the order of their names, their spaces, the field a middle name
 * stands in, and the alphabet of letters that look alike.
 */
const namesOf = ({ firstName, lastName, middleName }: PersonName): ReadonlyArray<string> => {
  const wholes = [firstName, lastName].map((name) => wordsOf(name).join(""))
  const words = [firstName, middleName ?? "", lastName].flatMap(wordsOf)
  return [...new Set([wholes, words, wholes.map(asSeen), words.map(asSeen)].map(sorted))]
}

/** Words of family names that many unrelated families have. */
const particles: ReadonlySet<string> = new Set(
  "A AL ABU AP BIN BINT DA DAS DE DEL DELLA DEN DER DI DO DOS DU E EL IBN LA LAS LE LOS TEN TER VAN VON Y ZU ZUM ZUR"
    .split(
      " "
    )
)

/** Maximum words of a given name, and of a family name, that are compared. */
const maxWords = 6

/** Spelling that "Müller", "Muller" and "Mueller" share, as do "Đorđe" and "Djordje". */
const withoutDigraphs = (word: string): string => word.replaceAll(/([AOU])E|(A)A|(D)J/g, "$1$2$3")

const tellingWords = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const telling = words.filter((word) => !particles.has(word))
  return (telling.length === 0 ? words : telling).slice(0, maxWords).map(withoutDigraphs)
}

/**
 * Pairs of a given and a family name, each a sign that two records may be of one person: one of several given or family names, in any order, with or
 * without the digraphs that stand for letters with marks.
 */
export const similarNamesOf = ({ firstName, lastName, middleName }: PersonName): ReadonlyArray<string> => {
  const given = tellingWords([...wordsOf(firstName), ...wordsOf(middleName ?? "")])
  const family = tellingWords(wordsOf(lastName))
  return [...new Set(given.flatMap((one) => family.map((other) => sorted([one, other]))))]
}

/** What makes two records those of one person: a fact of the same kind and value. */
export const identityFacts = (
  identity: Identity
): ReadonlyArray<readonly [kind: "personal_id" | "document_number" | "name_and_birth_date", value: string | null]> => [
  ["personal_id", comparableNumber(identity.personalId)],
  ["document_number", comparableNumber(identity.documentNumber)],
  ...namesOf(identity).map((name) => ["name_and_birth_date", `${identity.birthDate} ${name}`] as const)
]

/** Whether two records have one birth date and one name. */
export const isSameByName = (one: NamedIdentity, other: NamedIdentity): boolean => {
  if (one.birthDate !== other.birthDate) return false
  const names = namesOf(other)
  return namesOf(one).some((name) => names.includes(name))
}
