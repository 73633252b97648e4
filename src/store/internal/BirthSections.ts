/** CTEs of the commit statement that write new players. Identity numbers and imported password hashes are encrypted. */
import type { Birth, BornTexts } from "../../domain/state/Birth.ts"
import { settingsOf } from "../../domain/state/Change.ts"
import type { Player } from "../../domain/state/Player.ts"
import type { PersonalData } from "../../platform/PersonalData.ts"
import { withoutPersonal } from "../EventData.ts"
import { numberDigests, passwordPurpose, sealNumbers } from "../SealedFields.ts"
import type { SettingsRow } from "./SettingsSections.ts"
import { bytes, columnsOf, flag, insertInto, number, text, time } from "./StatementSections.ts"

/** Birth with what is sealed of it, and its settings after all changes of the commit. */
export interface BirthRow {
  readonly birth: Birth
  readonly player: Pick<Player, "country" | "currency" | "language" | "isTest">
  readonly settings: SettingsRow
  readonly numbersSealed: Uint8Array | null
  readonly personalIdDigest: Uint8Array | null
  readonly documentNumberDigest: Uint8Array | null
  readonly passwordSealed: Uint8Array | null
}

export const toBirthRow = (
  { after, key }: { readonly after: Player; readonly key: number },
  birth: Birth,
  { personal, seal }: {
    readonly personal: PersonalData["Service"]
    readonly seal: (purpose: string, plain: string) => Uint8Array
  }
): BirthRow => {
  const digests = numberDigests(personal, birth.numbers)
  const { passwordHash } = birth.imported
  return {
    birth,
    player: after,
    // of the state after all changes: there is no row yet that another section could update
    settings: { ...settingsOf(after, after.realUpdatedAt), playerId: key, operatorId: birth.operatorId },
    numbersSealed: sealNumbers(personal, birth.id, birth.numbers),
    personalIdDigest: digests.personalId,
    documentNumberDigest: digests.documentNumber,
    passwordSealed: passwordHash === null ? null : seal(passwordPurpose(birth.id), passwordHash)
  }
}

type Texts = typeof BornTexts.Type

const textColumns = columnsOf<Texts, BirthRow>({
  external_id: text("external_id", ({ birth }) => birth.texts.external_id),
  username: text("username", ({ birth }) => birth.texts.username),
  email: text("email", ({ birth }) => birth.texts.email),
  first_name: text("first_name", ({ birth }) => birth.texts.first_name),
  last_name: text("last_name", ({ birth }) => birth.texts.last_name),
  middle_name: text("middle_name", ({ birth }) => birth.texts.middle_name),
  gender: text("gender", ({ birth }) => birth.texts.gender),
  city: text("city", ({ birth }) => birth.texts.city),
  address: text("address", ({ birth }) => birth.texts.address),
  zip_code: text("zip_code", ({ birth }) => birth.texts.zip_code),
  phone: text("phone", ({ birth }) => birth.texts.phone),
  birth_name: text("birth_name", ({ birth }) => birth.texts.birth_name),
  birth_place: text("birth_place", ({ birth }) => birth.texts.birth_place),
  last_name_prefix: text("last_name_prefix", ({ birth }) => birth.texts.last_name_prefix),
  category: text("category", ({ birth }) => birth.texts.category),
  risk_level: text("risk_level", ({ birth }) => birth.texts.risk_level),
  registration_source: text("registration_source", ({ birth }) => birth.texts.registration_source),
  registration_ip: text("registration_ip", ({ birth }) => birth.texts.registration_ip),
  registration_promo_code: text("registration_promo_code", ({ birth }) => birth.texts.registration_promo_code),
  registration_affiliate_id: text("registration_affiliate_id", ({ birth }) => birth.texts.registration_affiliate_id),
  registration_btag: text("registration_btag", ({ birth }) => birth.texts.registration_btag)
})

/** `settings`: the columns of a player's settings, with the ids. */
export const newPlayersWith = (settings: ReadonlyArray<Parameters<typeof insertInto<SettingsRow>>[1][number]>) =>
  insertInto<BirthRow>("players", [
    ...settings.map(({ value, ...column }) => ({ ...column, value: (row: BirthRow) => value(row.settings) })),
    ...textColumns,
    text("country", ({ player }) => player.country),
    text("currency", ({ player }) => player.currency),
    text("language", ({ player }) => player.language),
    flag("is_test", ({ player }) => player.isTest),
    flag("marketing_email", ({ birth }) => birth.marketing.email),
    flag("marketing_sms", ({ birth }) => birth.marketing.sms),
    flag("marketing_newsletter", ({ birth }) => birth.marketing.newsletter),
    text("consents", ({ birth }) => birth.consents === null ? null : JSON.stringify(birth.consents), "jsonb"),
    text("birth_date", ({ birth }) => birth.birthDate, "date"),
    text("password_hash", ({ birth }) => birth.passwordHash),
    time("created_at", ({ birth }) => birth.createdAt),
    time("last_login_at", ({ birth }) => birth.lastLoginAt),
    bytes("numbers_sealed", ({ numbersSealed }) => numbersSealed),
    bytes("personal_id_digest", ({ personalIdDigest }) => personalIdDigest),
    bytes("document_number_digest", ({ documentNumberDigest }) => documentNumberDigest)
  ])

export const importedPlayers = insertInto<BirthRow>("imported_players", [
  number("player_id", ({ birth }) => birth.id),
  number("operator_id", ({ birth }) => birth.operatorId),
  number("run_id", ({ birth }) => birth.imported.runId),
  bytes("line_digest", ({ birth }) => Buffer.from(birth.imported.lineDigest, "hex")),
  number("unverified_withdrawn", ({ birth }) => birth.imported.unverifiedWithdrawn),
  number("lifetime_deposits", ({ birth }) => birth.imported.lifetimeDeposits),
  number("lifetime_withdrawals", ({ birth }) => birth.imported.lifetimeWithdrawals),
  bytes("password_sealed", ({ passwordSealed }) => passwordSealed)
])

/** `player.registered` is complete: the row that other events are joined with is not there yet. */
export const birthEvents = insertInto<BirthRow>("events", [
  number("id", ({ birth }) => birth.event?.id ?? 0),
  number("operator_id", ({ birth }) => birth.operatorId),
  number("player_id", ({ birth }) => birth.id),
  text("type", () => "player.registered"),
  text("data", ({ birth }) => JSON.stringify(withoutPersonal(birth.event?.data ?? {})), "jsonb"),
  time("created_at", ({ settings }) => settings.updatedAt)
])
