-- Who can act as whom among staff, and what goes back to a bearer token (docs/decisions/0030-four-eyes.md, 0047-staff-sessions.md).

-- What was handed over: `renewed` is a token that the account itself replaced in a session that had shown its second factor.
ALTER TABLE staff_tokens ADD COLUMN kind text NOT NULL DEFAULT 'issued'
  CHECK (kind IN ('made', 'issued', 'entrusted', 'renewed'));
-- What the issuer had proved by then: a proof that came later does not take back what others did as the issuer.
ALTER TABLE staff_tokens ADD COLUMN issuer_proved_at timestamptz;
ALTER TABLE staff_tokens ADD COLUMN issuer_renewed_at timestamptz;
UPDATE staff_tokens t SET kind = 'made' FROM staff s
WHERE s.id = t.staff_id AND t.issued_by = s.created_by
  AND t.issued_at = (SELECT min(o.issued_at) FROM staff_tokens o WHERE o.staff_id = t.staff_id);
-- accounts whose first token left no line
INSERT INTO staff_tokens (staff_id, issued_at, issued_by, kind)
SELECT s.id, least(s.created_at, (SELECT min(o.issued_at) FROM staff_tokens o WHERE o.staff_id = s.id) - interval '1 millisecond'),
  s.created_by, 'made'
FROM staff s WHERE s.created_by IS NOT NULL
  AND NOT EXISTS (SELECT FROM staff_tokens t WHERE t.staff_id = s.id AND t.kind = 'made');

-- Since when the account has a second factor, its own or its identity provider's, and when it was last shown.
ALTER TABLE staff ADD COLUMN factor_since timestamptz;
ALTER TABLE staff ADD COLUMN factor_proved_at timestamptz;
-- one from before counts from now on: nobody knows whether it is older than what was handed over
UPDATE staff SET factor_since = now() WHERE totp_sealed IS NOT NULL;

-- Whether the password and the second factor go back to a bearer token of the account: who replaces it ends them.
ALTER TABLE staff ADD COLUMN password_of_token boolean NOT NULL DEFAULT false;
ALTER TABLE staff ADD COLUMN factor_of_token boolean NOT NULL DEFAULT false;
-- The account whose bearer token made the link, as the audit log names it; null: none did.
ALTER TABLE staff_tickets ADD COLUMN of_token text;
ALTER TABLE staff_sessions ADD COLUMN of_token text;
