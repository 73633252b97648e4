-- Players by the beginning of any word of their names, username, e-mail, phone or external id, whatever its accents and case. The bodies are bound to
-- what they name when they are created: a restored dump runs them without a search path.

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

ALTER TABLE players ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (
  search_words(first_name, middle_name, last_name, username, email, external_id, regexp_replace(phone, '[^0-9]', '', 'g'))
) STORED;
CREATE INDEX players_words ON players USING gin (words);
