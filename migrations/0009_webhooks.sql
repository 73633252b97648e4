-- Webhooks: where operators want to be told, and every delivery of an event to one of these places.

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
  CONSTRAINT webhook_deliveries_once UNIQUE (event_id, endpoint_id),
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at, id) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at DESC, id DESC);

-- An event is turned into deliveries once, whenever its commit becomes visible: ids do not commit in their order, so a position
-- among them would pass some by. What is here already happened before there was anybody to tell.
ALTER TABLE events ADD COLUMN fanned_out boolean NOT NULL DEFAULT true;
ALTER TABLE events ALTER COLUMN fanned_out SET DEFAULT false;
CREATE INDEX events_waiting ON events (id) WHERE NOT fanned_out;
CREATE INDEX events_age ON events USING brin (created_at);
