-- Blocks say where headers are as well. Those described before do not: their zones may all hold any header, until they
-- are described again, which happens when nothing else is left to describe.
ALTER TABLE audit_blocks ADD COLUMN headers boolean NOT NULL DEFAULT false;
CREATE INDEX audit_blocks_without_headers ON audit_blocks (from_id) WHERE NOT headers;

-- Entries stay in their row as long as a page has room for them: one that stands out of line takes three times as long to look at.
ALTER TABLE audit_block_values SET (toast_tuple_target = 8160);
