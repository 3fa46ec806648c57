-- What processes keep of passages in memory, so that a search reads no more of the database than what it gives.

-- Each lexeme as four bytes: three of its digest, and how often it is there, 255 at most.
CREATE FUNCTION knowledge_terms(lexemes tsvector) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(decode(string_agg(encode(substr(sha256(convert_to(lexeme, 'UTF8')), 1, 3), 'hex')
    || lpad(to_hex(least(255, greatest(1, coalesce(cardinality(positions), 1)))), 2, '0'), ''), 'hex'), '') FROM unnest(lexemes)
$$;
ALTER TABLE knowledge_chunks ADD COLUMN terms bytea NOT NULL GENERATED ALWAYS AS (knowledge_terms(lexemes)) STORED;
ALTER TABLE knowledge_chunks ALTER COLUMN terms SET STORAGE MAIN;

-- The transaction that last changed which passages of a document are found, or by whom. Transactions end in another order than
-- they begin: whoever follows asks from the oldest on that was still under way when they last asked.
ALTER TABLE knowledge_documents ADD COLUMN changed_in bigint NOT NULL DEFAULT 0;
CREATE INDEX knowledge_documents_changed ON knowledge_documents (knowledge_base_id, changed_in);
CREATE FUNCTION note_knowledge_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.changed_in := pg_current_xact_id()::text::bigint;
  RETURN NEW;
END $$;
CREATE TRIGGER knowledge_document_changes BEFORE INSERT OR UPDATE OF principals, processed_at ON knowledge_documents
  FOR EACH ROW EXECUTE FUNCTION note_knowledge_change();
