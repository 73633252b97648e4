-- The process that accepted a request, as its connections are called: a replay that reaches another process, as a proxy sends it when a node has ended
-- before it answered, is refused as one of unknown outcome.
ALTER TABLE accepted_signatures
  ADD COLUMN process text NOT NULL DEFAULT split_part(current_setting('application_name'), '/', 2);
