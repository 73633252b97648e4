-- The nodes of the cluster (effect/cluster, SqlRunnerStorage 4.1; its locks are advisory ones). Times are in UTC, without a zone as it reads them.
CREATE TABLE cluster_runners (
  machine_id serial PRIMARY KEY,
  address varchar(255) NOT NULL UNIQUE,
  runner text NOT NULL,
  healthy boolean NOT NULL DEFAULT true,
  last_heartbeat timestamp NOT NULL DEFAULT now()
);
