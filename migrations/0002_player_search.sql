-- Finding players among a million: by a part of a name, and by the identity of somebody who is excluded from play.

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

-- The line breaks keep the end of one field and the start of the next from making a piece that a search could ask for.
CREATE INDEX players_search ON players
  USING gin (search_pieces(username || E'\n' || email || E'\n' || last_name));

-- Who registers is compared with those who are excluded: with few of them, whatever the number of players is.
CREATE INDEX players_excluded_birth_date ON players (operator_id, birth_date) WHERE exclusion_type IS NOT NULL;
CREATE INDEX players_excluded_personal_id ON players
  (operator_id, upper(regexp_replace(personal_id, '[^[:alnum:]]', '', 'g'))) WHERE exclusion_type IS NOT NULL;
CREATE INDEX players_excluded_document_number ON players
  (operator_id, upper(regexp_replace(document_number, '[^[:alnum:]]', '', 'g'))) WHERE exclusion_type IS NOT NULL;
