-- Tables, indexes, functions and triggers of the service, by subject. Money is bigint in minor units, time is timestamptz; columns of text named `..._by`,
-- `author`, `actor` and `staff` hold who acts as the audit log names them.
--
-- Indexes on tables that every bet writes are block range indexes or partial ones that a bet does not touch (docs/decisions/0039-bytes-per-bet.md).
-- Which columns the service may change and which rows it may delete is in src/platform/Privileges.ts; how long what tells of a person is kept is in
-- src/domain/privacy/PersonalColumns.ts.

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Ids, and rules for all tables
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Everything that the service numbers shares one id space. A service takes blocks: nextval() = v means v .. v + 4095 are its own. The bits from the
-- 44th on name the cell, a database of its own; this is cell 0, and the sequence ends before it would name another one.
CREATE SEQUENCE ids AS bigint START 1000 INCREMENT 4096 MAXVALUE 17592186044415;

-- Ids of chains of hashes.
CREATE SEQUENCE chain_ids AS bigint START 1 MAXVALUE 17592186044415;

-- Ends a commit whose players are not all at the versions it was decided on. 40001 tells it from every other failure.
CREATE FUNCTION pitboss_fence(updated bigint, expected bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF updated <> expected THEN
    RAISE EXCEPTION 'another writer was faster' USING ERRCODE = '40001';
  END IF;
  RETURN true;
END
$$;

-- Of tables that are only added to. Within the functions that erase, and nowhere else, their rows lose values.
CREATE FUNCTION pitboss_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND current_setting('pitboss.erasing', true) = 'on' THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Operators: who runs a casino on the platform, and the keys they call with
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Holders of licences, each of which groups operators.
CREATE TABLE licensees (
  id bigint PRIMARY KEY,
  name text NOT NULL CONSTRAINT licensees_name_key UNIQUE,
  created_at timestamptz NOT NULL
);

CREATE TABLE operators (
  id bigint PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text NOT NULL,
  currency text NOT NULL,
  cooperation_model text NOT NULL DEFAULT 'api' CHECK (cooperation_model IN ('api', 'turnkey')),
  active boolean NOT NULL DEFAULT true,
  cooling_off_hours integer NOT NULL DEFAULT 24 CHECK (cooling_off_hours >= 0),
  withdrawal_second_approval_above bigint,
  kyc_withdrawal_threshold bigint,
  forfeit_bonus_on_withdrawal boolean NOT NULL DEFAULT true,
  disabled_features text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- the most that one round of an original takes and pays, in minor units of the operator's currency
  original_max_stake bigint NOT NULL DEFAULT 100000 CHECK (original_max_stake > 0),
  original_max_payout bigint NOT NULL DEFAULT 10000000 CHECK (original_max_payout > 0),
  -- what a player's deposits, and withdrawals asked for, of a day may come to, in minor units of the operator's currency; null: no cap
  daily_deposit_cap bigint CHECK (daily_deposit_cap >= 0),
  daily_withdrawal_cap bigint CHECK (daily_withdrawal_cap >= 0),
  -- limits that a player begins with, by name: minor units of the operator's currency, minutes for max_session_minutes
  default_limits jsonb NOT NULL DEFAULT '{}',
  -- codes of the profiles that players may have, and that of players who name none
  profiles text[] NOT NULL DEFAULT '{none}',
  default_profile text NOT NULL DEFAULT 'none',
  -- hours by which the days of an operator's own reports are ahead of UTC. What the API reports are days of UTC, whatever stands here
  report_offset_hours smallint NOT NULL DEFAULT 0 CHECK (report_offset_hours BETWEEN -12 AND 14),
  licensee_id bigint REFERENCES licensees,
  -- the version that players accept from now on
  terms_version text,
  -- for testing: set at the creation, never changed
  is_sandbox boolean NOT NULL DEFAULT false,
  -- a sandbox that is reset is archived; a successor has its slug, keys and settings, and nothing is deleted
  archived_at timestamptz
);
CREATE INDEX operators_licensee ON operators (licensee_id) WHERE licensee_id IS NOT NULL;

-- How far the clock of a sandbox is ahead of the real one, and where it stands while it is being advanced.
CREATE TABLE operator_clocks (
  operator_id bigint PRIMARY KEY REFERENCES operators (id),
  offset_ms bigint NOT NULL CHECK (offset_ms >= 0),
  held_at timestamptz,
  target timestamptz,
  lease_until timestamptz,
  CHECK ((target IS NULL) = (held_at IS NULL))
);

-- Operator credentials. `secret_sealed` is AES-256-GCM under the master key: the secret itself signs requests, so a hash would not do.
CREATE TABLE api_keys (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  key text NOT NULL UNIQUE,
  name text NOT NULL,
  secret_sealed bytea NOT NULL,
  scopes text[] NOT NULL,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  rate_limit_per_minute integer NOT NULL DEFAULT 600 CHECK (rate_limit_per_minute > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- player tokens that the key issued before its secret was last rotated are over
  rotated_at timestamptz,
  -- when a signed request of the key was accepted for the first time
  first_used_at timestamptz
);
CREATE INDEX api_keys_operator ON api_keys (operator_id);

-- The service may not change whose a key, a webhook, a method or a bonus is: this is done for sandboxes only, all at once. `at`: by the operator's clock.
CREATE FUNCTION reset_sandbox(old_id bigint, new_id bigint, at timestamptz) RETURNS boolean
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  was operators%ROWTYPE;
BEGIN
  SELECT * INTO was FROM operators WHERE id = old_id AND is_sandbox AND archived_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE operators SET slug = was.slug || '-archived-' || old_id, active = false, archived_at = at, licensee_id = NULL, updated_at = at
    WHERE id = old_id;
  was.id := new_id;
  was.created_at := at;
  was.updated_at := at;
  INSERT INTO operators SELECT was.*;
  INSERT INTO operator_clocks (operator_id, offset_ms) SELECT new_id, offset_ms FROM operator_clocks WHERE operator_id = old_id;
  UPDATE api_keys SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE webhook_endpoints SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE payment_methods SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE bonuses SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE promo_codes SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE compliance_settings SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE register_connections SET operator_id = new_id WHERE operator_id = old_id;
  UPDATE staff SET operator_ids = array_replace(operator_ids, old_id, new_id) WHERE old_id = ANY (operator_ids);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION reset_sandbox(bigint, bigint, timestamptz) FROM PUBLIC;

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Staff: accounts of the back office, how they sign in, and who handed a way in to whom (docs/decisions/0021-staff.md, 0047-staff-sessions.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE staff (
  id bigint PRIMARY KEY,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('admin', 'support', 'payments', 'compliance')),
  token_hash bytea NOT NULL UNIQUE,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  -- since when the token of the account is the one that it is
  token_issued_at timestamptz NOT NULL,
  created_by text,
  token_issued_by text,
  last_used_at timestamptz,
  -- what one may give away alone in a day, in minor units of each operator's currency; null: without a bound
  daily_budget bigint DEFAULT 1000000 CHECK (daily_budget >= 0),
  -- operators whose data the account sees and changes; null: all
  operator_ids bigint[],
  -- Argon2id in PHC format; null: no sign-in by password
  password_hash text,
  -- secret of the second factor, and of one that is being set up and not confirmed yet
  totp_sealed bytea,
  totp_pending_sealed bytea,
  -- the last 30-second step whose code was accepted: a code works once
  totp_step bigint,
  -- subject at the identity provider
  oidc_subject text,
  -- when another person last handed over a way in: a password, a sign-in link, a removed second factor
  entrusted_at timestamptz,
  -- since when the account has a second factor, its own or its identity provider's, and when it was last shown
  factor_since timestamptz,
  factor_proved_at timestamptz,
  -- whether the password and the second factor go back to a bearer token of the account: who replaces it ends them
  password_of_token boolean NOT NULL DEFAULT false,
  factor_of_token boolean NOT NULL DEFAULT false
);
-- One name, one account, among those that sign in by it.
CREATE UNIQUE INDEX staff_sign_in_name ON staff (lower(name)) WHERE password_hash IS NOT NULL;
CREATE UNIQUE INDEX staff_oidc_subject ON staff (oidc_subject) WHERE oidc_subject IS NOT NULL;

-- Every token there was, by whom it was issued. Only added to.
CREATE TABLE staff_tokens (
  staff_id bigint NOT NULL REFERENCES staff,
  issued_at timestamptz NOT NULL,
  issued_by text NOT NULL,
  -- what was handed over; `renewed`: by the account itself, in a session that had shown its second factor
  kind text NOT NULL DEFAULT 'issued' CHECK (kind IN ('made', 'issued', 'entrusted', 'renewed')),
  -- what the issuer had proved by then: a proof that came later does not take back what others did as the issuer
  issuer_proved_at timestamptz,
  issuer_renewed_at timestamptz,
  PRIMARY KEY (staff_id, issued_at)
);

-- The bootstrap token once it is retired; no row: it is not.
CREATE TABLE bootstrap_retirement (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  retired_at timestamptz NOT NULL,
  retired_by text NOT NULL
);

CREATE TABLE staff_sessions (
  id bigint PRIMARY KEY,
  -- SHA-256 of the cookie's value
  token_hash bytea NOT NULL UNIQUE,
  staff_id bigint NOT NULL REFERENCES staff,
  method text NOT NULL CHECK (method IN ('password', 'ticket', 'oidc')),
  created_at timestamptz NOT NULL,
  -- to the minute
  last_seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when the second factor was last shown; null: never in this session
  second_factor_at timestamptz,
  address text NOT NULL,
  user_agent text NOT NULL,
  -- as of the link that it began with
  of_token text
);
CREATE INDEX staff_sessions_staff ON staff_sessions (staff_id, created_at DESC, id DESC);
CREATE INDEX staff_sessions_end ON staff_sessions (expires_at);

-- Links that sign in once.
CREATE TABLE staff_tickets (
  token_hash bytea PRIMARY KEY,
  -- null: the first admin, whose account is made when the link is used and there is none
  staff_id bigint REFERENCES staff,
  issued_by text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- the account whose bearer token made the link, as the audit log names it; null: none did
  of_token text
);
CREATE INDEX staff_tickets_end ON staff_tickets (expires_at);

-- Codes that stand in for the second factor, each once.
CREATE TABLE staff_recovery_codes (
  staff_id bigint NOT NULL REFERENCES staff,
  code_hash bytea NOT NULL,
  PRIMARY KEY (staff_id, code_hash)
);

-- Failed attempts to sign in, by a hash of what was attempted: a name, whether or not there is an account of it, or an account's second factor.
CREATE TABLE staff_attempts (
  subject bytea PRIMARY KEY,
  failures integer NOT NULL,
  last_at timestamptz NOT NULL
);
CREATE INDEX staff_attempts_end ON staff_attempts (last_at);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Game providers and games
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Names of providers, games and bonuses are listed by letters, not by bytes (alpha, Beta, Éclair, Zed): the root collation of ICU is in every
-- database of a PostgreSQL that is built with ICU, as all packages are.
CREATE TABLE providers (
  id bigint PRIMARY KEY,
  slug text NOT NULL UNIQUE,
  name text COLLATE "und-x-icu" NOT NULL,
  key text NOT NULL UNIQUE,
  secret_sealed bytea NOT NULL,
  launch_url text,
  demo_url text,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Pitboss's own, or a vendor's, with the settings of that vendor
  protocol text NOT NULL DEFAULT 'pitboss',
  -- what may be shown; by the protocol's own names
  settings jsonb NOT NULL DEFAULT '{}',
  -- the others, as one JSON object: AES-256-GCM under the master key
  settings_sealed bytea,
  -- how often the vendor's catalogue is read; 0: never
  sync_hours integer NOT NULL DEFAULT 24 CHECK (sync_hours BETWEEN 0 AND 8760)
);

-- Work that is done for a provider at a vendor: when it is due again.
CREATE TABLE vendor_tasks (
  provider_id bigint NOT NULL REFERENCES providers,
  kind text NOT NULL CHECK (kind IN ('sync', 'reconcile')),
  next_at timestamptz NOT NULL,
  PRIMARY KEY (provider_id, kind)
);

CREATE TABLE games (
  id bigint PRIMARY KEY,
  provider_id bigint NOT NULL REFERENCES providers,
  external_id text NOT NULL,
  name text COLLATE "und-x-icu" NOT NULL,
  type text NOT NULL CHECK (type IN ('rng', 'live')),
  category text COLLATE "und-x-icu" NOT NULL,
  rtp numeric(5, 2),
  thumbnail_url text,
  -- name of the built-in game
  original text,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- what the vendor calls the category, where its catalogue was read; `category` is one that the API knows
  vendor_category text,
  UNIQUE (provider_id, external_id)
);
CREATE INDEX games_name ON games (name, id);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Profiles of jurisdictions: documents in versions (docs/decisions/0057-jurisdictions.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Version 1 of a built-in code is no row: it comes with the service.
CREATE TABLE profile_versions (
  code text NOT NULL,
  version integer NOT NULL,
  document jsonb NOT NULL,
  valid_from timestamptz NOT NULL,
  -- from then on what is looser than before counts as well
  looser_from timestamptz NOT NULL,
  -- null: waits for an approval, and does not count
  approved_at timestamptz,
  approved_by text,
  imported_at timestamptz NOT NULL,
  imported_by text NOT NULL,
  PRIMARY KEY (code, version)
);

-- Value of a minor unit of a currency in those of the profile's own, as it was when the code first met the currency.
CREATE TABLE profile_factors (
  code text NOT NULL,
  currency text NOT NULL,
  factor numeric NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (code, currency)
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Players
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- The pieces of two and of three characters of a text, in lower case. A text that holds another holds all of its pieces, so an
-- inverted index over them finds every candidate of a search. The extension pg_trgm would do this, but not every server that
-- this schema runs on has it, or lets its owner create it.
-- Repeated pieces may stay in the array: the index keeps each once. A loop, because it is three times as fast as an aggregate.
CREATE FUNCTION search_pieces(value text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  lowered text := lower(value);
  size integer := length(lowered);
  pieces text[] := '{}';
BEGIN
  FOR start IN 1 .. size - 1 LOOP
    pieces := pieces || substr(lowered, start, 2);
    IF start < size - 1 THEN
      pieces := pieces || substr(lowered, start, 3);
    END IF;
  END LOOP;
  RETURN pieces;
END
$$;

-- Players are found by the beginning of any word of their names, username, e-mail, phone or external id, whatever its accents and case. The bodies
-- of the three functions are bound to what they name when they are created: a restored dump runs them without a search path.

-- A text in lower case without accents: decomposed, without its marks, and the letters that Unicode does not decompose spelled out.
CREATE FUNCTION search_folded(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN
  replace(replace(replace(replace(
    translate(regexp_replace(lower(normalize(value, NFKD) COLLATE "und-x-icu"), E'[\u0300-\u036f]', '', 'g'), 'øłđðħı', 'oldðhi'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');

-- The words of some fields: each part between spaces as it is and without its punctuation, and its own parts between punctuation. All fields are
-- split at once: one by one it takes four times as long.
CREATE FUNCTION search_words(VARIADIC fields text[]) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC
  SELECT array_to_tsvector(array_remove(
    regexp_split_to_array(folded, '\s+') || regexp_split_to_array(regexp_replace(folded, '[''’.-]', '', 'g'), '\s+')
      || regexp_split_to_array(folded, '[\s!-/:-@[-`{-~’]+'), ''))
  FROM (SELECT search_folded(array_to_string(fields, ' '))) AS text (folded);
END;

-- The question for players with every word of a text as the beginning of one of theirs; digits of a phone number also as one word. Null for a text
-- without a word.
CREATE FUNCTION search_query(value text) RETURNS tsquery LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE BEGIN ATOMIC
  SELECT CASE WHEN value ~ '^\s*[+(]?[0-9][0-9 ()./-]{3,}$'
    THEN coalesce(number || words, number)
    ELSE words END
  FROM (SELECT ('''' || regexp_replace(regexp_replace(value, '[^0-9]', '', 'g'), '^00', '') || ''':*')::tsquery AS number,
    string_agg('''' || replace(replace(word, '\', '\\'), '''', '''''') || ''':*', ' & ')::tsquery AS words
    FROM regexp_split_to_table(search_folded(value), '\s+') AS word WHERE word ~ '[^!-/:-@[-`{-~’]') AS asked;
END;

-- Who a player is, and the settings that decide what the player may do. Rows change only in the commit of the player's own actor,
-- except for the columns of identity (names, address, contact), which no decision about money reads.
CREATE TABLE players (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  external_id text,
  username text NOT NULL,
  email text NOT NULL,
  password_hash text,
  first_name text NOT NULL,
  last_name text NOT NULL,
  middle_name text,
  gender text,
  birth_date date NOT NULL,
  country text NOT NULL,
  city text,
  address text,
  zip_code text,
  phone text,
  language text NOT NULL DEFAULT 'en',
  currency text NOT NULL,
  category text NOT NULL DEFAULT 'new',
  risk_level text NOT NULL DEFAULT 'low',
  is_test boolean NOT NULL DEFAULT false,
  marketing_email boolean NOT NULL DEFAULT false,
  marketing_sms boolean NOT NULL DEFAULT false,
  marketing_newsletter boolean NOT NULL DEFAULT false,
  registration_source text NOT NULL DEFAULT 'api',
  registration_ip text,
  registration_promo_code text,
  registration_affiliate_id text,
  registration_btag text,
  terms_version text,
  last_login_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- what decisions read
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'locked', 'closed')),
  kyc_status text NOT NULL DEFAULT 'not_started'
    CHECK (kyc_status IN ('not_started', 'pending_review', 'verified', 'rejected', 'expired')),
  can_login boolean NOT NULL DEFAULT true,
  can_deposit boolean NOT NULL DEFAULT true,
  can_withdraw boolean NOT NULL DEFAULT true,
  can_bet boolean NOT NULL DEFAULT true,
  excluded_from_bonuses boolean NOT NULL DEFAULT false,
  exclusion_type text CHECK (exclusion_type IN ('time_out', 'self_exclusion', 'self_closure')),
  exclusion_since timestamptz,
  exclusion_until timestamptz,
  limits jsonb NOT NULL DEFAULT '{}',
  pending_limits jsonb NOT NULL DEFAULT '[]',
  -- a promo code that came with the registration and has not been tried yet: by the request itself, or by the job that finishes what a stopped
  -- process left undone
  registration_promo_due boolean NOT NULL DEFAULT false,
  -- from when on the document that the player was verified by counts no longer
  document_expires_at timestamptz,
  -- what a search looks at, in one piece and in lower case: a walk over many players reads it from the index of the list's order alone
  search_text text NOT NULL
    GENERATED ALWAYS AS (lower(username || E'\n' || email || E'\n' || last_name)) STORED,
  -- alerts that stop the player's withdrawals, and those of them that staff have lifted
  withdrawal_holds jsonb NOT NULL DEFAULT '[]',
  -- session tokens and wallet sessions issued then or before are over, whatever they say themselves: other processes look for the latest every
  -- second, and forget what they remember of those players
  sessions_ended_at timestamptz,
  -- JSON of the personal number and the document number under the master key, and keyed digests of their comparable forms
  numbers_sealed bytea,
  personal_id_digest bytea,
  document_number_digest bytea,
  words tsvector NOT NULL GENERATED ALWAYS AS (
    search_words(first_name, middle_name, last_name, username, email, external_id, regexp_replace(phone, '[^0-9]', '', 'g'))
  ) STORED,
  jurisdiction text NOT NULL DEFAULT 'none',
  -- limits that the player or the operator set, a bit for each in the order of their names
  limits_set integer NOT NULL DEFAULT 0,
  -- of an exclusion that ends at the player's request only: from when it may be made, and when the player returns
  exclusion_return_from timestamptz,
  exclusion_return_at timestamptz,
  -- the wait from the request to the return, by the rules under which it was made; null of an imported one
  exclusion_return_wait text,
  -- who asked for the exclusion
  exclusion_source text,
  -- when the exclusion is over; null while that is not known
  exclusion_over_at timestamptz
    GENERATED ALWAYS AS (CASE WHEN exclusion_return_from IS NULL THEN exclusion_until ELSE exclusion_return_at END) STORED,
  -- `licensee`: asked for at all operators of the licensee; of an account that was excluded for another one's sake it is not
  exclusion_scope text,
  -- when the player last reviewed the limits, and took notice of how funds are protected
  limits_reviewed_at timestamptz,
  funds_noticed_at timestamptz,
  -- of a move to another jurisdiction: from which one, and when what is looser there counts
  moved_from text,
  looser_from timestamptz,
  -- the last proper answer of each register: kind, verdict, and the time in milliseconds
  registers jsonb NOT NULL DEFAULT '[]',
  birth_name text,
  birth_place text,
  last_name_prefix text,
  -- cap on net deposits that staff have decided on for this player, minor units
  net_deposit_cap bigint,
  -- classes that were erased as a whole, and when that of the identity was
  erased_classes text[] NOT NULL DEFAULT '{}',
  erased_at timestamptz,
  -- interval of reality checks that the player chose, ISO 8601
  reality_check text,
  wallet_sessions_ended_at timestamptz,
  dormant_since timestamptz,
  -- statements of consent to a channel and a product, `*` for all of them; of two that cover a consent the narrower one is the newer. Null: as the
  -- flags of marketing say, which say beside it whether a channel is consented to for all products
  consents jsonb
);
CREATE UNIQUE INDEX players_username ON players (operator_id, lower(username));
CREATE UNIQUE INDEX players_email ON players (operator_id, email);
CREATE UNIQUE INDEX players_external_id ON players (operator_id, external_id) WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX players_phone ON players (operator_id, phone) WHERE phone IS NOT NULL;
CREATE INDEX players_newest ON players (operator_id, id DESC);
-- The line breaks keep the end of one field and the start of the next from making a piece that a search could ask for.
CREATE INDEX players_search ON players
  USING gin (search_pieces(username || E'\n' || email || E'\n' || last_name));
-- Who registers is compared with those who are excluded: with few of them, whatever the number of players is.
CREATE INDEX players_excluded_birth_date ON players (operator_id, birth_date) WHERE exclusion_type IS NOT NULL;
CREATE INDEX players_promo_due ON players (created_at) WHERE registration_promo_due;
CREATE INDEX players_document_expiry ON players (document_expires_at) WHERE kyc_status = 'verified';
CREATE INDEX players_limits_waiting ON players (id) WHERE pending_limits <> '[]';
-- Registrations are counted where they are.
CREATE INDEX players_registered ON players (operator_id, created_at) INCLUDE (is_test);
-- Those whom a filter finds among many others.
CREATE INDEX players_status ON players (operator_id, status, id DESC) WHERE status <> 'active';
CREATE INDEX players_kyc_status ON players (operator_id, kyc_status, id DESC);
CREATE INDEX players_search_walk ON players (operator_id, id DESC) INCLUDE (search_text);
CREATE INDEX players_withdrawal_holds ON players (id) WHERE withdrawal_holds <> '[]';
CREATE INDEX players_sessions_ended ON players (sessions_ended_at) WHERE sessions_ended_at IS NOT NULL;
CREATE INDEX players_excluded_personal_id_digest ON players (operator_id, personal_id_digest) WHERE exclusion_type IS NOT NULL;
CREATE INDEX players_excluded_document_digest ON players (operator_id, document_number_digest) WHERE exclusion_type IS NOT NULL;
-- Players as one types.
CREATE INDEX players_username_prefix ON players (operator_id, lower(username) text_pattern_ops);
CREATE INDEX players_email_prefix ON players (operator_id, email text_pattern_ops);
CREATE INDEX players_external_id_prefix ON players (operator_id, external_id text_pattern_ops) WHERE external_id IS NOT NULL;
CREATE INDEX players_words ON players USING gin (words);
CREATE INDEX players_exclusion_over ON players (exclusion_over_at) WHERE exclusion_over_at IS NOT NULL;
-- Whether a profile has players, who are held to a looser version of it.
CREATE INDEX players_jurisdiction ON players (jurisdiction) WHERE jurisdiction <> 'none';
CREATE INDEX players_licensee_exclusions ON players (operator_id, id) WHERE exclusion_scope = 'licensee';
CREATE INDEX players_dormant ON players (operator_id, id DESC) WHERE dormant_since IS NOT NULL;
-- Players under the rules of a jurisdiction, or moved from one, for the jobs that walk over them: of millions there may be few.
CREATE INDEX players_under_rules ON players (id) WHERE jurisdiction <> 'none' OR moved_from IS NOT NULL;
-- An export reads an operator's players in the order of the ids that it names them by, two hundred at a time.
CREATE INDEX players_exported ON players (operator_id, (coalesce(external_id, 'pitboss-' || id::text) COLLATE "C"))
  WHERE erased_at IS NULL;

-- Nobody is known by an account whose person was erased: opened again, it is neither verified nor lets anybody in until staff say so.
CREATE FUNCTION forget_erased_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.kyc_status := 'not_started';
  NEW.document_expires_at := NULL;
  NEW.can_login := false;
  NEW.can_deposit := false;
  NEW.can_bet := false;
  RETURN NEW;
END
$$;
CREATE TRIGGER forget_erased_person BEFORE UPDATE OF erased_at ON players FOR EACH ROW
  WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS DISTINCT FROM NEW.erased_at)
  EXECUTE FUNCTION forget_erased_person();

-- Who changes the flags alone leaves nothing of what was said of single products: what the flags say counts. So it is where marketing is erased.
CREATE FUNCTION consents_by_flags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.consents := NULL;
  RETURN NEW;
END
$$;
CREATE TRIGGER consents_by_flags BEFORE UPDATE OF marketing_email, marketing_sms, marketing_newsletter ON players FOR EACH ROW
  WHEN (NEW.consents IS NOT NULL AND NEW.consents IS NOT DISTINCT FROM OLD.consents
    AND ((NEW.marketing_email, NEW.marketing_sms, NEW.marketing_newsletter)
      IS DISTINCT FROM (OLD.marketing_email, OLD.marketing_sms, OLD.marketing_newsletter)
      OR current_setting('pitboss.erasing', true) = 'on'))
  EXECUTE FUNCTION consents_by_flags();

-- Who a player was before the profile changed. Who is excluded from play is known by every name and birth date of theirs, or the
-- exclusion could be left behind by a change of name.
CREATE TABLE former_identities (
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  first_name text NOT NULL,
  last_name text NOT NULL,
  birth_date date NOT NULL,
  -- when it was given up
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, first_name, last_name, birth_date)
);
CREATE INDEX former_identities_birth_date ON former_identities (operator_id, birth_date);

-- What people wrote about a player, for staff. Append-only. The reason of a change of the account's status is written in the commit
-- of that change.
CREATE TABLE player_notes (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX player_notes_player ON player_notes (player_id, created_at DESC, id DESC);

CREATE TRIGGER player_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON player_notes
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

-- Players to compare with the accounts of the same person at the licensee's other operators. Written in the transaction of the cause; who has
-- compared one removes it.
CREATE TABLE licensee_comparisons (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  player_id bigint NOT NULL,
  -- tries that failed, and when the next one is due
  attempts integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT '-infinity'
);

-- In the commit of the exclusion, whoever makes it.
CREATE FUNCTION note_licensee_exclusion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO licensee_comparisons (player_id) VALUES (NEW.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_licensee_exclusion
  AFTER UPDATE OF exclusion_type, exclusion_until, exclusion_return_from, exclusion_scope ON players FOR EACH ROW
  WHEN (NEW.exclusion_scope = 'licensee'
    AND (OLD.exclusion_type, OLD.exclusion_until, OLD.exclusion_return_from, OLD.exclusion_scope)
      IS DISTINCT FROM (NEW.exclusion_type, NEW.exclusion_until, NEW.exclusion_return_from, NEW.exclusion_scope))
  EXECUTE FUNCTION note_licensee_exclusion();

-- Operators whose running exclusions are compared anew, since their licensee has one operator more, and the player after whom to go on.
CREATE TABLE licensee_walks (
  operator_id bigint PRIMARY KEY REFERENCES operators,
  after bigint NOT NULL DEFAULT 0
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Accounts and the ledger
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- The hot row of a player: one update per commit. `version` is the fence: a commit names the version it was decided on.
-- Half of each page stays free so that updates stay on their page and touch no index.
CREATE TABLE accounts (
  player_id bigint PRIMARY KEY REFERENCES players,
  operator_id bigint NOT NULL,
  version bigint NOT NULL DEFAULT 0,
  entry_seq bigint NOT NULL DEFAULT 0,
  wallet_seq bigint NOT NULL DEFAULT 0,
  real_balance bigint NOT NULL DEFAULT 0,
  bonus_balance bigint NOT NULL DEFAULT 0 CHECK (bonus_balance >= 0),
  -- windowed sums of limits and the play session, as the domain encodes them
  counters text NOT NULL DEFAULT '',
  -- providers that ever had a real-mode session with the player
  provider_ids bigint[] NOT NULL DEFAULT '{}',
  real_updated_at timestamptz NOT NULL,
  bonus_updated_at timestamptz NOT NULL,
  -- sum of the player's withdrawals that were not rejected or cancelled
  withdrawn bigint NOT NULL DEFAULT 0 CHECK (withdrawn >= 0),
  -- the last two days of activity of each kind, numbered from 1970: of rng, live, deposit, withdrawal; -999 stands for never
  activity text NOT NULL DEFAULT '',
  -- when the session of play has to be looked after: its reality check falls due, or it is over with one open
  session_due_at timestamptz
) WITH (fillfactor = 50);
-- few accounts have one, and it does not change with a bet: updates stay on their page
CREATE INDEX accounts_session_due ON accounts (session_due_at) WHERE session_due_at IS NOT NULL;

-- The ledger, append-only. `seq` has no gap per player; each row carries the balance of its wallet after it, so the ledger proves itself.
CREATE TABLE ledger_entries (
  player_id bigint NOT NULL,
  seq bigint NOT NULL,
  id bigint NOT NULL,
  operator_id bigint NOT NULL,
  wallet text NOT NULL,
  type text NOT NULL,
  amount bigint NOT NULL,
  balance_after bigint NOT NULL,
  payment_request_id bigint,
  game_id bigint,
  game_round_id text,
  player_bonus_id bigint,
  created_at timestamptz NOT NULL,
  -- the rate that the entry was written at; null: in the operator's own currency, or there was none
  exchange_rate_id integer,
  PRIMARY KEY (player_id, seq)
);
-- The bonus wallet's entries are few among a ledger's; what its balance was, and what moved it, is found without the others.
CREATE INDEX ledger_entries_bonus ON ledger_entries (player_id, seq) WHERE wallet = 'bonus';
-- By time, and by id: of several nodes each has a block of ids of its own, and one that is seldom asked has an old one.
CREATE INDEX ledger_entries_blocks ON ledger_entries
  USING brin (created_at, id int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);

-- A summary of each 256 entries of a player, block 0 being the entries 1 to 256: what kinds there are, how many, and from when to
-- when. Entries never change, so neither does a block of them that is full. Whoever reads a long ledger with a filter makes
-- those that are missing; all of them can be deleted at any time.
CREATE TABLE ledger_blocks (
  player_id bigint NOT NULL,
  block integer NOT NULL,
  wallet text NOT NULL,
  type text NOT NULL,
  entries integer NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, block, wallet, type)
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Play with game providers: messages, rounds, sessions. Rows of play say whose they are, so that operators can be spread over databases one day
-- (docs/decisions/0045-operators-apart.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Every message a provider ever settled, and the tombstones of bets that were rolled back before they came. Kept for ever.
CREATE TABLE provider_transactions (
  provider_id bigint NOT NULL,
  transaction_id text NOT NULL,
  player_id bigint NOT NULL,
  kind text NOT NULL CONSTRAINT provider_transactions_kinds
    CHECK (kind IN ('bet', 'win', 'promo_win', 'adjustment', 'rollback', 'tombstone')),
  status text NOT NULL CHECK (status IN ('processed', 'ignored')),
  -- of an adjustment, a correction within a round: signed
  amount bigint NOT NULL,
  game_id bigint,
  round_id text,
  -- the bet of a win, the target of a rollback
  target_transaction_id text,
  -- what a promo-win was for
  detail text,
  real_amount bigint NOT NULL,
  bonus_amount bigint NOT NULL,
  entry_ids bigint[] NOT NULL,
  player_bonus_id bigint,
  -- what the bet counted for the wagering of the bonus; of a win or an adjustment: what it moved in the real wallet for a converted bonus; of a
  -- rollback: how often its target had been reinstated before
  wagered bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  operator_id bigint NOT NULL,
  PRIMARY KEY (provider_id, transaction_id)
);
-- A transaction is taken back once, and once more after each time that its rollback was taken back.
CREATE UNIQUE INDEX provider_transactions_taken_back
  ON provider_transactions (provider_id, target_transaction_id, wagered) WHERE kind = 'rollback' AND status = 'processed';
-- Messages of a day, to be compared with what a vendor has of it. They are stored about in the order in which they come.
CREATE INDEX provider_transactions_created_at ON provider_transactions USING brin (created_at);
-- The messages of a round. Filters that are seldom wrong: each wrong one costs reading 128 pages.
CREATE INDEX provider_transactions_of_round ON provider_transactions
  USING brin (round_id text_bloom_ops (n_distinct_per_range = 4000, false_positive_rate = 0.0005)) WITH (autosummarize = on);

-- Rounds that providers play. What players stake and win in them is in minor units of the player's currency.
CREATE TABLE rounds (
  player_id bigint NOT NULL,
  game_id bigint NOT NULL,
  round_id text NOT NULL,
  real_stake bigint NOT NULL,
  bonus_stake bigint NOT NULL,
  -- wins above zero that were not taken back
  paid_wins integer NOT NULL,
  player_bonus_id bigint,
  closed boolean NOT NULL,
  opened_at timestamptz NOT NULL,
  -- whether the game was live when a bet opened the round, since what staff make of a game later changes no past day; null: closed before a bet came
  is_live boolean,
  -- bets that stand and that no message has settled by itself
  open_bets integer NOT NULL DEFAULT 0 CHECK (open_bets >= 0),
  operator_id bigint NOT NULL,
  -- what the wins and corrections that stand have moved, in both wallets, so that a list of rounds says what each one paid without reading its messages
  won bigint NOT NULL DEFAULT 0,
  -- messages of the round that are rolled back
  taken_back integer NOT NULL DEFAULT 0 CHECK (taken_back >= 0),
  -- A player's rounds by time are read from the index alone: rows of one player lie far apart, one page each.
  PRIMARY KEY (player_id, game_id, round_id) INCLUDE (opened_at)
) WITH (fillfactor = 80);
CREATE INDEX rounds_opened_at ON rounds USING brin (opened_at);

-- Rounds that were open a day after their first bet. Found once, by walking the rounds in the order of their opening, so that
-- no index has to follow every round from its bet to its end.
CREATE TABLE stale_rounds (
  player_id bigint NOT NULL,
  game_id bigint NOT NULL,
  round_id text NOT NULL,
  operator_id bigint NOT NULL,
  opened_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, game_id, round_id)
);
CREATE INDEX stale_rounds_age ON stale_rounds (opened_at);
CREATE INDEX stale_rounds_operator ON stale_rounds (operator_id, opened_at);

-- How far the walk has come.
CREATE TABLE stale_rounds_walk (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  opened_before timestamptz NOT NULL
);

-- Real- and demo-mode launches. Tokens are signed, not stored.
CREATE TABLE game_sessions (
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL REFERENCES players,
  game_id bigint NOT NULL REFERENCES games,
  mode text NOT NULL CHECK (mode IN ('real', 'demo')),
  platform text,
  ip text,
  opened_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- of one that was exchanged for another, or whose launch came to nothing: it takes no more bets
  ended_at timestamptz,
  -- it may be exchanged once more, by whom the answer did not reach; one whose launch came to nothing may not
  exchanged boolean NOT NULL DEFAULT false,
  operator_id bigint NOT NULL
);
CREATE INDEX game_sessions_player ON game_sessions (player_id, id DESC);
CREATE INDEX game_sessions_ended ON game_sessions (player_id, id DESC) WHERE ended_at IS NOT NULL;
-- Running sessions of a player: read whenever the player is loaded.
CREATE INDEX game_sessions_running ON game_sessions (player_id, expires_at) WHERE ended_at IS NULL AND mode = 'real';
-- A player's launches by time, for their list and the timeline within a period.
CREATE INDEX game_sessions_opened ON game_sessions (player_id, opened_at DESC, id DESC);

-- Free rounds of players at vendors. The vendor keeps them; wins name them by the reference.
CREATE TABLE free_rounds (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  provider_id bigint NOT NULL REFERENCES providers,
  game_id bigint NOT NULL REFERENCES games,
  -- ours: what the vendor was told
  reference text NOT NULL,
  -- what the vendor calls them; null until it has confirmed them
  vendor_reference text,
  rounds integer NOT NULL CHECK (rounds > 0),
  -- of each round, minor units
  stake bigint NOT NULL CHECK (stake > 0),
  currency text NOT NULL,
  -- failed: the vendor did not confirm them
  status text NOT NULL CHECK (status IN ('issued', 'finished', 'cancelled', 'failed')),
  valid_until timestamptz NOT NULL,
  -- what the vendor said of them at their end, minor units
  won bigint,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT free_rounds_reference UNIQUE (provider_id, reference)
);
CREATE INDEX free_rounds_player ON free_rounds (player_id, id DESC);
CREATE INDEX free_rounds_vendor_reference ON free_rounds (provider_id, vendor_reference);

-- Calls of providers about money that moved none: refused, replayed, or ignored, with the answer that was given. What a call moved stands in
-- provider_transactions for ever; these are kept for some time and up to a size (docs/decisions/0043-provider-protocols.md), so that support can say why
-- a win never came. Written in batches by the service, after the answer: no bet waits for it.
CREATE TABLE kept_calls (
  id bigint PRIMARY KEY,
  -- 0: the call named no player
  operator_id bigint NOT NULL,
  -- bets have room of their own: their refusals are many, and must not push out those of wins and rollbacks
  is_bet boolean NOT NULL,
  provider_id bigint NOT NULL,
  player_id bigint,
  -- the provider's ids; that of the message is null for the end of a round
  transaction_id text,
  target_transaction_id text,
  game_external_id text,
  round_id text,
  kind text NOT NULL,
  -- as the protocol calls it
  method text NOT NULL,
  -- as sent, signed as it would have moved the player's money
  amount text,
  currency text,
  result text NOT NULL CHECK (result IN ('refused', 'replayed', 'ignored')),
  -- of a refusal, with the limit or the restriction that caused it
  code text,
  reason text,
  -- the answer: HTTP status and the beginning of the body
  status integer NOT NULL,
  answer text NOT NULL,
  -- what the row counts for
  bytes integer NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX kept_calls_transaction ON kept_calls (provider_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX kept_calls_target ON kept_calls (provider_id, target_transaction_id) WHERE target_transaction_id IS NOT NULL;
CREATE INDEX kept_calls_round ON kept_calls (provider_id, round_id) WHERE round_id IS NOT NULL;
CREATE INDEX kept_calls_player ON kept_calls (player_id, at, id) WHERE player_id IS NOT NULL;
CREATE INDEX kept_calls_operator ON kept_calls (operator_id, at, id);

-- How much is kept of each operator, so that nobody has to add it up.
CREATE TABLE kept_call_sizes (
  operator_id bigint NOT NULL,
  is_bet boolean NOT NULL,
  bytes bigint NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (operator_id, is_bet)
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Originals: the server seeds that decide rounds, and the rounds with all that proves them. Rows are written by the player's own commit only
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- A server seed is made, promised by its hash, taken into use, retired. Each of these happens once; the secret never changes.
CREATE TABLE server_seeds (
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL REFERENCES players,
  operator_id bigint NOT NULL,
  -- SHA-256 of the secret's text, hexadecimal
  server_seed_hash text NOT NULL UNIQUE,
  -- AES-256-GCM under the master key
  server_seed_sealed bytea NOT NULL,
  -- the secret itself, open from its retirement on
  server_seed text,
  -- the player's when this one was taken into use; a round can bring another
  client_seed text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  retired_at timestamptz,
  -- one that no key opens any more is retired without being revealed
  lost boolean NOT NULL DEFAULT false,
  CHECK ((client_seed IS NULL) = (started_at IS NULL)),
  CHECK (retired_at IS NULL OR started_at IS NOT NULL),
  CONSTRAINT server_seeds_revealed CHECK ((server_seed IS NULL) = (retired_at IS NULL OR lost)),
  CONSTRAINT server_seeds_lost CHECK (NOT lost OR retired_at IS NOT NULL)
);
-- the one in use and the one that is promised
CREATE INDEX server_seeds_open ON server_seeds (player_id) WHERE retired_at IS NULL;

CREATE TABLE original_rounds (
  -- also the name of the round in the ledger
  id bigint PRIMARY KEY,
  player_id bigint NOT NULL,
  operator_id bigint NOT NULL,
  game_id bigint NOT NULL,
  -- the built-in game, whatever the catalogue says later
  original text NOT NULL,
  seed_id bigint NOT NULL,
  nonce bigint NOT NULL CHECK (nonce >= 0),
  client_seed text NOT NULL,
  stake bigint NOT NULL CHECK (stake > 0),
  payout bigint NOT NULL CHECK (payout >= 0),
  multiplier numeric(12, 4) NOT NULL,
  params jsonb NOT NULL,
  outcome jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  -- No server seed ever decides two rounds with the same nonce. The last one is also what says which nonce comes next.
  CONSTRAINT original_rounds_nonce UNIQUE (seed_id, nonce)
);
-- Rounds of originals by time, as other rounds are found: a round writes nothing into it.
CREATE INDEX original_rounds_created_at ON original_rounds USING brin (created_at) WITH (autosummarize = on);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Bonuses: what operators offer, what players were granted, the codes that grant them, and what they cost. Amounts are minor units
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE bonuses (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  name text COLLATE "und-x-icu" NOT NULL,
  description text NOT NULL DEFAULT '',
  type text NOT NULL CHECK (type IN ('deposit_match', 'no_deposit', 'free_spins', 'cashback', 'cash')),
  default_amount bigint NOT NULL CHECK (default_amount > 0),
  wagering_multiplier integer NOT NULL CHECK (wagering_multiplier >= 0),
  valid_days integer NOT NULL CHECK (valid_days > 0),
  -- 0 in the three below: no cap
  max_bet bigint NOT NULL DEFAULT 0 CHECK (max_bet >= 0),
  max_conversion_multiplier integer NOT NULL DEFAULT 0 CHECK (max_conversion_multiplier >= 0),
  max_grants_per_player integer NOT NULL DEFAULT 0 CHECK (max_grants_per_player >= 0),
  -- percent of a stake that counts, by game id
  contributions jsonb NOT NULL DEFAULT '{}',
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX bonuses_operator ON bonuses (operator_id, id);

-- A granted bonus keeps the terms of its grant. Rows change only in the commit of the player's own actor.
CREATE TABLE player_bonuses (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  bonus_id bigint NOT NULL REFERENCES bonuses,
  name text NOT NULL,
  type text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'activated', 'finished')),
  result text CHECK (result IN ('converted', 'lost', 'expired', 'cancelled')),
  amount bigint NOT NULL CHECK (amount > 0),
  wager_requirement bigint NOT NULL,
  wagered bigint NOT NULL,
  max_bet bigint NOT NULL,
  max_conversion bigint NOT NULL,
  valid_days integer NOT NULL,
  contributions jsonb NOT NULL,
  -- rounds under way that hold a stake of it
  open_rounds integer NOT NULL,
  converted bigint NOT NULL,
  forfeited bigint NOT NULL,
  note text,
  started_at timestamptz,
  expires_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz NOT NULL,
  -- a conversion is reversed when a rollback takes the wagered amount below the requirement: what the real wallet got of the bonus after the
  -- conversion goes back with it, and what comes to the bonus wallet again beside the converted amount is kept apart
  late_amount bigint NOT NULL DEFAULT 0,
  restored_amount bigint NOT NULL DEFAULT 0,
  -- its end is undone with the message that caused it (docs/decisions/0026-undone-ends.md): one that has to wait for another bonus keeps its money and
  -- the time it has left, and a stake without an open round keeps an empty bonus from being lost until then
  held_amount bigint,
  remaining_ms bigint,
  open_until timestamptz,
  -- what was taken back after it had been spent, and not paid off by money that came to the bonus since
  short_amount bigint NOT NULL DEFAULT 0 CONSTRAINT player_bonuses_short CHECK (short_amount >= 0),
  -- what a bonus that came with an import had, and what was wagered of it; null: granted here
  imported_balance bigint,
  imported_wagered bigint,
  CHECK ((state = 'finished') = (result IS NOT NULL)),
  CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
  CHECK (state <> 'activated' OR (started_at IS NOT NULL AND expires_at IS NOT NULL)),
  -- waits for another bonus: never started, or with its money and the time it has left
  CONSTRAINT player_bonuses_waiting CHECK (state <> 'pending' OR (expires_at IS NULL
    AND (started_at IS NULL
      OR (held_amount IS NOT NULL AND held_amount >= 0 AND remaining_ms IS NOT NULL AND remaining_ms > 0))))
) WITH (fillfactor = 70);
-- what runs or waits, and when it is over: read when a player is loaded, and by the job that ends what time has ended
CREATE INDEX player_bonuses_open ON player_bonuses (player_id, id) WHERE state <> 'finished';
CREATE INDEX player_bonuses_expiry ON player_bonuses (expires_at) WHERE state = 'activated';
CREATE INDEX player_bonuses_notes ON player_bonuses (player_id, created_at DESC, id DESC) WHERE note IS NOT NULL;
-- Grants of a bonus, newest first, and those that may still cost something.
CREATE INDEX player_bonuses_bonus ON player_bonuses (bonus_id, created_at DESC, id DESC);
CREATE INDEX player_bonuses_liable ON player_bonuses (operator_id, bonus_id) WHERE state <> 'finished';
CREATE INDEX player_bonuses_of_player ON player_bonuses (player_id, id DESC) INCLUDE (created_at, finished_at);
-- of the few that run with such a stake: read by the job that ends what time has ended
CREATE INDEX player_bonuses_open_until ON player_bonuses (open_until) WHERE state = 'activated' AND open_until IS NOT NULL;
-- Bonuses that wait with nothing left, until nothing can bring money back any more (docs/decisions/0026-undone-ends.md): found by the job `bonuses`.
CREATE INDEX player_bonuses_waiting_until ON player_bonuses (open_until) WHERE state = 'pending' AND open_until IS NOT NULL;

CREATE TABLE promo_codes (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  code text NOT NULL,
  bonus_id bigint NOT NULL REFERENCES bonuses,
  expires_at timestamptz,
  max_redemptions integer CHECK (max_redemptions > 0),
  -- counted by the commits that redeem; the check is what holds the cap when they meet
  redemptions integer NOT NULL DEFAULT 0,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  CONSTRAINT promo_codes_cap CHECK (redemptions <= max_redemptions)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX promo_codes_code ON promo_codes (operator_id, lower(code));

CREATE TABLE promo_redemptions (
  id bigint PRIMARY KEY,
  promo_code_id bigint NOT NULL REFERENCES promo_codes,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  player_bonus_id bigint NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT promo_redemptions_once UNIQUE (promo_code_id, player_id)
);

-- What grants came to by the day (UTC) they were made or ended. Minor units of the players' currency.
CREATE TABLE bonus_costs (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  bonus_id bigint NOT NULL,
  currency text NOT NULL,
  is_test boolean NOT NULL,
  granted bigint NOT NULL,
  granted_amount bigint NOT NULL,
  finished bigint NOT NULL,
  converted bigint NOT NULL,
  forfeited bigint NOT NULL,
  PRIMARY KEY (operator_id, day, bonus_id, currency, is_test)
);

-- What was written of grants since and is not folded into the sums yet: a row for each change, so that commits do not wait for each other.
CREATE TABLE bonus_cost_changes (LIKE bonus_costs);
CREATE INDEX bonus_cost_changes_day ON bonus_cost_changes (operator_id, day);

-- Takes off what a grant was counted as before and adds what it is now, in the same commit.
CREATE FUNCTION count_bonus_costs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bonus_cost_changes (operator_id, day, bonus_id, currency, is_test, granted, granted_amount, finished, converted, forfeited)
  SELECT NEW.operator_id, c.day, NEW.bonus_id, p.currency, p.is_test, sum(c.granted), sum(c.granted_amount), sum(c.finished),
    sum(c.converted), sum(c.forfeited)
  FROM players p CROSS JOIN (VALUES
    ((OLD.created_at AT TIME ZONE 'UTC')::date, -1, -OLD.amount, 0, 0::bigint, 0::bigint),
    ((OLD.finished_at AT TIME ZONE 'UTC')::date, 0, 0, -1, -OLD.converted, -OLD.forfeited),
    ((NEW.created_at AT TIME ZONE 'UTC')::date, 1, NEW.amount, 0, 0, 0),
    ((NEW.finished_at AT TIME ZONE 'UTC')::date, 0, 0, 1, NEW.converted, NEW.forfeited)
  ) c (day, granted, granted_amount, finished, converted, forfeited)
  WHERE p.id = NEW.player_id AND c.day IS NOT NULL
  GROUP BY c.day, p.currency, p.is_test
  HAVING (sum(c.granted), sum(c.granted_amount), sum(c.finished), sum(c.converted), sum(c.forfeited)) <> (0, 0, 0, 0, 0);
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_bonus AFTER INSERT ON player_bonuses FOR EACH ROW EXECUTE FUNCTION count_bonus_costs();
-- not for what a bet writes: how much was wagered
CREATE TRIGGER count_changed_bonus AFTER UPDATE ON player_bonuses FOR EACH ROW
  WHEN ((OLD.finished_at, OLD.converted, OLD.forfeited) IS DISTINCT FROM (NEW.finished_at, NEW.converted, NEW.forfeited))
  EXECUTE FUNCTION count_bonus_costs();

-- Grants that ran or waited, and their bonus funds, as they were read last.
CREATE TABLE bonus_liabilities (
  operator_id bigint NOT NULL,
  bonus_id bigint NOT NULL,
  currency text NOT NULL,
  is_test boolean NOT NULL,
  running bigint NOT NULL,
  amount numeric NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, bonus_id, currency, is_test)
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Payments, corrections by staff, and what staff have given away
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE payment_methods (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  code text NOT NULL,
  name text NOT NULL,
  currencies text[] NOT NULL,
  supports_deposit boolean NOT NULL DEFAULT true,
  supports_withdrawal boolean NOT NULL DEFAULT true,
  min_deposit bigint NOT NULL DEFAULT 1,
  max_deposit bigint NOT NULL DEFAULT 9007199254740991,
  min_withdrawal bigint NOT NULL DEFAULT 1,
  max_withdrawal bigint NOT NULL DEFAULT 9007199254740991,
  active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL,
  UNIQUE (operator_id, code)
);

CREATE TABLE payment_requests (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players,
  type text NOT NULL CHECK (type IN ('deposit', 'withdrawal')),
  status text NOT NULL CHECK (status IN ('new', 'allowed', 'paid', 'rejected', 'cancelled')),
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  payment_method text,
  external_reference text,
  reject_reason text,
  is_reversed boolean NOT NULL DEFAULT false,
  -- the bootstrap token is nobody with an id
  first_approved_by text,
  created_at timestamptz NOT NULL,
  paid_at timestamptz,
  rejected_at timestamptz,
  cancelled_at timestamptz,
  updated_at timestamptz NOT NULL,
  -- the rate that a withdrawal was paid out at, as of an entry
  exchange_rate_id integer,
  second_approved_by text,
  -- JSON of info, notes and bank name under the master key
  details_sealed bytea,
  has_notes boolean NOT NULL DEFAULT false,
  UNIQUE (operator_id, external_reference)
);
-- Lists go by time, newest first: ids of several services at work do not.
CREATE INDEX payment_requests_operator ON payment_requests (operator_id, created_at DESC, id DESC);
CREATE INDEX payment_requests_waiting ON payment_requests (operator_id, created_at DESC, id DESC)
  WHERE status IN ('new', 'allowed');
CREATE INDEX payment_requests_notes ON payment_requests (player_id, created_at DESC, id DESC) WHERE has_notes;
CREATE INDEX payment_requests_newest ON payment_requests (created_at DESC, id DESC);
CREATE INDEX payment_requests_of_player ON payment_requests (player_id, created_at DESC, id DESC)
  INCLUDE (paid_at, rejected_at, cancelled_at);
-- Amounts are compared within one currency.
CREATE INDEX payment_requests_currency_amount ON payment_requests (currency, amount DESC, id DESC);
-- Whether a withdrawal is the first of its player: one probe, however many payments there are.
CREATE INDEX payment_requests_withdrawn ON payment_requests (player_id, created_at)
  WHERE type = 'withdrawal' AND status = 'paid';

-- Corrections that a second person has to approve. What one person may do alone is in the ledger and in staff_spending only.
CREATE TABLE corrections (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  wallet text NOT NULL CHECK (wallet IN ('real', 'bonus')),
  amount bigint NOT NULL CHECK (amount <> 0),
  currency text NOT NULL,
  reason text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'posted', 'rejected')),
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  decided_by text,
  decided_at timestamptz,
  -- of the ledger
  transaction_id bigint,
  reject_reason text,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK ((status = 'posted') = (transaction_id IS NOT NULL))
);
CREATE INDEX corrections_time ON corrections (requested_at DESC, id DESC);
CREATE INDEX corrections_operator ON corrections (operator_id, requested_at DESC, id DESC);
CREATE INDEX corrections_waiting ON corrections (player_id) WHERE status = 'pending';
CREATE INDEX corrections_player ON corrections (player_id, requested_at DESC, id DESC);
CREATE INDEX corrections_pending ON corrections (requested_at DESC, id DESC) WHERE status = 'pending';

-- What staff have given players, or taken: corrections and bonuses. Written before it is done; released when it was refused.
CREATE TABLE staff_spending (
  id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  -- whoever asked for it
  staff text NOT NULL,
  -- a correction's second person
  approved_by text,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  kind text NOT NULL CHECK (kind IN ('correction', 'bonus')),
  -- signed minor units of the player's currency
  amount bigint NOT NULL,
  -- minor units of the operator's currency, without a sign; null: there was no rate
  value bigint,
  is_released boolean NOT NULL DEFAULT false
);
CREATE INDEX staff_spending_staff ON staff_spending (staff, operator_id, at);
CREATE INDEX staff_spending_player ON staff_spending (player_id, at);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- How many players and payments there are, by what their lists filter by and by the day (UTC) of their creation
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- A change adds a row with what it changes the number by, because a row that all changes share would make them wait for each other; whoever reads adds
-- them up, and folds them into one row per group when there are many. The triggers see every change, whoever makes it.
CREATE TABLE player_counts (
  operator_id bigint NOT NULL,
  created_on date NOT NULL,
  status text NOT NULL,
  kyc_status text NOT NULL,
  rows bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
);
CREATE INDEX player_counts_operator ON player_counts (operator_id);
-- Today's counts of all operators, read by the pages of staff.
CREATE INDEX player_counts_day ON player_counts (created_on, operator_id);

CREATE TABLE payment_counts (
  operator_id bigint NOT NULL,
  created_on date NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  rows bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
);
CREATE INDEX payment_counts_operator ON payment_counts (operator_id);
CREATE INDEX payment_counts_day ON payment_counts (created_on, operator_id);

CREATE FUNCTION count_new_players() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows)
  SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, status, kyc_status, count(*) FROM added GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_players AFTER INSERT ON players
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_players();

CREATE FUNCTION count_changed_player() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO player_counts (operator_id, created_on, status, kyc_status, rows) VALUES
    (OLD.operator_id, (OLD.created_at AT TIME ZONE 'UTC')::date, OLD.status, OLD.kyc_status, -1),
    (NEW.operator_id, (NEW.created_at AT TIME ZONE 'UTC')::date, NEW.status, NEW.kyc_status, 1);
  RETURN NULL;
END
$$;
CREATE TRIGGER count_changed_player AFTER UPDATE OF status, kyc_status ON players
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.kyc_status <> NEW.kyc_status) EXECUTE FUNCTION count_changed_player();

CREATE FUNCTION count_new_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_counts (operator_id, created_on, type, status, rows)
  SELECT operator_id, (created_at AT TIME ZONE 'UTC')::date, type, status, count(*) FROM added GROUP BY 1, 2, 3, 4;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_payments AFTER INSERT ON payment_requests
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_payments();

CREATE FUNCTION count_changed_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payment_counts (operator_id, created_on, type, status, rows) VALUES
    (OLD.operator_id, (OLD.created_at AT TIME ZONE 'UTC')::date, OLD.type, OLD.status, -1),
    (NEW.operator_id, (NEW.created_at AT TIME ZONE 'UTC')::date, NEW.type, NEW.status, 1);
  RETURN NULL;
END
$$;
CREATE TRIGGER count_changed_payment AFTER UPDATE OF type, status ON payment_requests
  FOR EACH ROW WHEN (OLD.type <> NEW.type OR OLD.status <> NEW.status) EXECUTE FUNCTION count_changed_payment();

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Cases and alerts: what is to be judged, what was found, what staff have decided (docs/decisions/0023-compliance.md, 0063-cases.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Staff's files about players, with the alerts that are part of them, notes, evidence, reports to authorities, and what they decide for money.
CREATE TABLE cases (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators (id),
  player_id bigint NOT NULL REFERENCES players (id),
  type text NOT NULL,
  status text NOT NULL,
  decision text,
  -- of the decision `raise`: the player's cap on net deposits, minor units
  amount bigint,
  assigned_to bigint,
  opened_by text NOT NULL,
  -- what a case that opens by itself is about: once for each player and type; null for those of staff
  occurrence text,
  -- hits of a screening
  details jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  closed_at timestamptz,
  CHECK ((status = 'closed') = (closed_at IS NOT NULL))
);
CREATE INDEX cases_newest ON cases (created_at DESC, id DESC);
CREATE INDEX cases_operator ON cases (operator_id, created_at DESC, id DESC);
CREATE INDEX cases_waiting ON cases (operator_id, created_at DESC, id DESC) WHERE status <> 'closed';
CREATE INDEX cases_player ON cases (player_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX cases_once ON cases (player_id, type, occurrence) WHERE occurrence IS NOT NULL;

CREATE TABLE case_notes (
  id bigint PRIMARY KEY,
  case_id bigint NOT NULL REFERENCES cases (id),
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL,
  at timestamptz NOT NULL,
  by text NOT NULL,
  -- of the case, after the note
  status text NOT NULL,
  note text NOT NULL
);
CREATE INDEX case_notes_case ON case_notes (case_id, id);

-- Reports of suspicious activity. Nobody but compliance and admins may learn that there is one.
CREATE TABLE case_reports (
  id bigint PRIMARY KEY,
  case_id bigint NOT NULL REFERENCES cases (id),
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL,
  authority text NOT NULL,
  reference text NOT NULL,
  submitted_at timestamptz NOT NULL,
  -- whether the authority was asked to consent to payouts, and what came of it
  consent text NOT NULL,
  deemed_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (case_id, reference)
);

CREATE TABLE case_evidence (
  id bigint PRIMARY KEY,
  case_id bigint NOT NULL REFERENCES cases (id),
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL,
  kind text NOT NULL,
  reference text NOT NULL,
  sha256 text NOT NULL,
  at timestamptz NOT NULL,
  by text NOT NULL
);
CREATE INDEX case_evidence_case ON case_evidence (case_id, id);

-- What cases have decided about players and the players' actors have not done yet, in the order of their numbers.
CREATE TABLE case_orders (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  case_id bigint NOT NULL REFERENCES cases (id),
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL,
  "order" jsonb NOT NULL
);
CREATE INDEX case_orders_player ON case_orders (player_id, number);

CREATE TABLE compliance_alerts (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  player_id bigint NOT NULL REFERENCES players,
  rule text NOT NULL,
  -- what it is about, within the rule: a payment, a window, other players
  occurrence text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
  status text NOT NULL CHECK (status IN ('open', 'in_review', 'escalated', 'closed')),
  payment_request_id bigint,
  -- the facts that made it, in ids and numbers
  details jsonb NOT NULL,
  -- whether it stops withdrawals: asked for, and done by the player's actor
  hold text NOT NULL CHECK (hold IN ('none', 'wanted', 'placed')),
  notes jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  closed_at timestamptz,
  -- who works on it
  assigned_to bigint,
  -- the most severe first, of those the oldest: a column, because an order has columns of one direction
  severity_rank smallint NOT NULL GENERATED ALWAYS AS (
    CASE severity WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END) STORED,
  case_id bigint REFERENCES cases (id),
  CONSTRAINT compliance_alerts_once UNIQUE (player_id, rule, occurrence),
  CHECK ((status = 'closed') = (closed_at IS NOT NULL))
);
CREATE INDEX compliance_alerts_newest ON compliance_alerts (created_at DESC, id DESC);
CREATE INDEX compliance_alerts_operator ON compliance_alerts (operator_id, created_at DESC, id DESC);
CREATE INDEX compliance_alerts_waiting ON compliance_alerts (operator_id, created_at DESC, id DESC) WHERE status <> 'closed';
CREATE INDEX compliance_alerts_holds ON compliance_alerts (id) WHERE hold = 'wanted' AND status <> 'closed';
CREATE INDEX compliance_alerts_assigned ON compliance_alerts (assigned_to, created_at DESC, id DESC) WHERE status <> 'closed';
CREATE INDEX compliance_alerts_severity ON compliance_alerts (severity_rank, created_at, id);
CREATE INDEX compliance_alerts_operator_severity ON compliance_alerts (operator_id, severity_rank, created_at, id);
-- Alerts of a player, open and earlier ones.
CREATE INDEX compliance_alerts_player ON compliance_alerts (player_id, created_at DESC, id DESC);
CREATE INDEX compliance_alerts_case ON compliance_alerts (case_id) WHERE case_id IS NOT NULL;
-- The alerts that open a case by themselves, and have not.
CREATE INDEX compliance_alerts_caseless ON compliance_alerts (id)
  WHERE severity = 'critical' AND status <> 'closed' AND case_id IS NULL;

-- What staff have changed about a rule of an operator; absent is the default.
CREATE TABLE compliance_settings (
  operator_id bigint NOT NULL REFERENCES operators,
  rule text NOT NULL,
  settings jsonb NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, rule)
);

-- What players are known by, as digests: never in clear, kept when the player changes. Numbers say who came to a fact first.
CREATE TABLE player_facts (
  operator_id bigint NOT NULL,
  kind text NOT NULL,
  digest bytea NOT NULL,
  player_id bigint NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (operator_id, kind, digest, player_id)
);
-- What a player has in common with others.
CREATE INDEX player_facts_player ON player_facts (player_id);

-- Committed facts that wait to be judged. Triggers write them in the transaction of the fact, whoever makes it; who judges one
-- removes it. A row that commits late is one like any other: nobody keeps a position.
CREATE TABLE compliance_effects (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- `known`: a player who came with an import, to be known and not to be judged
  kind text NOT NULL
    CHECK (kind IN ('known', 'registration', 'profile', 'kyc', 'session', 'deposit', 'withdrawal', 'limits')),
  player_id bigint NOT NULL,
  -- the payment or the game session
  subject_id bigint,
  -- of a change of who the player is: the columns that changed
  fields text[] NOT NULL DEFAULT '{}',
  -- when it happened
  at timestamptz NOT NULL,
  -- tries that failed for a reason of its own, and when the next one is due
  attempts integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL DEFAULT '-infinity'
);
-- Staff approve and pay out where a rule stops withdrawals only what has been judged: whether a withdrawal waits for that is asked by
-- its id, however much else waits.
CREATE INDEX compliance_effects_withdrawals ON compliance_effects (subject_id) WHERE kind = 'withdrawal';

-- Who came with an import was judged before; the facts are to be known.
CREATE FUNCTION note_new_players() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, at)
  SELECT CASE registration_source WHEN 'import' THEN 'known' ELSE 'registration' END, id,
    CASE registration_source WHEN 'import' THEN updated_at ELSE created_at END FROM added;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_players AFTER INSERT ON players
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_players();

-- Names that are erased are nobody's new identity.
CREATE FUNCTION note_changed_profile() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, fields, at) VALUES ('profile', NEW.id, array_remove(ARRAY[
    CASE WHEN OLD.first_name <> NEW.first_name THEN 'first_name' END,
    CASE WHEN OLD.last_name <> NEW.last_name THEN 'last_name' END,
    CASE WHEN OLD.birth_date <> NEW.birth_date THEN 'birth_date' END,
    CASE WHEN OLD.personal_id_digest IS DISTINCT FROM NEW.personal_id_digest THEN 'personal_id' END,
    CASE WHEN OLD.document_number_digest IS DISTINCT FROM NEW.document_number_digest THEN 'document_number' END
  ], NULL), NEW.updated_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_changed_profile AFTER UPDATE OF first_name, last_name, birth_date, personal_id_digest, document_number_digest,
    email, phone, country, address, city, zip_code ON players FOR EACH ROW
  WHEN ((OLD.first_name, OLD.last_name, OLD.birth_date, OLD.personal_id_digest, OLD.document_number_digest, OLD.email, OLD.phone,
      OLD.country, OLD.address, OLD.city, OLD.zip_code)
    IS DISTINCT FROM (NEW.first_name, NEW.last_name, NEW.birth_date, NEW.personal_id_digest, NEW.document_number_digest, NEW.email,
      NEW.phone, NEW.country, NEW.address, NEW.city, NEW.zip_code)
    AND current_setting('pitboss.erasing', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION note_changed_profile();

CREATE FUNCTION note_moved_kyc() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, at) VALUES ('kyc', NEW.id, NEW.updated_at);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_moved_kyc AFTER UPDATE OF kyc_status ON players FOR EACH ROW
  WHEN (OLD.kyc_status <> NEW.kyc_status) EXECUTE FUNCTION note_moved_kyc();

-- Limits that were set higher, for what the jurisdiction wants staff to talk about. A raise that was asked for earlier tells nothing when it begins to
-- count.
CREATE FUNCTION note_higher_limits() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, fields, at)
  SELECT 'limits', NEW.id, array_agg(DISTINCT set.field), NEW.updated_at FROM (
    SELECT n.key AS field FROM jsonb_each_text(NEW.limits) AS n
    WHERE n.value::numeric > coalesce((OLD.limits ->> n.key)::numeric, 0)
      AND NOT OLD.pending_limits @> jsonb_build_array(jsonb_build_object('field', n.key, 'value', NEW.limits -> n.key))
    UNION
    SELECT w.raise ->> 'field' FROM jsonb_array_elements(NEW.pending_limits) AS w(raise)
    WHERE NOT OLD.pending_limits @>
      jsonb_build_array(jsonb_build_object('field', w.raise -> 'field', 'value', w.raise -> 'value'))
  ) AS set HAVING count(*) > 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_higher_limits AFTER UPDATE OF limits, pending_limits ON players FOR EACH ROW
  WHEN ((NEW.jurisdiction <> 'none' OR NEW.moved_from IS NOT NULL)
    AND (OLD.limits, OLD.pending_limits) IS DISTINCT FROM (NEW.limits, NEW.pending_limits))
  EXECUTE FUNCTION note_higher_limits();

CREATE FUNCTION note_new_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, subject_id, at)
  SELECT type, player_id, id, created_at FROM added ORDER BY created_at, id;
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_payments AFTER INSERT ON payment_requests
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_payments();

-- A launch says something new only when it comes from another address than the one before.
CREATE FUNCTION note_new_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_effects (kind, player_id, subject_id, at)
  SELECT 'session', a.player_id, a.id, a.opened_at FROM added a
  WHERE a.ip IS NOT NULL AND a.ip IS DISTINCT FROM (
    SELECT s.ip FROM game_sessions s WHERE s.player_id = a.player_id AND s.id < a.id ORDER BY s.id DESC LIMIT 1);
  RETURN NULL;
END
$$;
CREATE TRIGGER note_new_sessions AFTER INSERT ON game_sessions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_new_sessions();

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- What players must have done before playing or depositing, what they have answered, and registers of excluded players
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- What a player must have done before playing or depositing.
CREATE TABLE obligations (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players (id),
  kind text NOT NULL,
  gates text[] NOT NULL,
  state text NOT NULL,
  due_at timestamptz,
  created_at timestamptz NOT NULL,
  met_at timestamptz,
  details jsonb NOT NULL DEFAULT '{}',
  -- the case that imposed it
  case_id bigint REFERENCES cases (id),
  -- false: operators and webhooks may not learn of it, which would warn the subject of a case
  is_told boolean NOT NULL DEFAULT true
);
CREATE INDEX obligations_player ON obligations (player_id, id DESC);
-- one of a kind is open at a time
CREATE UNIQUE INDEX obligations_open ON obligations (player_id, kind) WHERE state = 'open';
CREATE INDEX obligations_case ON obligations (case_id) WHERE case_id IS NOT NULL;

-- What players, operators and staff have answered. Append-only.
CREATE TABLE acknowledgements (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint NOT NULL REFERENCES players (id),
  kind text NOT NULL,
  answer text NOT NULL,
  field text,
  obligation_id bigint,
  text_version text,
  channel text,
  by text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX acknowledgements_player ON acknowledgements (player_id, id DESC);

-- An answer that withdraws all consents does so in its own commit, whatever was consented to meanwhile.
CREATE FUNCTION withdraw_consents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE players SET marketing_email = false, marketing_sms = false, marketing_newsletter = false,
    consents = jsonb_build_array(jsonb_build_object('channel', '*', 'product', '*', 'granted', false,
      'at', floor(extract(epoch FROM NEW.at) * 1000), 'source', 'exclusion', 'text_version', NULL))
  WHERE id = NEW.player_id AND operator_id = NEW.operator_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER withdraw_consents AFTER INSERT ON acknowledgements FOR EACH ROW
  WHEN (NEW.kind = 'consent' AND NEW.field IS NULL) EXECUTE FUNCTION withdraw_consents();

-- How each operator asks registers of excluded players.
CREATE TABLE register_connections (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators (id),
  kind text NOT NULL,
  active boolean NOT NULL,
  settings jsonb NOT NULL,
  settings_sealed bytea,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  UNIQUE (operator_id, kind)
);

-- What registers were asked and answered. Append-only. `person_digest` is keyed; nothing else says whom a question was about.
CREATE TABLE register_checks (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint,
  kind text NOT NULL,
  event text NOT NULL,
  verdict text NOT NULL,
  asked_at timestamptz NOT NULL,
  answered_at timestamptz NOT NULL,
  request_id text NOT NULL,
  response_id text,
  status integer,
  fault text,
  profile text NOT NULL,
  profile_version integer NOT NULL,
  person_digest bytea,
  ask_again boolean NOT NULL
);
-- to be asked again until there is a proper answer
CREATE INDEX register_checks_again ON register_checks (asked_at) WHERE ask_again;
-- Checks are read newest first by their time: ids of several nodes are not in its order.
CREATE INDEX register_checks_player_time ON register_checks (player_id, asked_at DESC, id DESC) WHERE player_id IS NOT NULL;
CREATE INDEX register_checks_operator_time ON register_checks (operator_id, asked_at DESC, id DESC);
-- The newest of a register.
CREATE INDEX register_checks_kind_time ON register_checks (operator_id, kind, asked_at DESC, id DESC);
CREATE INDEX register_checks_refused ON register_checks (profile, asked_at) WHERE player_id IS NULL AND person_digest IS NOT NULL;
-- The newest answer for marketing about each player of an audience.
CREATE INDEX register_checks_marketing ON register_checks (player_id, answered_at DESC)
  WHERE event = 'marketing' AND player_id IS NOT NULL AND verdict <> 'unavailable';

-- A register's own code of a person, to ask with instead of the person's number.
CREATE TABLE register_codes (
  player_id bigint NOT NULL REFERENCES players (id),
  kind text NOT NULL,
  code_sealed bytea NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (player_id, kind)
);

-- Players of operators with a screening: when each is asked about next, and why.
CREATE TABLE screenings (
  player_id bigint PRIMARY KEY REFERENCES players (id),
  operator_id bigint NOT NULL,
  event text NOT NULL,
  due_at timestamptz NOT NULL,
  -- questions without a proper answer since the last one that had one
  attempts integer NOT NULL
);
CREATE INDEX screenings_due ON screenings (due_at);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Events in the order of each operator, and webhooks (docs/decisions/0017-webhooks.md, 0065-events-in-order.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Webhook events, written in the commit of what they tell.
CREATE TABLE events (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  player_id bigint,
  type text NOT NULL,
  data jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  -- an event is turned into deliveries once, whenever its commit becomes visible: ids do not commit in their order, so a position among them would pass
  -- some by
  fanned_out boolean NOT NULL DEFAULT false,
  -- the version of the player's state that the event is of: events of one player are numbered in this order
  player_version bigint NOT NULL DEFAULT 0,
  -- the order of an operator's events and that of a player's, fixed when they are numbered
  position bigint,
  player_sequence bigint,
  -- when an event was made that is dated by an advanced clock: it is kept by real time
  made_at timestamptz
);
CREATE INDEX events_waiting ON events (id) WHERE NOT fanned_out;
CREATE INDEX events_age ON events USING brin (created_at);
CREATE INDEX events_player ON events (player_id) WHERE player_id IS NOT NULL;
CREATE UNIQUE INDEX events_in_order ON events (operator_id, position) WHERE position IS NOT NULL;
-- events of a player that wait with a later one
CREATE INDEX events_waiting_of_player ON events (player_id) WHERE NOT fanned_out;
CREATE INDEX events_made_at ON events (made_at) WHERE made_at IS NOT NULL;

-- The last position of each operator, and the last ones that are no longer kept.
CREATE TABLE event_positions (
  operator_id bigint PRIMARY KEY,
  position bigint NOT NULL,
  expired_position bigint NOT NULL DEFAULT 0,
  expired_id bigint NOT NULL DEFAULT 0
);

CREATE TABLE event_sequences (
  player_id bigint PRIMARY KEY,
  sequence bigint NOT NULL
);

-- Where operators want to be told.
CREATE TABLE webhook_endpoints (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  url text NOT NULL,
  -- null: all types, also those of later versions
  events text[],
  -- AES-256-GCM under the master key, like the secrets of API keys
  secret_sealed bytea NOT NULL,
  -- signs beside the current one until it ends
  previous_secret_sealed bytea,
  previous_secret_until timestamptz,
  active boolean NOT NULL DEFAULT true,
  -- more waits for it than may: what comes now is kept as failed
  is_full boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CHECK ((previous_secret_sealed IS NULL) = (previous_secret_until IS NULL))
);
CREATE INDEX webhook_endpoints_operator ON webhook_endpoints (operator_id, id);

-- One event on its way to one endpoint. A fifth of each page stays free so that a claim stays on its page and touches no index.
CREATE TABLE webhook_deliveries (
  id bigint PRIMARY KEY,
  event_id bigint NOT NULL REFERENCES events,
  endpoint_id bigint NOT NULL REFERENCES webhook_endpoints,
  operator_id bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz,
  -- the sender that is trying it, and until when nobody else may
  claimed_by bigint,
  claimed_until timestamptz,
  -- of the last attempt: the status of the answer, or why there was none
  response_status integer,
  error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- of the last attempt: the beginning of the answer, how long it took, and when it was sent
  response_body text,
  duration_ms integer,
  sent_at timestamptz,
  CONSTRAINT webhook_deliveries_once UNIQUE (event_id, endpoint_id),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at DESC, id DESC);
-- Deliveries that wait or have failed: few among many. One that is delivered leaves it, and the index of a webhook's log has it.
CREATE INDEX webhook_deliveries_undelivered ON webhook_deliveries (endpoint_id, status, created_at DESC, id DESC)
  WHERE status <> 'delivered';

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Reports: what the commit that writes the ledger adds up, so that a report never reads the ledger, and exchange rates (docs/decisions/0018-reports.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Rates are never changed: a new one applies to what is written from then on. Ids rise in the order in which rates become
-- visible, so that the highest is the current one.
CREATE TABLE exchange_rates (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  currency text NOT NULL,
  base text NOT NULL,
  -- one unit of `currency` in units of `base`
  rate numeric NOT NULL CHECK (rate > 0),
  -- one minor unit of `currency` in minor units of `base`
  factor numeric NOT NULL CHECK (factor > 0),
  created_at timestamptz NOT NULL,
  CHECK (currency <> base)
);
CREATE INDEX exchange_rates_current ON exchange_rates (currency, base, id);

-- Figures by day of entry (UTC), in minor units of `currency`. `shard` means nothing: it keeps services that commit at the same
-- time from waiting for each other's rows. Half of each page stays free so that updates stay on their page.
CREATE TABLE daily_sums (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  is_test boolean NOT NULL,
  currency text NOT NULL,
  -- 0: none
  exchange_rate_id integer NOT NULL,
  -- 0: not of a game
  provider_id bigint NOT NULL,
  is_live boolean NOT NULL,
  shard smallint NOT NULL,
  -- ledger entries, and withdrawals paid out, that the sums hold
  entries bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  bonus_bets bigint NOT NULL,
  wins bigint NOT NULL,
  bonus_conversions bigint NOT NULL,
  deposits bigint NOT NULL,
  chargebacks bigint NOT NULL,
  withdrawals bigint NOT NULL,
  PRIMARY KEY (operator_id, day, provider_id, is_live, currency, exchange_rate_id, is_test, shard)
) WITH (fillfactor = 50);

-- How many players were active on `day` whose day of activity before was `previous_day`; one that is 366 days before stands for
-- every earlier one and for none. The different players of a range are those of its days whose previous day lies before it.
CREATE TABLE daily_players (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  previous_day date NOT NULL,
  kind text NOT NULL,
  is_test boolean NOT NULL,
  shard smallint NOT NULL,
  players bigint NOT NULL,
  CHECK (previous_day < day AND previous_day >= day - 366),
  PRIMARY KEY (operator_id, day, previous_day, kind, is_test, shard)
) WITH (fillfactor = 50);

-- Play by game and day (UTC), added up by a job. Minor units of `currency`, and, where the players have another currency than their operator, the
-- same at the rates of the entries in `base`, the operator's currency then: a row for each rate would be one more for each change of a rate.
CREATE TABLE game_sums (
  operator_id bigint NOT NULL,
  day date NOT NULL,
  provider_id bigint NOT NULL,
  -- 0: of no game
  game_id bigint NOT NULL,
  is_test boolean NOT NULL,
  currency text NOT NULL,
  -- '': there was no rate, or none is needed
  base text NOT NULL,
  entries bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  bonus_bets bigint NOT NULL,
  wins bigint NOT NULL,
  base_bets numeric NOT NULL,
  base_bonus_bets numeric NOT NULL,
  base_wins numeric NOT NULL,
  PRIMARY KEY (operator_id, day, provider_id, game_id, is_test, currency, base)
);

-- From the beginning of which day until when the sums hold everything: one row.
CREATE TABLE game_sums_walk (
  name text PRIMARY KEY CHECK (name = 'game_sums'),
  since date NOT NULL,
  until timestamptz NOT NULL
);

-- An operator's figures of a day (UTC) as they had come to at a full hour, in the operator's currency at that moment, without test players.
-- An hour's own figures are the difference of two readings; those of whole days are in daily_sums. provider_id 0: of no game, and the players.
CREATE TABLE figure_hours (
  operator_id bigint NOT NULL,
  at timestamptz NOT NULL,
  provider_id bigint NOT NULL,
  rounds bigint NOT NULL,
  bets bigint NOT NULL,
  wins bigint NOT NULL,
  bonus_conversions bigint NOT NULL,
  deposits bigint NOT NULL,
  withdrawals bigint NOT NULL,
  players bigint NOT NULL,
  registrations bigint NOT NULL,
  PRIMARY KEY (operator_id, at, provider_id)
);
CREATE INDEX figure_hours_age ON figure_hours USING brin (at);

-- What players of an operator held at a moment, in their currencies, without test players: read by a job, since no bet adds to a total.
CREATE TABLE figure_funds (
  operator_id bigint NOT NULL,
  currency text NOT NULL,
  wallet text NOT NULL CHECK (wallet IN ('real', 'bonus')),
  amount numeric NOT NULL,
  players bigint NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, currency, wallet)
);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Imports of operators that move in from another platform (docs/decisions/0068-moving-in.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Files of players, under the four-eyes rule.
CREATE TABLE import_runs (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators,
  -- the batch, as the audit log names it
  name text NOT NULL,
  file_sha256 text NOT NULL,
  sends_events boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('checking', 'proposed', 'approved', 'rejected', 'posted')),
  chunks integer,
  -- what was approved
  totals jsonb,
  -- catalogue entry of the bonuses that came with it
  bonus_id bigint REFERENCES bonuses,
  proposed_by text NOT NULL,
  proposed_at timestamptz NOT NULL,
  decided_by text,
  decided_at timestamptz,
  -- when the first chunk was begun to be posted: from then on it cannot be rejected
  posting_at timestamptz
);
CREATE UNIQUE INDEX import_runs_file ON import_runs (operator_id, file_sha256) WHERE status <> 'rejected';
CREATE INDEX import_runs_newest ON import_runs (operator_id, id DESC);

-- Lines that were checked together, and are posted together: as they were checked.
CREATE TABLE import_chunks (
  run_id bigint NOT NULL REFERENCES import_runs,
  number integer NOT NULL,
  operator_id bigint NOT NULL,
  lines_sha256 bytea NOT NULL,
  totals jsonb NOT NULL,
  -- numbers of lines with the reasons, no value of theirs
  rejected jsonb NOT NULL,
  posted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, number)
);
CREATE INDEX import_chunks_waiting ON import_chunks (run_id) WHERE NOT posted;

-- Players of the chunks of an import that is being checked: an open withdrawal of another chunk is in its player's currency. Gone with the check's end.
CREATE TABLE import_checked_players (
  run_id bigint NOT NULL REFERENCES import_runs,
  -- keyed digest of the external id
  player_digest bytea NOT NULL,
  chunk integer NOT NULL,
  currency text NOT NULL,
  PRIMARY KEY (run_id, player_digest)
);

-- What was before an import, of each player that came with one.
CREATE TABLE imported_players (
  player_id bigint PRIMARY KEY REFERENCES players,
  operator_id bigint NOT NULL,
  run_id bigint NOT NULL REFERENCES import_runs,
  line_digest bytea NOT NULL,
  unverified_withdrawn bigint NOT NULL,
  lifetime_deposits bigint NOT NULL,
  lifetime_withdrawals bigint NOT NULL,
  password_sealed bytea
);

-- With the person goes what came with the import.
CREATE FUNCTION forget_imported_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE imported_players SET password_sealed = NULL, line_digest = '' WHERE player_id = NEW.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER forget_imported_person AFTER UPDATE OF erased_at ON players FOR EACH ROW
  WHEN (NEW.erased_at IS NOT NULL AND OLD.erased_at IS DISTINCT FROM NEW.erased_at)
  EXECUTE FUNCTION forget_imported_person();

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Audit log, and the chain of hashes over ledger entries and audit lines (docs/decisions/0029-chain-of-hashes.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Who did what, in the back office and through the API. Append-only.
CREATE TABLE audit_log (
  id bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  operator_id bigint,
  player_id bigint,
  subject text NOT NULL,
  before jsonb,
  after jsonb,
  reason text,
  -- The linked line holds a digest of the values under a salt, so that they can be erased.
  salt bytea,
  -- in place of salt and values that were erased
  values_digest bytea,
  CONSTRAINT audit_log_erased CHECK (CASE WHEN values_digest IS NULL THEN salt IS NOT NULL ELSE num_nonnulls(salt, before, after, reason) = 0 END)
);
CREATE INDEX audit_log_operator ON audit_log (operator_id, at DESC, id DESC);
CREATE INDEX audit_log_player ON audit_log (player_id, at DESC, id DESC);
-- The audit log is read by time, by who acted, and by what was done.
CREATE INDEX audit_log_time ON audit_log (at DESC, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor, at DESC, id DESC);
CREATE INDEX audit_log_action ON audit_log (action, at DESC, id DESC);

-- Alerts about large credits of game providers are written in the commit that settles the credit, where its line of the audit log is.
CREATE FUNCTION raise_credit_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO compliance_alerts (id, operator_id, player_id, rule, occurrence, severity, status, details, hold, created_at, updated_at)
  VALUES ((NEW.after ->> 'alert_id')::bigint, NEW.operator_id, NEW.player_id, NEW.after ->> 'rule',
    'provider ' || (NEW.after #>> '{details,provider_id}') || ' transaction ' || (NEW.after #>> '{details,transaction_id}'),
    NEW.after ->> 'severity', 'open', NEW.after -> 'details', NEW.after ->> 'hold', NEW.at, NEW.at)
  -- whatever is there already: a credit is always settled
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER raise_credit_alert AFTER INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.action = 'player.credit_alert') EXECUTE FUNCTION raise_credit_alert();

CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

-- The application only inserts into the tables of the chain, as into ledger_entries and audit_log, and reads them.

-- One commit: the rows that it wrote, and the hash of them and of the link before.
CREATE TABLE chain_links (
  chain_id bigint NOT NULL,
  -- from 1, without a gap
  link bigint NOT NULL CHECK (link > 0),
  hash bytea NOT NULL,
  -- of the hash, under a key that the database does not know
  tag bytea NOT NULL,
  -- SHA-256 of each row: entries first, then audit lines
  digests bytea NOT NULL,
  player_ids bigint[] NOT NULL,
  seqs bigint[] NOT NULL,
  audit_ids bigint[] NOT NULL,
  PRIMARY KEY (chain_id, link)
);

-- How far all chains were at one moment. The hash of the last seal stands for everything before it.
CREATE TABLE chain_seals (
  seal bigint PRIMARY KEY CHECK (seal > 0),
  hash bytea NOT NULL,
  sealed_at timestamptz NOT NULL
);

-- The chains that had grown since the seal before.
CREATE TABLE chain_seal_heads (
  chain_id bigint NOT NULL,
  link bigint NOT NULL,
  seal bigint NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (chain_id, link)
);
CREATE INDEX chain_seal_heads_seal ON chain_seal_heads (seal, chain_id);

CREATE TRIGGER chain_links_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_links
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

CREATE TRIGGER chain_seals_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_seals
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

CREATE TRIGGER chain_seal_heads_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_seal_heads
  FOR EACH STATEMENT EXECUTE FUNCTION pitboss_append_only();

-- How far the last sound verification of all ledgers went: the next one begins there (docs/decisions/0029-chain-of-hashes.md).
CREATE TABLE ledger_verification (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  verified_at timestamptz NOT NULL,
  -- when everything was verified, not only what was new
  wholly_at timestamptz NOT NULL,
  -- the last seal that it followed
  seal bigint NOT NULL,
  seal_hash bytea NOT NULL,
  -- of all rows of ledger_verified_players
  players_hash bytea NOT NULL,
  -- audit lines in links up to the seal, and the sum of their ids' hashes
  audit_lines bigint NOT NULL,
  audit_sum numeric NOT NULL,
  -- of the above, under the key of the chain
  tag bytea NOT NULL
);

-- Ledgers as they were found to be: how many entries, and what they sum up to.
CREATE TABLE ledger_verified_players (
  player_id bigint PRIMARY KEY,
  operator_id bigint NOT NULL,
  entries bigint NOT NULL,
  real_balance bigint NOT NULL,
  bonus_balance bigint NOT NULL
);

-- Restored backups that two persons have accepted: the end that the processes remembered, and the one that took its place.
CREATE TABLE ledger_restores (
  id bigint PRIMARY KEY,
  reason text NOT NULL,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL,
  -- null: there was no seal
  old_seal bigint,
  old_hash text,
  approved_by text,
  approved_at timestamptz,
  new_seal bigint,
  new_hash text,
  -- under the key of the chain: an acceptance that was written past the service is none
  tag bytea,
  -- The end that the first person saw and the one that both accept, as JSON: an acceptance holds while the tables still go on from it
  -- (docs/decisions/0029-chain-of-hashes.md). A request or acceptance without them is none.
  requested_end text,
  request_tag bytea,
  accepted_end text,
  CHECK ((approved_at IS NULL) = (tag IS NULL))
);
CREATE INDEX ledger_restores_approved ON ledger_restores (approved_at);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Erasure of personal data: requests, and the functions that erase (docs/decisions/0064-retention.md)
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

CREATE TABLE data_requests (
  id bigint PRIMARY KEY,
  operator_id bigint NOT NULL REFERENCES operators (id),
  player_id bigint NOT NULL REFERENCES players (id),
  type text NOT NULL,
  status text NOT NULL,
  -- the case of staff about it
  case_id bigint,
  -- of an erasure: what was erased, and what is kept until when
  result jsonb,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  completed_at timestamptz,
  CHECK ((status = 'open') = (completed_at IS NULL))
);
CREATE INDEX data_requests_player ON data_requests (player_id, id DESC);
CREATE INDEX data_requests_operator ON data_requests (operator_id, created_at DESC, id DESC);
CREATE INDEX data_requests_newest ON data_requests (created_at DESC, id DESC);

-- What stops the erasure of a player as a whole, as of an instant; nothing when it may be done.
CREATE FUNCTION erasure_blocks(p_player bigint, p_at timestamptz) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT array_remove(ARRAY[
    CASE WHEN p.status <> 'closed' THEN 'account_open' END,
    CASE WHEN a.real_balance <> 0 OR a.bonus_balance <> 0 THEN 'balance' END,
    CASE WHEN EXISTS (SELECT FROM rounds r WHERE r.player_id = p.id AND NOT r.closed) THEN 'open_round' END,
    CASE WHEN EXISTS (SELECT FROM payment_requests r WHERE r.player_id = p.id AND r.status IN ('new', 'allowed'))
      THEN 'open_payment' END,
    CASE WHEN EXISTS (SELECT FROM cases c WHERE c.player_id = p.id AND c.status <> 'closed' AND c.type <> 'data_subject')
      THEN 'open_case' END,
    CASE WHEN p.exclusion_type IS NOT NULL AND (p.exclusion_over_at IS NULL OR p.exclusion_over_at > p_at)
      THEN 'exclusion' END
  ], NULL)
  FROM players p JOIN accounts a ON a.player_id = p.id WHERE p.id = p_player
$$;

-- Erases classes of a player's data and writes the line of the audit log that says so, which the caller links. Of classes by row what is dated up to and
-- including `p_before`; the others as a whole, and only while nothing blocks that.
CREATE FUNCTION erase_personal_data(
  p_player bigint,
  p_classes text[],
  p_before timestamptz[],
  p_at timestamptz,
  p_line bigint,
  p_actor text,
  p_reason text,
  p_salt bytea
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET pitboss.erasing = 'on' AS $$
DECLARE
  blocks text[];
  operator bigint;
  upto timestamptz;
BEGIN
  -- what the player's actor commits waits behind this row, and is refused after it: it was decided with what is gone
  UPDATE accounts SET version = version + 1 WHERE player_id = p_player RETURNING operator_id INTO STRICT operator;
  PERFORM FROM players WHERE id = p_player FOR NO KEY UPDATE;
  IF p_classes && ARRAY['identity', 'payments', 'gambling', 'exclusion', 'marketing'] THEN
    blocks := erasure_blocks(p_player, p_at);
    IF cardinality(blocks) > 0 THEN
      RAISE EXCEPTION 'erasure is blocked by %', array_to_string(blocks, ', ') USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
  END IF;

  IF 'identity' = ANY (p_classes) THEN
    UPDATE players SET external_id = NULL, username = 'erased-' || id, email = 'erased-' || id || '@erased.invalid', password_hash = NULL,
      first_name = 'erased', last_name = 'erased', middle_name = NULL, gender = NULL, birth_date = date_trunc('year', birth_date)::date,
      city = NULL, address = NULL, zip_code = NULL, phone = NULL, numbers_sealed = NULL,
      birth_name = NULL, birth_place = NULL, last_name_prefix = NULL, registration_ip = NULL, erased_at = p_at,
      updated_at = greatest(updated_at, p_at), sessions_ended_at = greatest(sessions_ended_at, p_at)
    WHERE id = p_player;
    DELETE FROM former_identities WHERE player_id = p_player;
    UPDATE player_notes SET text = 'erased' WHERE player_id = p_player;
    -- the line of a check at a register holds nothing personal: it stays as the proof that the register was asked
    UPDATE audit_log a SET salt = NULL, before = NULL, after = NULL, reason = NULL, values_digest = sha256(convert_to(
        '["values","' || encode(a.salt, 'hex') || '",' || coalesce(a.before::text, 'null') || ',' || coalesce(a.after::text, 'null') ||
        ',' || coalesce(to_json(a.reason)::text, 'null') || ']', 'UTF8'))
      WHERE a.player_id = p_player AND a.salt IS NOT NULL AND a.action NOT IN ('erasure', 'register.check');
    UPDATE webhook_deliveries d SET response_body = NULL FROM events e
      WHERE e.player_id = p_player AND d.event_id = e.id AND d.response_body IS NOT NULL;
    UPDATE events SET data = jsonb_build_object('player', jsonb_build_object('id', player_id)) WHERE player_id = p_player;
    UPDATE idempotency_keys SET body = '', body_sealed = NULL WHERE player_id = p_player;
    DELETE FROM compliance_effects WHERE player_id = p_player;
  END IF;
  IF 'payments' = ANY (p_classes) THEN
    UPDATE payment_requests SET details_sealed = NULL, has_notes = false,
        reject_reason = CASE WHEN reject_reason IS NOT NULL THEN 'erased' END
      WHERE player_id = p_player AND num_nonnulls(details_sealed, reject_reason) > 0;
    UPDATE corrections SET reason = 'erased', reject_reason = CASE WHEN reject_reason IS NOT NULL THEN 'erased' END
      WHERE player_id = p_player;
  END IF;
  IF 'gambling' = ANY (p_classes) THEN
    UPDATE player_bonuses SET note = NULL WHERE player_id = p_player AND note IS NOT NULL;
  END IF;
  IF 'marketing' = ANY (p_classes) THEN
    UPDATE players SET marketing_email = false, marketing_sms = false, marketing_newsletter = false, registration_btag = NULL,
      registration_affiliate_id = NULL WHERE id = p_player;
  END IF;
  IF 'exclusion' = ANY (p_classes) THEN
    UPDATE players SET personal_id_digest = NULL, document_number_digest = NULL WHERE id = p_player;
    DELETE FROM player_facts WHERE player_id = p_player;
  END IF;

  upto := p_before[array_position(p_classes, 'aml')];
  IF upto IS NOT NULL THEN
    UPDATE compliance_alerts SET details = '{}', notes = '[]' WHERE player_id = p_player AND closed_at <= upto;
    -- what a case has asked for goes with the case: a question that was waived, or is still open at the end of the account, has no time of its own
    UPDATE obligations o SET details = '{}' FROM cases c
      WHERE o.player_id = p_player AND o.details <> '{}' AND c.id = o.case_id AND c.closed_at <= upto
        AND (o.state <> 'open' OR EXISTS (SELECT FROM players p WHERE p.id = p_player AND p.status = 'closed'));
    UPDATE cases SET details = '{}' WHERE player_id = p_player AND closed_at <= upto;
    UPDATE case_notes n SET note = 'erased' FROM cases c
      WHERE c.player_id = p_player AND c.closed_at <= upto AND n.case_id = c.id;
    UPDATE case_reports r SET reference = 'erased-' || r.id FROM cases c
      WHERE c.player_id = p_player AND c.closed_at <= upto AND r.case_id = c.id;
    UPDATE case_evidence v SET reference = 'erased', sha256 = '' FROM cases c
      WHERE c.player_id = p_player AND c.closed_at <= upto AND v.case_id = c.id;
  END IF;
  upto := p_before[array_position(p_classes, 'checks')];
  IF upto IS NOT NULL THEN
    UPDATE register_checks SET person_digest = NULL
      WHERE player_id = p_player AND asked_at <= upto AND person_digest IS NOT NULL;
    IF NOT EXISTS (SELECT FROM register_checks WHERE player_id = p_player AND person_digest IS NOT NULL) THEN
      UPDATE players SET registers = '[]' WHERE id = p_player AND status = 'closed';
      DELETE FROM register_codes WHERE player_id = p_player;
    END IF;
  END IF;
  upto := p_before[array_position(p_classes, 'consents')];
  IF upto IS NOT NULL THEN
    UPDATE acknowledgements SET channel = NULL WHERE player_id = p_player AND at <= upto AND channel IS NOT NULL;
  END IF;
  upto := p_before[array_position(p_classes, 'security')];
  IF upto IS NOT NULL THEN
    UPDATE game_sessions SET ip = NULL, platform = NULL
      WHERE player_id = p_player AND opened_at <= upto AND num_nonnulls(ip, platform) > 0;
    UPDATE players SET registration_ip = NULL WHERE id = p_player AND created_at <= upto AND registration_ip IS NOT NULL;
  END IF;

  UPDATE players SET erased_classes = (SELECT array_agg(DISTINCT name ORDER BY name) FROM unnest(erased_classes || p_classes) AS name
      WHERE name IN ('identity', 'payments', 'gambling', 'exclusion', 'marketing'))
    WHERE id = p_player AND p_classes && ARRAY['identity', 'payments', 'gambling', 'exclusion', 'marketing'];
  INSERT INTO audit_log (id, at, actor, action, operator_id, player_id, subject, after, reason, salt)
    VALUES (p_line, p_at, p_actor, 'erasure', operator, p_player, 'player:' || p_player, jsonb_build_object('classes', p_classes),
      p_reason, p_salt);
END
$$;

REVOKE ALL ON FUNCTION erase_personal_data(bigint, text[], timestamptz[], timestamptz, bigint, text, text, bytea) FROM PUBLIC;

-- The same of checks of registrations that were refused: they are about no player. At most `p_limit` at a time.
CREATE FUNCTION erase_refused_checks(p_profile text, p_before timestamptz, p_limit integer) RETURNS bigint
  LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp SET pitboss.erasing = 'on' AS $$
  WITH erased AS (
    UPDATE register_checks SET person_digest = NULL WHERE id IN (SELECT id FROM register_checks
      WHERE profile = p_profile AND asked_at <= p_before AND player_id IS NULL AND person_digest IS NOT NULL
      ORDER BY asked_at LIMIT p_limit)
    RETURNING 1)
  SELECT count(*) FROM erased
$$;
REVOKE ALL ON FUNCTION erase_refused_checks(text, timestamptz, integer) FROM PUBLIC;

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- Requests that were answered
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- The first answer to an idempotency key, committed with its effect. `scope` is the operator or, for session calls, the player.
CREATE TABLE idempotency_keys (
  scope text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status integer NOT NULL,
  -- one that holds a secret, such as a token, is kept sealed under the master key
  body text,
  created_at timestamptz NOT NULL,
  body_sealed bytea,
  -- whose answer it is, to erase it with its player
  player_id bigint,
  PRIMARY KEY (scope, key),
  CONSTRAINT idempotency_keys_one_body CHECK ((body IS NULL) <> (body_sealed IS NULL))
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_player ON idempotency_keys (player_id) WHERE player_id IS NOT NULL;

-- Signatures already accepted, so that none is accepted twice, also after a restart.
CREATE TABLE accepted_signatures (
  signature bytea PRIMARY KEY,
  accepted_at timestamptz NOT NULL,
  -- the process that accepted a request, as its connections are called: a replay that reaches another process, as a proxy sends it when a node has ended
  -- before it answered, is refused as one of unknown outcome
  process text NOT NULL DEFAULT split_part(current_setting('application_name'), '/', 2)
);
CREATE INDEX accepted_signatures_age ON accepted_signatures (accepted_at);

-- -------------------------------------------------------------------------------------------------------------------------------------------------------------
-- The service itself: jobs, secrets, nodes
-- -------------------------------------------------------------------------------------------------------------------------------------------------------------

-- Background jobs: when each is due, and who holds it.
CREATE TABLE jobs (
  name text PRIMARY KEY,
  next_run_at timestamptz NOT NULL,
  -- who runs it, and until when nobody else may
  runner text,
  lease_until timestamptz,
  last_started_at timestamptz,
  last_ended_at timestamptz,
  last_done bigint,
  failures integer NOT NULL DEFAULT 0,
  last_error text
);

-- What the service keeps for itself, sealed under the master key. That it opens at the start shows that the key is the right one.
CREATE TABLE kept_secrets (
  name text PRIMARY KEY,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL
);

-- The nodes of the cluster (effect/cluster, SqlRunnerStorage 4.1; its locks are advisory ones). Times are in UTC, without a zone as it reads them.
CREATE TABLE cluster_runners (
  machine_id serial PRIMARY KEY,
  address varchar(255) NOT NULL UNIQUE,
  runner text NOT NULL,
  healthy boolean NOT NULL DEFAULT true,
  last_heartbeat timestamp NOT NULL DEFAULT now()
);

-- Who owned a shard of players last. Its lock says who may take it, and is free as soon as the connection of its owner is lost; this says until
-- when that owner may still believe to have it.
CREATE TABLE cluster_shards (
  shard integer PRIMARY KEY,
  owner text NOT NULL,
  -- rises with every owner
  tenure bigint NOT NULL DEFAULT 1,
  taken_at timestamptz NOT NULL,
  -- from when on nobody before the owner believes to have it
  free_at timestamptz NOT NULL,
  -- the owner has given it up
  is_released boolean NOT NULL DEFAULT false
);
