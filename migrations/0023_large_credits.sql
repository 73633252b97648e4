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
